import CCurl

/// How every transfer is set up. libcurl 7.88 is the oldest version this was tried with.
enum EasyOptions {
  static func apply(_ settings: HTTPClient.Settings, _ request: HTTPRequest, to easy: UnsafeMutableRawPointer) {
    // Signals belong to the process; time-outs of the resolver come from its thread.
    set(easy, CURLOPT_NOSIGNAL, 1)
    // Or a cancel would wait on the client's thread until a dead name server has timed out.
    set(easy, CURLOPT_QUICK_EXIT, 1)
    set(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
    _ = tc_curl_set_string(easy, CURLOPT_PROTOCOLS_STR, "http,https")
    // Redirects are followed by ourselves: only 307 and 308, and without secrets to other hosts.
    set(easy, CURLOPT_FOLLOWLOCATION, 0)
    // A presigned path is signed as it stands.
    set(easy, CURLOPT_PATH_AS_IS, 1)
    set(easy, CURLOPT_CONNECTTIMEOUT_MS, Int(clamping: request.connectTimeoutMs))
    set(easy, CURLOPT_TCP_KEEPALIVE, 1)
    _ = tc_curl_set_string(easy, CURLOPT_USERAGENT, "taskcenter")
    if let caFile = settings.caFile {
      _ = tc_curl_set_string(easy, CURLOPT_CAINFO, caFile)
      _ = tc_curl_set_string(easy, CURLOPT_CAPATH, nil)
    }
    // Asked or not, somebody on the way may compress. A sink gets the bytes as they come, and judges their head itself.
    if request.sink == nil { _ = tc_curl_set_string(easy, CURLOPT_ACCEPT_ENCODING, "gzip, deflate") }
    setBody(request, on: easy)
  }

  /// Every body goes the same way, streamed with a known length, whatever the method.
  private static func setBody(_ request: HTTPRequest, on easy: UnsafeMutableRawPointer) {
    let sendsBody: Bool
    switch (request.body, request.method) {
    case (.none, "POST"), (.none, "PUT"), (.none, "PATCH"): sendsBody = true  // with Content-Length: 0
    case (.none, _): sendsBody = false
    case (.data, _), (.file, _), (.framed, _): sendsBody = true
    }
    if sendsBody {
      set(easy, CURLOPT_UPLOAD, 1)
      _ = tc_curl_set_offset(easy, CURLOPT_INFILESIZE_LARGE, curl_off_t(request.body.count))
      // Measured best for large bodies; a small one needs no such buffer.
      set(easy, CURLOPT_UPLOAD_BUFFERSIZE, request.body.count > 65_536 ? 512 << 10 : 16 << 10)
    } else if request.method == "HEAD" {
      set(easy, CURLOPT_NOBODY, 1)
    } else {
      set(easy, CURLOPT_HTTPGET, 1)
    }
    _ = tc_curl_set_string(easy, CURLOPT_CUSTOMREQUEST, request.method)
  }

  static func useFreshConnection(_ easy: UnsafeMutableRawPointer) { set(easy, CURLOPT_FRESH_CONNECT, 1) }

  /// - Parameter withSecrets: false for another host than the one they were given for.
  static func headerList(_ headers: [HTTPHeader], withSecrets: Bool) -> UnsafeMutablePointer<curl_slist>? {
    // libcurl would ask for 100 Continue before every body, which costs a round trip.
    var lines = ["Expect:"]
    for header in headers where withSecrets || !secretNames.contains(header.name.lowercased()) {
      // "Name:" would mean: do not send it.
      lines.append(header.value.isEmpty ? "\(header.name);" : "\(header.name): \(header.value)")
    }
    // Without the field any encoding would do (RFC 9110 section 12.5.3).
    if !headers.contains(where: { $0.name.lowercased() == "accept-encoding" }) {
      lines.append("Accept-Encoding: identity")
    }
    return lines.reduce(nil) { list, line in tc_curl_slist_append(list, line) ?? list }
  }

  private static let secretNames: Set<String> = ["authorization", "cookie", "proxy-authorization"]

  private static func set(_ easy: UnsafeMutableRawPointer, _ option: CURLoption, _ value: Int) {
    _ = tc_curl_set_long(easy, option, value)
  }
}
