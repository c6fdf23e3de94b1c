import TaskModel

/// Who gets the next free slot, as a value. Nearest first by urgency; within one urgency turns go round the lanes, so
/// that nine photos of one post do not hold back another lane's; `log` never takes the last free slot.
///
/// A slot may be divided: light work takes a part of one, all other work as many parts as make a whole slot, wherever
/// they are free. The order knows no weights: who is first and too heavy for what is free is waited for, and no lighter
/// one goes before, so that a film gets its turn however many pictures there are.
struct SlotQueue {
  struct Waiting: Sendable, Hashable {
    let ticket: UInt64
    let lane: LaneID
    let urgency: Urgency
    /// Leaves the last free slot to others.
    let isModest: Bool
    /// Takes a part of a slot.
    let isLight: Bool
  }

  private(set) var limit: Int
  /// Of one slot.
  private var parts: Int
  /// Who has got something. Counted as they are, and not in parts, whose size may change meanwhile.
  private var whole = 0
  private var light = 0
  private var waiting: [Waiting] = []
  /// When each lane was last served, by a counter; lanes that wait no more are forgotten.
  private var served: [LaneID: UInt64] = [:]
  private var turn: UInt64 = 0

  /// - Parameter parts: into which each slot is divided; 1 where light work takes a whole one too.
  init(limit: Int, parts: Int = 1) {
    self.limit = max(1, limit)
    self.parts = max(1, parts)
  }

  /// Slots that are out are not called back.
  mutating func setLimit(_ limit: Int, parts: Int = 1) {
    self.limit = max(1, limit)
    self.parts = max(1, parts)
  }

  /// Slots of which at least a part is taken, were the parts moved together.
  var used: Int { whole + (light + parts - 1) / parts }

  var waitingCount: Int { waiting.count }

  private var freeParts: Int { (limit - whole) * parts - light }

  mutating func enqueue(_ waiting: Waiting) { self.waiting.append(waiting) }

  /// - Returns: whether it was still waiting.
  mutating func withdraw(_ ticket: UInt64) -> Bool {
    guard let index = waiting.firstIndex(where: { $0.ticket == ticket }) else { return false }
    waiting.remove(at: index)
    return true
  }

  /// A slot that nobody waits for.
  mutating func tryTake() -> Bool {
    guard waiting.isEmpty, freeParts >= parts else { return false }
    whole += 1
    return true
  }

  mutating func giveBack(isLight: Bool = false) {
    if isLight { light -= 1 } else { whole -= 1 }
  }

  /// Takes the next one out and gives it a slot, or its part of one, if there is one for it.
  mutating func next() -> Waiting? {
    let free = freeParts
    guard free > 0 else { return nil }
    func cost(_ waiting: Waiting) -> Int { waiting.isLight ? 1 : parts }
    var first: (index: Int, rank: (Int, UInt64))?
    // Hundreds may wait: the lane of each is looked up once.
    for (index, each) in waiting.enumerated() where !each.isModest || free >= cost(each) + parts || limit == 1 {
      let rank = (each.urgency.rank, served[each.lane] ?? 0)
      if first.map({ rank < $0.rank }) ?? true { first = (index, rank) }
    }
    guard let index = first?.index, cost(waiting[index]) <= free else { return nil }
    let chosen = waiting.remove(at: index)
    if chosen.isLight { light += 1 } else { whole += 1 }
    turn += 1
    served[chosen.lane] = turn
    if served.count > 2 * (waiting.count + limit) {
      let lanes = Set(waiting.map(\.lane))
      served = served.filter { lanes.contains($0.key) }
    }
    return chosen
  }
}
