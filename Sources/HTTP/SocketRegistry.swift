import CCurl
import Glibc

/// The sockets that libcurl has open, so that a transfer can look at the send queue of its own. libcurl tells a socket
/// only when it is made and, by CURLINFO_ACTIVESOCKET, after the end; a transfer on a kept connection is told no more than
/// its ports, by which the socket is found here. Lives on the client's thread alone, longer than the multi handle.
final class SocketRegistry {
  private var sockets: Set<curl_socket_t> = []

  /// The registry must outlive every connection of `easy`, also those that are kept.
  func install(on easy: UnsafeMutableRawPointer) {
    let context = Unmanaged.passUnretained(self).toOpaque()
    _ = tc_curl_set_sockopt_callback(easy) { context, socket, _ in
      if let context { SocketRegistry.at(context).sockets.insert(socket) }
      return CURL_SOCKOPT_OK
    }
    _ = tc_curl_set_pointer(easy, CURLOPT_SOCKOPTDATA, context)
    _ = tc_curl_set_close_callback(easy) { context, socket in
      if let context { SocketRegistry.at(context).sockets.remove(socket) }
      return close(socket)
    }
    _ = tc_curl_set_pointer(easy, CURLOPT_CLOSESOCKETDATA, context)
  }

  private static func at(_ context: UnsafeMutableRawPointer) -> SocketRegistry {
    Unmanaged<SocketRegistry>.fromOpaque(context).takeUnretainedValue()
  }

  func socket(localPort: Int32, remotePort: Int32) -> curl_socket_t? {
    sockets.first { Self.port($0, getsockname) == localPort && Self.port($0, getpeername) == remotePort }
  }

  private typealias NameCall = (Int32, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?) -> Int32

  private static func port(_ socket: curl_socket_t, _ call: NameCall) -> Int32? {
    var address = sockaddr_in6()
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let status = withUnsafeMutableBytes(of: &address) { bytes in
      call(socket, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
    }
    // The port of sockaddr_in lies where that of sockaddr_in6 does.
    return status == 0 ? Int32(UInt16(bigEndian: address.sin6_port)) : nil
  }

  /// Bytes that the kernel took and the peer has not acknowledged yet (SIOCOUTQ, tcp(7)).
  static func unacknowledgedBytes(_ socket: curl_socket_t) -> Int64 {
    var count: Int32 = 0
    guard ioctl(socket, UInt(TIOCOUTQ), &count) == 0 else { return 0 }
    return Int64(count)
  }
}
