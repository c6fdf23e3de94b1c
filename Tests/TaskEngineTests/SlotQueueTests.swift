import TaskModel
import Testing

@testable import TaskEngine

@Suite("Who gets the next slot")
struct SlotQueueTests {
  private func waiting(
    _ ticket: UInt64, lane: String = "a", urgency: Urgency = .normal, isModest: Bool = false, isLight: Bool = false
  ) -> SlotQueue.Waiting {
    SlotQueue.Waiting(
      ticket: ticket, lane: LaneID(account: "me", name: lane), urgency: urgency, isModest: isModest, isLight: isLight)
  }

  private func queue(_ limit: Int, parts: Int = 2, _ waiting: SlotQueue.Waiting...) -> SlotQueue {
    var queue = SlotQueue(limit: limit, parts: parts)
    for one in waiting { queue.enqueue(one) }
    return queue
  }

  /// Tickets in the order in which they get in, until nobody else fits.
  private func admitted(_ queue: inout SlotQueue) -> [UInt64] {
    var tickets: [UInt64] = []
    while let next = queue.next() { tickets.append(next.ticket) }
    return tickets
  }

  @Test("two pictures share a slot, and a third one waits")
  func halves() {
    var queue = queue(1, waiting(1, isLight: true), waiting(2, isLight: true), waiting(3, isLight: true))
    #expect(admitted(&queue) == [1, 2])
    #expect(queue.used == 1)
    queue.giveBack(isLight: true)
    #expect(admitted(&queue) == [3])
  }

  @Test("an undivided slot takes one picture at a time")
  func undivided() {
    var queue = queue(1, parts: 1, waiting(1, isLight: true), waiting(2, isLight: true))
    #expect(admitted(&queue) == [1])
  }

  @Test("a film has its slot for itself")
  func whole() {
    var queue = queue(1, waiting(1), waiting(2, isLight: true))
    #expect(admitted(&queue) == [1])
    queue.giveBack()
    #expect(admitted(&queue) == [2])
  }

  @Test("a film whose turn has come is waited for: no picture that would fit goes before it")
  func noStarving() {
    var queue = queue(1, waiting(1, isLight: true), waiting(2, lane: "b"), waiting(3, isLight: true))
    #expect(admitted(&queue) == [1])
    for ticket in UInt64(4)..<20 { queue.enqueue(waiting(ticket, isLight: true)) }
    #expect(admitted(&queue) == [])
    queue.giveBack(isLight: true)
    #expect(admitted(&queue) == [2])
  }

  @Test("pictures of a more urgent task go before the film that waits")
  func urgency() {
    var queue = queue(1, waiting(1, isLight: true), waiting(2))
    #expect(admitted(&queue) == [1])
    queue.enqueue(waiting(3, urgency: .interactive, isLight: true))
    #expect(admitted(&queue) == [3])
  }

  @Test("when the film that was waited for is canceled, the pictures behind it go")
  func withdrawal() {
    var queue = queue(1, waiting(1, isLight: true), waiting(2, lane: "b"), waiting(3, isLight: true))
    #expect(admitted(&queue) == [1])
    let wasThere = queue.withdraw(2)
    #expect(wasThere)
    #expect(admitted(&queue) == [3])
  }

  @Test("turns go round the lanes, whatever they weigh")
  func fairness() {
    var queue = queue(
      1, waiting(1, isLight: true), waiting(2, isLight: true), waiting(3, isLight: true), waiting(4, lane: "b"),
      waiting(5, lane: "c", isLight: true))
    #expect(admitted(&queue) == [1])
    queue.giveBack(isLight: true)
    #expect(admitted(&queue) == [4])
    queue.giveBack()
    #expect(admitted(&queue) == [5, 2])
  }

  @Test("a log leaves a whole slot to others, and takes its turn where there is but one")
  func modesty() {
    var two = queue(2, waiting(1, isLight: true), waiting(2, isModest: true), waiting(3, isLight: true))
    #expect(admitted(&two) == [1, 3])
    two.giveBack(isLight: true)
    #expect(admitted(&two) == [], "a slot and a half are free, and with it only a half would be")
    two.giveBack(isLight: true)
    #expect(admitted(&two) == [2])
    var one = queue(1, waiting(1, isModest: true), waiting(2, isLight: true))
    #expect(admitted(&one) == [1])
  }

  @Test("halves of two slots make a whole one")
  func moved() {
    var queue = queue(2, waiting(1, isLight: true), waiting(2, isLight: true), waiting(3, isLight: true))
    #expect(admitted(&queue) == [1, 2, 3])
    #expect(queue.used == 2)
    queue.giveBack(isLight: true)
    #expect(queue.used == 1)
    let (first, second) = (queue.tryTake(), queue.tryTake())
    #expect(first && !second)
    #expect(queue.used == 2)
  }

  @Test("another division counts for who comes next, and confuses none who is in")
  func reload() {
    var queue = queue(1, waiting(1, isLight: true), waiting(2, isLight: true), waiting(3, isLight: true))
    #expect(admitted(&queue) == [1, 2])
    queue.setLimit(1, parts: 1)
    queue.giveBack(isLight: true)
    #expect(admitted(&queue) == [])
    queue.giveBack(isLight: true)
    #expect(admitted(&queue) == [3])
    queue.giveBack(isLight: true)
    #expect(queue.used == 0)
  }
}
