public import JSON

extension ExportOrder {
  private enum JobName: String, CaseIterable {
    case image, video, audio, archive, probe, poster, thumbnail
  }

  public var json: JSONValue {
    var object = JSONObject([("id", .int(id)), ("name", .string(name)), ("output", .string(output))])
    switch job {
    case .image(let image):
      object["job"] = .string(JobName.image.rawValue)
      object["longEdge"] = .int(image.longEdge)
      object["quality"] = .int(image.quality)
      object["cropSquare"] = .bool(image.cropSquare)
      object["format"] = .string(image.format.rawValue)
    case .video(let video):
      object["job"] = .string(JobName.video.rawValue)
      object["longSide"] = .int(video.longSide)
      object["shortSide"] = .int(video.shortSide)
      object["crf"] = .int(video.crf)
      object["maximumRate"] = .int(video.maximumRate)
      object["remux"] = .string(video.remux.rawValue)
      object["hardLimit"] = video.hardLimit.map(JSONValue.int)
    case .audio: object["job"] = .string(JobName.audio.rawValue)
    case .probe: object["job"] = .string(JobName.probe.rawValue)
    case .poster(let poster):
      object["job"] = .string(JobName.poster.rawValue)
      object["longEdge"] = .int(poster.longEdge)
      object["quality"] = .int(poster.quality)
    case .thumbnail(let thumbnail):
      object["job"] = .string(JobName.thumbnail.rawValue)
      object["edge"] = .int(thumbnail.edge)
      object["quality"] = .int(thumbnail.quality)
    case .archive(let entries):
      object["job"] = .string(JobName.archive.rawValue)
      object["entries"] = .array(entries.map { ["path": .string($0.path), "name": .string($0.name)] })
    }
    return .object(object)
  }

  /// - Throws: `JSONShapeError`.
  public init(_ reader: JSONReader) throws(JSONShapeError) {
    var fields = try reader.object()
    id = try fields.required("id").int(in: Int64.min...Int64.max)
    name = try fields.required("name").string()
    output = try fields.required("output").string()
    switch try fields.required("job").oneOf(JobName.self) {
    case .image:
      job = .image(
        ImageJob(
          longEdge: Int(try fields.required("longEdge").int(in: 1...65535)),
          quality: Int(try fields.required("quality").int(in: 1...100)),
          cropSquare: try fields.required("cropSquare").bool(),
          format: try fields.required("format").oneOf(ImageJob.Format.self)))
    case .poster:
      job = .poster(
        PosterJob(
          longEdge: Int(try fields.required("longEdge").int(in: 16...8192)),
          quality: Int(try fields.required("quality").int(in: 1...100))))
    case .thumbnail:
      job = .thumbnail(
        ThumbnailJob(
          edge: Int(try fields.required("edge").int(in: 16...4096)),
          quality: Int(try fields.required("quality").int(in: 1...100))))
    case .video:
      let sides: ClosedRange<Int64> = 2...8192
      job = .video(
        VideoJob(
          longSide: Int(try fields.required("longSide").int(in: sides)),
          shortSide: Int(try fields.required("shortSide").int(in: sides)),
          crf: Int(try fields.required("crf").int(in: 0...51)),
          maximumRate: try fields.required("maximumRate").int(in: 1...1_000_000_000),
          remux: try fields.required("remux").oneOf(VideoJob.Remux.self),
          hardLimit: try fields.optional("hardLimit")?.int()))
    case .audio: job = .audio
    case .probe: job = .probe
    case .archive:
      var entries: [ArchiveEntry] = []
      for element in try fields.required("entries").array() {
        var entry = try element.object()
        entries.append(
          ArchiveEntry(
            path: try entry.required("path").nonEmptyString(), name: try entry.required("name").nonEmptyString()))
        try entry.finish()
      }
      job = .archive(entries)
    }
    try fields.finish()
  }
}
