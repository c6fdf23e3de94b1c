import Testing

@testable import MediaExport

@Suite("H.264 that becomes another film on its way")
struct ParameterSetsTests {
  private static let set: [UInt8] = [0x67, 0x64, 0x00, 0x1E, 0xAC]
  private static let header: [UInt8] = [1, 0x64, 0, 0x1E, 0xFF, 0xE1, 0, 5] + set + [1, 0, 2, 0x68, 0xEE]

  private func areChanged(_ units: [UInt8]...) -> Bool? {
    let packet = units.flatMap { unit -> [UInt8] in [0, 0, 0, UInt8(unit.count)] + unit }
    return ParameterSets(header: Self.header).map { sets in packet.withUnsafeBytes { sets.areChanged(by: $0) } }
  }

  @Test("The sets of the header may come again, others may not")
  func repeated() {
    #expect(areChanged([0x65, 1, 2, 3]) == false)
    #expect(areChanged(Self.set, [0x68, 0xEE], [0x65, 1]) == false)
    #expect(areChanged(Array(Self.set.dropLast()) + [0xAD], [0x65, 1]) == true)
  }

  @Test("Nonsense is for the decoder to judge")
  func nonsense() {
    #expect(ParameterSets(header: []) == nil)
    #expect(ParameterSets(header: Array(Self.header.prefix(10))) == nil)
    #expect(ParameterSets(header: Self.header)?.areChanged(by: UnsafeRawBufferPointer(start: nil, count: 0)) == false)
    let short: [UInt8] = [0, 0, 1, 0, 0x67]
    #expect(short.withUnsafeBytes { ParameterSets(header: Self.header)?.areChanged(by: $0) } == false)
  }
}
