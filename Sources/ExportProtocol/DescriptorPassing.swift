import Glibc

// The CMSG_ macros of <sys/socket.h> do not import, and they are short: a control message is a header of 16 bytes, then
// its data, padded to 8 (cmsg(3), 64-bit Linux).
private let headerSize = MemoryLayout<cmsghdr>.size
private let descriptorSize = MemoryLayout<Int32>.size

extension ExportChannel {
  /// Sends everything; the descriptor goes with the first byte.
  static func sendAll(
    _ bytes: UnsafeMutableRawBufferPointer, with descriptor: Int32?, to socket: Int32
  ) throws(ExportChannelError) {
    var sent = 0
    while sent < bytes.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[sent...])
      let count = sendOnce(rest, with: sent == 0 ? descriptor : nil, to: socket)
      if count >= 0 {
        sent += count
      } else if count != -Int(EINTR) {
        throw system("sendmsg", Int32(-count))
      }
    }
  }

  /// - Returns: bytes sent, or a negative error number.
  private static func sendOnce(
    _ bytes: UnsafeMutableRawBufferPointer, with descriptor: Int32?, to socket: Int32
  ) -> Int {
    var vector = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
    var control = [UInt64](repeating: 0, count: 3)
    return withUnsafeMutablePointer(to: &vector) { vector in
      control.withUnsafeMutableBytes { control in
        var message = msghdr()
        message.msg_iov = vector
        message.msg_iovlen = 1
        if let descriptor {
          var header = cmsghdr()
          header.cmsg_len = headerSize + descriptorSize
          header.cmsg_level = SOL_SOCKET
          header.cmsg_type = Int32(SCM_RIGHTS)
          control.storeBytes(of: header, as: cmsghdr.self)
          control.storeBytes(of: descriptor, toByteOffset: headerSize, as: Int32.self)
          message.msg_control = control.baseAddress
          message.msg_controllen = control.count
        }
        let count = sendmsg(socket, &message, Int32(MSG_NOSIGNAL))
        return count >= 0 ? count : -Int(errno)
      }
    }
  }

  /// Appends what is there, and waits for it if need be.
  /// - Returns: false at the end of the stream.
  static func receiveSome(
    into bytes: inout [UInt8], _ descriptors: inout [Int32], from socket: Int32
  ) throws(ExportChannelError) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 65536)
    var control = [UInt64](repeating: 0, count: 8)
    while true {
      var arrived: [Int32] = []
      var isCut = false
      let count = buffer.withUnsafeMutableBytes { buffer in
        control.withUnsafeMutableBytes { control in
          receiveOnce(into: buffer, control: control, descriptors: &arrived, isCut: &isCut, from: socket)
        }
      }
      descriptors.append(contentsOf: arrived)
      if isCut { throw ExportChannelError("more descriptors came than were expected") }
      if count > 0 {
        bytes.append(contentsOf: buffer[..<count])
        return true
      }
      if count == 0 || count == -Int(ECONNRESET) { return false }
      if count != -Int(EINTR) { throw system("recvmsg", Int32(-count)) }
    }
  }

  /// - Returns: bytes received, or a negative error number.
  private static func receiveOnce(
    into buffer: UnsafeMutableRawBufferPointer, control: UnsafeMutableRawBufferPointer, descriptors: inout [Int32],
    isCut: inout Bool, from socket: Int32
  ) -> Int {
    var vector = iovec(iov_base: buffer.baseAddress, iov_len: buffer.count)
    return withUnsafeMutablePointer(to: &vector) { vector in
      var message = msghdr()
      message.msg_iov = vector
      message.msg_iovlen = 1
      message.msg_control = control.baseAddress
      message.msg_controllen = control.count
      let count = recvmsg(socket, &message, Int32(MSG_CMSG_CLOEXEC))
      guard count >= 0 else { return -Int(errno) }
      isCut = message.msg_flags & Int32(MSG_CTRUNC) != 0
      var offset = 0
      while offset + headerSize <= message.msg_controllen {
        let header = control.load(fromByteOffset: offset, as: cmsghdr.self)
        guard header.cmsg_len >= headerSize, offset + header.cmsg_len <= message.msg_controllen else { break }
        if header.cmsg_level == SOL_SOCKET, header.cmsg_type == Int32(SCM_RIGHTS) {
          for index in 0..<(header.cmsg_len - headerSize) / descriptorSize {
            let place = offset + headerSize + index * descriptorSize
            descriptors.append(control.load(fromByteOffset: place, as: Int32.self))
          }
        }
        offset += (header.cmsg_len + 7) & ~7
      }
      return count
    }
  }
}
