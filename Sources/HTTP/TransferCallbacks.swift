import CCurl

/// What libcurl calls during a transfer, always on the client's thread and only while the handle is in the multi handle,
/// that is while `TransferSet` holds the transfer: so the pointer is alive and nobody else touches the object.
enum TransferCallbacks {
  static func install(for transfer: Transfer) {
    let easy = transfer.easy
    let context = Unmanaged.passUnretained(transfer).toOpaque()
    _ = tc_curl_set_data_callback(easy, CURLOPT_READFUNCTION, readBody)
    _ = tc_curl_set_pointer(easy, CURLOPT_READDATA, context)
    // Without it neither a redirect nor a dead kept connection could have the body sent again.
    _ = tc_curl_set_seek_callback(easy, seekBody)
    _ = tc_curl_set_pointer(easy, CURLOPT_SEEKDATA, context)
    _ = tc_curl_set_data_callback(easy, CURLOPT_HEADERFUNCTION, takeHeader)
    _ = tc_curl_set_pointer(easy, CURLOPT_HEADERDATA, context)
    _ = tc_curl_set_data_callback(easy, CURLOPT_WRITEFUNCTION, takeBody)
    _ = tc_curl_set_pointer(easy, CURLOPT_WRITEDATA, context)
    _ = tc_curl_set_prereq_callback(easy, noteConnected)
    _ = tc_curl_set_pointer(easy, CURLOPT_PREREQDATA, context)
  }

  private static func transfer(_ context: UnsafeMutableRawPointer) -> Transfer {
    Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
  }

  private static let readBody: curl_read_callback = { buffer, size, count, context in
    guard let buffer, let context else { return Int(CURL_READFUNC_ABORT) }
    let target = UnsafeMutableRawBufferPointer(start: buffer, count: size * count)
    switch transfer(context).readBody(into: target) {
    case nil: return Int(CURL_READFUNC_PAUSE)
    case .bytes(let count): return count
    case .failed: return Int(CURL_READFUNC_ABORT)
    }
  }

  private static let seekBody: curl_seek_callback = { context, offset, origin in
    guard let context, origin == SEEK_SET, transfer(context).seekBody(to: Int64(offset)) else {
      return CURL_SEEKFUNC_FAIL
    }
    return CURL_SEEKFUNC_OK
  }

  private static let takeHeader: curl_read_callback = { buffer, size, count, context in
    guard let buffer, let context else { return 0 }
    transfer(context).answer.takeHeaderLine(UnsafeRawBufferPointer(start: buffer, count: size * count))
    return size * count
  }

  /// Any other count than the one given ends the transfer.
  private static let takeBody: curl_read_callback = { buffer, size, count, context in
    guard let buffer, let context else { return 0 }
    let bytes = UnsafeRawBufferPointer(start: buffer, count: size * count)
    return transfer(context).takeBody(bytes) ? size * count : 0
  }

  private static let noteConnected: curl_prereq_callback = { context, _, _, remotePort, localPort in
    if let context { transfer(context).didConnect(localPort: localPort, remotePort: remotePort) }
    return CURL_PREREQFUNC_OK
  }
}
