import TaskModel
import Testing

@testable import TaskEngine

@Suite("Slots that are waited for")
struct SlotsTests {
  private func task(_ id: String) -> SendTask {
    SendTask(
      id: id, account: "me", kind: .message, lane: id, destination: "d", state: .exporting, urgency: .normal,
      resources: [], createdAt: 0)
  }

  @Test("a canceled film lets the pictures go that stood behind it", .timeLimit(.minutes(10)))
  func cancel() async throws {
    let slots = Slots(limit: 1, parts: 2)
    try await slots.withSlot(for: task("first"), isLight: true) {
      let film = Task { try await slots.withSlot(for: task("film")) {} }
      await slots.waiting(for: 1)
      let second = Task { try await slots.withSlot(for: task("second"), isLight: true) {} }
      await slots.waiting(for: 2)
      film.cancel()
      await #expect(throws: CancellationError.self) { try await film.value }
      try await second.value
    }
    #expect(slots.usage.used == 0)
  }
}

extension Slots {
  fileprivate func waiting(for count: Int) async { while waitingCount < count { await Task.yield() } }
}
