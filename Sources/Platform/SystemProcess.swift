import Glibc

/// This process.
public enum SystemProcess {
  public static let id = Int(getpid())
}
