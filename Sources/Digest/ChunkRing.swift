import Dispatch

/// A few buffers that go round between one thread that fills them and one that reads them.
///
/// Sendable because each counter belongs to one side (`filled` and `holdsFree` to the filler, `taken` to the
/// taker), and a buffer's
/// bytes and count are passed on by the semaphores, which order what happened before a signal before what follows its
/// wait. The filler may still read its latest buffer after it handed it over; it writes into it only a full round later.
final class ChunkRing: @unchecked Sendable {
  private let storage: UnsafeMutableRawBufferPointer
  private let chunkSize: Int
  private let counts: UnsafeMutableBufferPointer<Int>
  private var holdsFree = false
  private var filled = 0
  private var taken = 0
  private let free: DispatchSemaphore
  private let full = DispatchSemaphore(value: 0)

  init(slots: Int, chunkSize: Int) {
    storage = .allocate(byteCount: slots * chunkSize, alignment: 64)
    self.chunkSize = chunkSize
    counts = .allocate(capacity: slots)
    counts.initialize(repeating: 0)
    // Made from zero: a semaphore must not be freed below the value it was made with.
    free = DispatchSemaphore(value: 0)
    for _ in 0..<slots { free.signal() }
  }

  deinit {
    storage.deallocate()
    counts.deallocate()
  }

  private func slot(_ number: Int) -> UnsafeMutableRawBufferPointer {
    let start = number % counts.count * chunkSize
    return UnsafeMutableRawBufferPointer(rebasing: storage[start..<start + chunkSize])
  }

  // MARK: - The filler

  func nextFree() -> UnsafeMutableRawBufferPointer {
    free.wait()
    holdsFree = true
    return slot(filled)
  }

  func hand(_ count: Int) {
    counts[filled % counts.count] = count
    filled += 1
    holdsFree = false
    full.signal()
  }

  /// A count of 0 is the end.
  func end() {
    if !holdsFree { free.wait() }
    hand(0)
  }

  // MARK: - The taker

  /// nil at the end. Give each chunk back before taking the next.
  func take() -> UnsafeRawBufferPointer? {
    full.wait()
    let count = counts[taken % counts.count]
    guard count > 0 else { return nil }
    return UnsafeRawBufferPointer(rebasing: slot(taken)[..<count])
  }

  func giveBack() {
    taken += 1
    free.signal()
  }
}
