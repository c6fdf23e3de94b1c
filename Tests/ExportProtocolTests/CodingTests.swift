import ExportProtocol
import Glibc
import JSON
import TaskModel
import Testing

@Suite("Orders and reports as JSON")
struct CodingTests {
  static let orders: [ExportOrder] = [
    ExportOrder(
      id: 1, job: .image(ImageJob(longEdge: 640, quality: 82, cropSquare: true)), name: "Ёлка.jpg", output: "/a/1.part"),
    ExportOrder(
      id: .max, job: .video(VideoJob(.ladder(limit: 1 << 20, hardLimit: 1 << 40))), name: "a\n\"b",
      output: "/a/2.part"),
    ExportOrder(
      id: -1,
      job: .video(
        VideoJob(.box(VideoBox(longSide: 1280, shortSide: 720, maximumRate: 1000, remux: .ifClean)), crf: 30)),
      name: "", output: "/a/3.part"),
    ExportOrder(
      id: 3, job: .video(VideoJob(.ladder(limit: 1, hardLimit: 1))), name: "x", output: "", plansOnly: true),
    ExportOrder(id: 7, job: .image(ImageJob(longEdge: 2048, format: .heic)), name: "x", output: "/a/7.part"),
    ExportOrder(id: 8, job: .poster(PosterJob(longEdge: 1000, quality: 70)), name: "x", output: "/a/8.part"),
    ExportOrder(id: 9, job: .thumbnail(ThumbnailJob(edge: 100, quality: 60)), name: "x", output: "/a/9.part"),
    ExportOrder(id: 4, job: .audio, name: "x", output: "/a/4.part"),
    ExportOrder(id: 5, job: .probe, name: "x", output: ""),
    ExportOrder(
      id: 6, job: .archive([ArchiveEntry(path: "/var/log/a", name: "a"), ArchiveEntry(path: "/b", name: "b")]),
      name: "logs", output: "/a/6.part"),
  ]

  static let reports: [ExportReport] = [
    .progress(id: 1, fraction: 0.5),
    .done(
      id: 2,
      ExportResult(
        mime: "video/mp4", size: 1 << 40, width: 960, height: 540, durationMs: 1234, rung: "960x540", encodes: 3)),
    .done(id: 3, ExportResult(mime: "application/zip", size: 0, rung: "zip")),
    .done(id: 7, ExportResult(mime: "image/jpeg", size: 1, width: 1, height: 1, rung: "pass", blurhash: "L~\\\"{}")),
    .failed(id: 4, Failure(.damaged, "“x” is damaged", remedy: .needsUser)),
    .probed(id: 5, MediaFacts(kind: .image, mime: "image/heic", width: 1, height: 2)),
    .probed(id: 6, MediaFacts(kind: .other, mime: "application/octet-stream")),
    .planned(id: 7, PlannedExport(.zip, reason: "Packed.")),
    .planned(
      id: 8, PlannedExport(.encode, rung: "960x540", width: 960, height: 540, estimatedBytes: 1 << 40, reason: "Ёлка.")),
  ]

  @Test("An order comes back as it was", arguments: orders)
  func orderRoundTrip(order: ExportOrder) throws {
    #expect(try ExportOrder(JSONReader(JSONParser.parse(JSONWriter.text(order.json)))) == order)
  }

  @Test("A report comes back as it was", arguments: reports)
  func reportRoundTrip(report: ExportReport) throws {
    let text = JSONWriter.text(report.json)
    #expect(try ExportReport(JSONReader(JSONParser.parse(text))) == report)
    #expect(!text.contains("null"))
  }

  @Test(
    "What makes no sense is refused at its place",
    arguments: [
      (#"{"id":1,"name":"x","output":"/o","job":"dance"}"#, "/job"),
      (#"{"id":1,"name":"x","output":"/o","job":"audio","extra":1}"#, "/extra"),
      (#"{"id":1,"name":"x","output":"/o","job":"image","longEdge":0,"quality":82,"cropSquare":false}"#, "/longEdge"),
      (#"{"id":1,"name":"x","output":"/o","job":"archive","entries":[{"path":"","name":"a"}]}"#, "/entries/0/path"),
      (#"{"id":1,"output":"/o","job":"audio"}"#, "/name"),
      (#"{"id":1,"name":"x","output":"/o","job":"video","crf":23,"goal":{"type":"moon"}}"#, "/goal/type"),
      (
        #"{"id":1,"name":"x","output":"/o","job":"video","crf":23,"goal":{"type":"ladder","limit":9}}"#,
        "/goal/hardLimit"
      ),
      (
        #"{"id":1,"name":"x","output":"/o","job":"video","crf":23,"goal":{"type":"ladder","limit":9,"hardLimit":8}}"#,
        "/goal/hardLimit"
      ),
      (
        #"{"id":1,"name":"x","output":"/o","job":"video","crf":23,"goal":{"type":"ladder","limit":9,"hardLimit":9,"a":1}}"#,
        "/goal/a"
      ),
      (#"{"id":1,"name":"x","output":"/o","job":"audio","plansOnly":1}"#, "/plansOnly"),
      (
        #"{"id":1,"name":"x","output":"/o","job":"image","longEdge":9,"quality":82,"cropSquare":false,"format":"bmp"}"#,
        "/format"
      ),
      (#"{"id":1,"name":"x","output":"/o","job":"poster","longEdge":1,"quality":82}"#, "/longEdge"),
      (#"{"id":1,"name":"x","output":"/o","job":"thumbnail","edge":320,"quality":0}"#, "/quality"),
    ])
  func badOrders(text: String, pointer: String) throws {
    let value = try JSONParser.parse(text)
    let error = #expect(throws: JSONShapeError.self) { try ExportOrder(JSONReader(value)) }
    #expect(error?.pointer == pointer)
  }

  @Test("A fraction outside of 0 to 1 is refused", arguments: ["-0.1", "1.1", "\"1\""])
  func badFraction(fraction: String) throws {
    let value = try JSONParser.parse(#"{"id":1,"report":"progress","fraction":\#(fraction)}"#)
    #expect(throws: JSONShapeError.self) { try ExportReport(JSONReader(value)) }
  }

  @Test("A full disk is for the user to mend, anything else is tried again")
  func writingFailures() {
    #expect(Failure.writing(ENOSPC).code == .diskFull)
    #expect(Failure.writing(ENOSPC).remedy == .needsUser)
    #expect(Failure.writing(EIO).remedy == .retry)
  }
}
