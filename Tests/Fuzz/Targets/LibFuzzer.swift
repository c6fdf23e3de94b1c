import Glibc

/// What libFuzzer calls, in programs that are linked with it (`make fuzz`); $FUZZ_TARGET names the case.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  chosen.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
  return 0
}

private let chosen: FuzzTarget = {
  guard let name = getenv("FUZZ_TARGET"), let target = FuzzTarget(rawValue: String(cString: name)) else {
    fatalError("FUZZ_TARGET names none of \(FuzzTarget.allCases)")
  }
  return target
}()
