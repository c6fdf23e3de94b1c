import Testing

@testable import MediaExport

@Suite("Progress of an export")
struct ProgressMeterTests {
  @Test("it is told at most ten times a second, never falls, and never says that all is done")
  func thinned() {
    var time: Int64 = 0
    var told: [(time: Int64, fraction: Double)] = []
    let meter = ProgressMeter(now: { time }) { told.append((time, $0)) }
    // A packet each 7 ms for 10 s, with time stamps that go back now and then, as those of B frames do.
    for packet in 0..<1430 {
      time = Int64(packet) * 7
      meter.update(Double(packet) / 1000 - (packet % 5 == 0 ? 0.2 : 0))
    }
    #expect(told.count > 50)
    #expect(zip(told, told.dropFirst()).allSatisfy { $1.time - $0.time >= 100 && $1.fraction > $0.fraction })
    #expect(told.last?.fraction == 0.98)
  }

  @Test("what is no number, or no progress, is not told")
  func nonsense() {
    var told: [Double] = []
    let meter = ProgressMeter(now: { 0 }) { told.append($0) }
    for fraction: Double in [.nan, -Double.infinity, .infinity, -1, 0] { meter.update(fraction) }
    #expect(told.isEmpty)
  }
}
