/// Names that nobody has had before: 128 random bits in letters and digits.
public enum RandomName {
  public static func make() -> String { word() + word() }

  private static func word() -> String { String(UInt64.random(in: .min ... .max), radix: 36) }
}
