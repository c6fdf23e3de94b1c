import TaskModel

/// Who gets the next free slot, as a value. Nearest first by urgency; within one urgency turns go round the lanes, so
/// that nine photos of one post do not hold back another lane's; `log` never takes the last free slot.
struct SlotQueue {
  struct Waiting: Sendable, Hashable {
    let ticket: UInt64
    let lane: LaneID
    let urgency: Urgency
    /// Leaves the last free slot to others.
    let isModest: Bool
  }

  private(set) var limit: Int
  private(set) var used = 0
  private var waiting: [Waiting] = []
  /// When each lane was last served, by a counter; lanes that wait no more are forgotten.
  private var served: [LaneID: UInt64] = [:]
  private var turn: UInt64 = 0

  init(limit: Int) { self.limit = max(1, limit) }

  /// Slots that are out are not called back.
  mutating func setLimit(_ limit: Int) { self.limit = max(1, limit) }

  mutating func enqueue(_ waiting: Waiting) { self.waiting.append(waiting) }

  /// - Returns: whether it was still waiting.
  mutating func withdraw(_ ticket: UInt64) -> Bool {
    guard let index = waiting.firstIndex(where: { $0.ticket == ticket }) else { return false }
    waiting.remove(at: index)
    return true
  }

  /// A slot that nobody waits for.
  mutating func tryTake() -> Bool {
    guard waiting.isEmpty, used < limit else { return false }
    used += 1
    return true
  }

  mutating func giveBack() { used -= 1 }

  /// Takes the next one out and gives it a slot, if there is one for it.
  mutating func next() -> Waiting? {
    let free = limit - used
    guard free > 0 else { return nil }
    let candidates = waiting.indices.filter { !waiting[$0].isModest || free > 1 || limit == 1 }
    guard let index = candidates.min(by: { precedes($0, $1) }) else { return nil }
    let chosen = waiting.remove(at: index)
    used += 1
    turn += 1
    served[chosen.lane] = turn
    if served.count > 2 * (waiting.count + limit) {
      let lanes = Set(waiting.map(\.lane))
      served = served.filter { lanes.contains($0.key) }
    }
    return chosen
  }

  private func precedes(_ left: Int, _ right: Int) -> Bool {
    let (a, b) = (waiting[left], waiting[right])
    if a.urgency.rank != b.urgency.rank { return a.urgency.rank < b.urgency.rank }
    let (servedA, servedB) = (served[a.lane] ?? 0, served[b.lane] ?? 0)
    if servedA != servedB { return servedA < servedB }
    return left < right
  }
}
