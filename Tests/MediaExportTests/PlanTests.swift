import ExportProtocol
import FFmpeg
import Testing

@testable import MediaExport

@Suite("What becomes of a video, decided without decoding it")
struct PlanTests {
  @Test(
    "A picture goes inside the box, never enlarged, with even sides",
    arguments: [
      (PixelSize(1920, 1080), PixelSize(960, 540)), (PixelSize(1080, 1920), PixelSize(540, 960)),
      (PixelSize(853, 481), PixelSize(852, 480)), (PixelSize(320, 240), PixelSize(320, 240)),
      (PixelSize(2560, 720), PixelSize(960, 270)), (PixelSize(360, 1600), PixelSize(216, 960)),
      (PixelSize(1440, 1080), PixelSize(720, 540)), (PixelSize(2, 2), PixelSize(2, 2)),
      (PixelSize(1, 1), PixelSize(2, 2)), (PixelSize(8192, 2), PixelSize(960, 2)),
    ])
  func fitting(source: PixelSize, expected: PixelSize) {
    #expect(source.fitted(longSide: 960, shortSide: 540) == expected)
  }

  @Test("Every source ends inside the box, even, and no larger than it was")
  func fittingProperties() {
    for width in stride(from: 2, through: 2000, by: 37) {
      for height in stride(from: 2, through: 2000, by: 41) {
        let size = PixelSize(width, height).fitted(longSide: 640, shortSide: 480)
        #expect(size.fits(longSide: 640, shortSide: 480), "\(width)x\(height)")
        #expect(size.width % 2 == 0 && size.height % 2 == 0, "\(width)x\(height)")
        #expect(size.width <= width && size.height <= height, "\(width)x\(height)")
      }
    }
  }

  @Test(
    "The eight orientations are told apart by the matrix, mirrored ones too",
    arguments: [
      ([1, 0, 0, 1], Orientation.upright), ([0, 1, -1, 0], .clockwise90), ([-1, 0, 0, -1], .half),
      ([0, -1, 1, 0], .clockwise270), ([-1, 0, 0, 1], .mirrored), ([1, 0, 0, -1], .mirroredUpsideDown),
      ([0, 1, 1, 0], .transposed), ([0, -1, -1, 0], .antiTransposed), ([0, 0, 0, 0], .upright),
    ] as [([Int32], Orientation)])
  func orientations(cells: [Int32], expected: Orientation) {
    let fixed = cells.map { $0 * 65536 }
    #expect(Orientation(DisplayMatrix(a: fixed[0], b: fixed[1], c: fixed[2], d: fixed[3])) == expected)
  }

  private static func clean() -> (StreamInfo, StreamInfo) {
    let picture = StreamInfo.Video(
      width: 1280, height: 720, sampleAspect: Rational(1, 1), pixelFormat: "yuv420p", range: "tv", matrix: "bt709",
      primaries: "bt709", transfer: "bt709", frameRate: Rational(30, 1))
    let video = StreamInfo(index: 0, kind: .video(picture), codec: "h264", profile: "High")
    let sound = StreamInfo.Audio(sampleRate: 48_000, channels: 2)
    return (video, StreamInfo(index: 1, kind: .audio(sound), codec: "aac", profile: "LC"))
  }

  @Test("H.264 with AAC is clean, also without sound")
  func cleanSource() {
    let (video, audio) = Self.clean()
    #expect(MediaSelection([video, audio]).isClean)
    #expect(MediaSelection([video]).isClean)
  }

  static let stains: [(String, @Sendable (inout StreamInfo.Video) -> Void)] = [
    ("10 bit", { $0.pixelFormat = "yuv420p10le" }), ("4:4:4", { $0.pixelFormat = "yuv444p" }),
    ("full range", { $0.range = "pc" }), ("HDR", { $0.transfer = "arib-std-b67" }),
    ("wide gamut", { $0.primaries = "bt2020" }), ("P3", { $0.primaries = "smpte432" }),
    ("interlaced", { $0.isInterlaced = true }),
    ("turned", { $0.displayMatrix = DisplayMatrix(a: 0, b: 65536, c: -65536, d: 0) }),
    ("oblong pixels", { $0.sampleAspect = Rational(64, 45) }), ("slow motion", { $0.frameRate = Rational(240, 1) }),
  ]

  @Test("One stain makes it unclean", arguments: stains.indices)
  func unclean(index: Int) {
    let clean = Self.clean()
    var video = clean.0
    guard case .video(var picture) = video.kind else { return }
    Self.stains[index].1(&picture)
    video.kind = .video(picture)
    #expect(!MediaSelection([video, clean.1]).isClean, "\(Self.stains[index].0)")
  }

  @Test("Other codecs and more than two channels are not clean")
  func uncleanCodecs() {
    var (video, audio) = Self.clean()
    audio.kind = .audio(StreamInfo.Audio(sampleRate: 48_000, channels: 6))
    #expect(!MediaSelection([video, audio]).isClean)
    audio = Self.clean().1
    audio.profile = "HE-AAC"
    #expect(!MediaSelection([video, audio]).isClean)
    video.codec = "hevc"
    #expect(!MediaSelection([video]).isClean)
  }

  @Test("A cover is no film, and the default track goes first")
  func selection() {
    let (video, audio) = Self.clean()
    var cover = StreamInfo(
      index: 5, kind: .video(StreamInfo.Video(width: 4000, height: 4000)), codec: "mjpeg", isDefault: true)
    cover.isAttachedPicture = true
    var second = audio
    second.index = 2
    second.isDefault = true
    #expect(MediaSelection([cover, video, audio, second]).video?.index == 0)
    #expect(MediaSelection([cover, video, audio, second]).audio?.index == 2)
    #expect(MediaSelection([cover, audio]).video == nil)
  }

  @Test("The bit rate never passes the source's, and newer codecs get more for the same picture")
  func bitRate() {
    var (video, _) = Self.clean()
    func rate(_ codec: String, _ source: Int64?) -> Int64? {
      var stream = video
      stream.codec = codec
      return VideoPlan.enough(for: stream, wholeRate: source)
    }
    #expect(rate("h264", 500_000) == 500_000)
    #expect(rate("hevc", 500_000) == 800_000)
    #expect(rate("h264", 5_000) == 32_000)
    #expect(rate("h264", nil) == nil)
    video.bitRate = 400_000
    #expect(rate("h264", 500_000) == 400_000)
  }

  @Test("60 frames per second become 30, 50 become 25, and 24 stay")
  func frameRateCap() {
    func kept(of rate: Int, isActive: Bool = true) -> Int {
      var cap = FrameRateCap(isActive: isActive)
      return (0..<rate).filter { cap.keeps(Double($0) / Double(rate)) }.count
    }
    #expect(kept(of: 60) == 30)
    #expect(kept(of: 50) == 25)
    #expect(kept(of: 240) == 30)
    #expect(kept(of: 24) == 24)
    #expect(kept(of: 30) == 30)
    #expect(kept(of: 60, isActive: false) == 60)
  }

  @Test("A frame whose time does not move on is dropped")
  func frameTimes() {
    var cap = FrameRateCap(isActive: false)
    #expect([0, 0.1, 0.1, 0.05, 0.2].map { cap.keeps($0) } == [true, true, false, false, true])
  }

  @Test("Progress never falls, and leaves the end to the end")
  func progress() {
    var told: [Double] = []
    let meter = ProgressMeter { told.append($0) }
    for value in [0.5, 0.4, .nan, -1, .infinity] { meter.update(value) }
    #expect(told == [0.5])
    told = []
    ProgressMeter { told.append($0) }.update(7)
    #expect(told == [0.98])
  }

  @Test(
    "A film may end a little early, not a lot",
    arguments: [(10.0, 10.0, true), (10, 9.2, true), (10, 8.5, false), (0.3, 0.2, true), (4, 2.4, false)])
  func completeness(promised: Double, found: Double, isComplete: Bool) {
    let result = Result { try Completeness.check("x", video: (promised, found), whole: (promised, found)) }
    #expect(((try? result.get()) != nil) == isComplete)
  }
}
