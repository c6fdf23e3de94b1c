import ExportProtocol
import Testing

@testable import MediaExport

@Suite("What becomes of a picture, decided from a few facts")
struct ImagePlanTests {
  private func plan(
    _ width: Int, _ height: Int, bytes: Int64 = 1000, isClean: Bool = true, _ job: ImageJob = ImageJob(longEdge: 2048)
  ) -> ImagePlan {
    ImagePlan(ImageFacts(width: width, height: height, size: bytes, isClean: isClean), job: job)
  }

  @Test("A small clean JPEG is passed on, with its size and its bytes")
  func pass() {
    let plan = plan(640, 480, bytes: 50_000)
    #expect(plan.action == .pass && plan.reason == .smallAndClean && plan.rung == "pass")
    #expect([plan.width, plan.height] == [640, 480] && plan.estimatedBytes == 50_000)
  }

  @Test("Exactly 300 KiB and the whole long edge are still small")
  func limits() {
    #expect(plan(2048, 1000, bytes: 300 << 10).action == .pass)
    #expect(plan(2048, 1000, bytes: 300 << 10 + 1).reason == .tooManyBytes)
    #expect(plan(1000, 2049).reason == .tooManyPixels)
    #expect(plan(100, 100, isClean: false).reason == .notClean)
    #expect(plan(100, 100, ImageJob(longEdge: 640, cropSquare: true)).reason == .cropped)
  }

  @Test("Only a source that keeps its pixels may replace what was encoded")
  func sourceWillDo() {
    #expect(plan(2048, 1000, bytes: 1 << 20).sourceWillDo)
    #expect(!plan(2049, 1000, bytes: 1 << 20).sourceWillDo)
    #expect(!plan(100, 100, isClean: false).sourceWillDo)
    #expect(!plan(100, 100, ImageJob(longEdge: 640, cropSquare: true)).sourceWillDo)
  }

  @Test("The long edge shrinks, the short one follows, and nothing grows")
  func size() {
    #expect([plan(4032, 3024).width, plan(4032, 3024).height] == [2048, 1536])
    #expect([plan(3024, 4032).width, plan(3024, 4032).height] == [1536, 2048])
    #expect([plan(100, 50).width, plan(100, 50).height] == [100, 50])
    #expect([plan(100_000, 2).width, plan(100_000, 2).height] == [2048, 1])
    let avatar = plan(900, 300, ImageJob(longEdge: 640, cropSquare: true))
    #expect([avatar.width, avatar.height] == [300, 300])
  }

  @Test("A long screenshot keeps its pixels up to 6 megapixels, and is passed on where it is small")
  func long() {
    #expect([plan(720, 8000).width, plan(720, 8000).height] == [720, 8000])
    #expect(plan(720, 8000).action == .pass)
    #expect(plan(1000, 8000).height == 2048)
    #expect(plan(1000, 3000).height == 2048)
  }
}
