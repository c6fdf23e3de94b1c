import TaskModel
import Testing

@Suite("Backoff")
struct BackoffTests {
  let backoff = Backoff(baseMs: 2_000, capMs: 300_000)

  @Test(
    "the delay doubles up to the cap",
    arguments: [(1, 2_000), (2, 4_000), (3, 8_000), (7, 128_000), (8, 256_000), (9, 300_000), (1_000_000, 300_000)]
      as [(Int, Int64)])
  func table(_ failed: Int, _ delay: Int64) {
    #expect(backoff.delayMs(afterFailedAttempts: failed, jitter: 1) == delay)
  }

  @Test("jitter keeps every delay between half and the whole of its nominal value")
  func jitter() {
    var random = SystemRandomNumberGenerator()
    for failed in 1...20 {
      let nominal = backoff.delayMs(afterFailedAttempts: failed, jitter: 1)
      let drawn = backoff.delayMs(
        afterFailedAttempts: failed, jitter: Double.random(in: Backoff.jitterRange, using: &random))
      #expect((nominal / 2...nominal).contains(drawn))
    }
  }
}
