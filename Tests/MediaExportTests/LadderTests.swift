import ExportProtocol
import Testing

@testable import MediaExport

@Suite("The ladder: from a limit and a length to a size and a rate")
struct LadderTests {
  private static let hd = PixelSize(1920, 1080)

  /// A plan whose limit leaves `rate` bits per second for everything.
  private func plan(
    _ size: PixelSize = hd, rate: Double, seconds: Double = 60, channels: Int = 2, sourceRate: Int64? = nil,
    hardLimit: Int64 = .max
  ) -> LadderPlan {
    LadderPlan(
      size: size, seconds: seconds, channels: channels, sourceRate: sourceRate, limit: Int64(rate * seconds / 8),
      hardLimit: hardLimit)
  }

  private func twice(_ names: String...) -> [String] { names.flatMap { [$0, $0] } }

  @Test(
    "Each rate has its rung, from the top to the bottom",
    arguments: [
      (4_000_000, "1280x720", PixelSize(1280, 720), 128_000), (1_150_000, "1280x720", PixelSize(1280, 720), 128_000),
      (1_000_000, "960x540", PixelSize(960, 540), 128_000), (640_000, "960x540", PixelSize(960, 540), 128_000),
      (620_000, "960x540", PixelSize(960, 540), 128_000), (570_000, "640x480", PixelSize(640, 360), 96_000),
      (400_000, "568x360", PixelSize(568, 320), 64_000), (250_000, "426x240", PixelSize(426, 240), 48_000),
      (150_000, "426x240", PixelSize(426, 240), 32_000),
    ] as [(Double, String, PixelSize, Int64)])
  func rungs(rate: Double, rung: String, size: PixelSize, audio: Int64) throws {
    let first = try #require(plan(rate: rate).steps.first)
    #expect([first.rung, "\(first.size)", "\(first.audioRate)"] == [rung, "\(size)", "\(audio)"])
  }

  @Test("Whatever the limit, the length and the size: ceiling, full buffer, sound and tables fit into it")
  func budget() throws {
    for seconds in [0.04, 0.5, 1, 3, 7.3, 19.99, 20.01, 60, 3_599, 20_000] {
      for rate in stride(from: 110_000.0, through: 6_000_000, by: 61_000) {
        for channels in 0...2 {
          let limit = Int64(rate * seconds / 8)
          for step in plan(rate: rate, seconds: seconds, channels: channels).steps where step.byteLimit == limit {
            let steady = Double(step.videoRate + step.audioRate + 2_500) * seconds
            let bits = steady + 0.9 * Double(step.bufferSize)
            let room = Double(limit) * 8 * 0.97 + 8
            #expect(bits <= room, "\(seconds) s, \(rate) b/s: \(step)")
          }
        }
      }
    }
  }

  @Test("More room never means a smaller picture, nor fewer bits at the same size")
  func monotony() throws {
    var last: LadderPlan.Step?
    for rate in stride(from: 100_000.0, through: 6_000_000, by: 9_000) {
      let step = try #require(plan(rate: rate).steps.first)
      if let last {
        #expect(step.size.width >= last.size.width)
        // Together, as the sound takes its share back where there is more of everything.
        let (bits, lastBits) = (step.videoRate + step.audioRate, last.videoRate + last.audioRate)
        #expect(step.size != last.size || bits >= lastBits)
      }
      last = step
    }
  }

  @Test("Without sound the picture has it all, and one channel takes half of two")
  func sound() throws {
    let silent = try #require(plan(rate: 1_000_000, channels: 0).steps.first)
    #expect(silent.audioRate == 0)
    #expect(silent.rung == "1280x720")
    #expect(try #require(plan(rate: 1_000_000, channels: 1).steps.first).audioRate == 64_000)
    #expect(try #require(plan(rate: 2_000_000, channels: 6).steps.first).audioRate == 128_000)
    #expect(try #require(plan(rate: 250_000, channels: 1).steps.first).audioRate == 48_000)
  }

  @Test(
    "No rung gets more than is seen at its size, nor more than the source has",
    arguments: [(nil, 2_500_000), (700_000, 700_000), (9_000_000, 2_500_000)] as [(Int64?, Int64)])
  func ceilings(sourceRate: Int64?, expected: Int64) throws {
    let step = try #require(plan(rate: 50_000_000, seconds: 10, sourceRate: sourceRate).steps.first)
    #expect(step.videoRate == expected)
    // Nothing has to be saved then, so the buffer is the usual second.
    #expect(step.bufferSize == expected)
  }

  @Test("In a short film the buffer is a small part of it, as it comes on top of the rate")
  func shortFilm() throws {
    let step = try #require(plan(rate: 1_500_000, seconds: 3).steps.first)
    let share = Double(step.bufferSize) / Double(step.videoRate)
    #expect(abs(share - 0.15) < 0.001)
    let long = try #require(plan(rate: 1_500_000, seconds: 300).steps.first)
    let longShare = Double(long.bufferSize) / Double(long.videoRate)
    #expect(abs(longShare - 1) < 0.001)
  }

  @Test("Every size is tried twice, the second time with less; the last time may go up to the hard limit")
  func order() {
    let steps = plan(rate: 1_600_000, hardLimit: 99_000_000).steps
    #expect(steps.map(\.rung) == twice("1280x720", "960x540", "640x480", "568x360", "426x240"))
    #expect(steps.dropLast().allSatisfy { $0.byteLimit == 12_000_000 })
    #expect(steps.last?.byteLimit == 99_000_000)
    for pair in stride(from: 0, to: steps.count, by: 2) {
      let share = Double(steps[pair + 1].videoRate) / Double(steps[pair].videoRate)
      #expect(abs(share - 0.93) < 0.001)
    }
  }

  @Test("A rung that makes a film no smaller is left out, but its lower demands count")
  func sameSizes() throws {
    let small = PixelSize(640, 360)
    #expect(plan(small, rate: 2_000_000).steps.map(\.rung) == twice("1280x720", "568x360", "426x240"))
    let tight = try #require(plan(small, rate: 600_000).steps.first)
    #expect(tight.size == small && tight.rung == "1280x720")
    let tiny = plan(PixelSize(320, 240), rate: 2_000_000).steps
    #expect(tiny.map(\.size) == [PixelSize(320, 240), PixelSize(320, 240)])
  }

  @Test("Portrait films turn the rungs, and odd sides become even")
  func shapes() throws {
    #expect(plan(PixelSize(1080, 1920), rate: 1_600_000).steps.first?.size == PixelSize(720, 1280))
    #expect(plan(PixelSize(853, 481), rate: 1_600_000).steps.first?.size == PixelSize(852, 480))
    #expect(plan(PixelSize(1, 1), rate: 1_600_000).steps.first?.size == PixelSize(2, 2))
  }

  @Test("What can't fit into the limit goes out in the last rung, no larger than it has to be")
  func hardLimit() throws {
    let steps = plan(rate: 80_000, hardLimit: 10_000_000).steps
    #expect(steps.map(\.rung) == ["426x240"])
    #expect(steps.first?.videoRate == 60_000)
    #expect(steps.first?.byteLimit == 10_000_000)
  }

  @Test(
    "What can't even fit into the hard limit is not tried",
    arguments: [(90_000.0, false), (105_000, true), (110_000, true)])
  func tooLong(hardRate: Double, goes: Bool) {
    #expect(plan(rate: 50_000, hardLimit: Int64(hardRate * 60 / 8)).steps.isEmpty == !goes)
  }

  @Test("A film that needs less than the least goes out in what it needs")
  func modestFilm() throws {
    let steps = plan(rate: 80_000, channels: 1, sourceRate: 35_000).steps
    #expect(steps.first?.videoRate == 35_000)
    #expect(plan(rate: 40_000, sourceRate: 35_000, hardLimit: 300_000).steps.isEmpty)
  }
}
