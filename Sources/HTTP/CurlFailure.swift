import CCurl

/// libcurl's codes in our words.
enum CurlFailure {
  /// - Parameters:
  ///   - host: the only part of the URL that a message may hold.
  ///   - hasConnected: whether bytes of the request went out.
  static func error(
    _ code: CURLcode, host: String, hasConnected: Bool, keptConnectionDied: Bool
  ) -> HTTPError {
    // libcurl calls it so where a line of the answer's head is longer than its 100 KiB.
    let isLongLine = code == CURLE_OUT_OF_MEMORY && hasConnected
    let text = isLongLine ? "the answer's head is too long" : String(cString: tc_curl_easy_strerror(code))
    return HTTPError(
      word(code, hasConnected: hasConnected), "\(host): \(text)", requestMayHaveArrived: hasConnected,
      keptConnectionDied: keptConnectionDied)
  }

  private static func word(_ code: CURLcode, hasConnected: Bool) -> HTTPError.Code {
    switch code {
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .couldNotResolve
    case CURLE_COULDNT_CONNECT: .couldNotConnect
    case CURLE_OPERATION_TIMEDOUT: hasConnected ? .timedOut : .connectTimedOut
    case CURLE_SSL_CONNECT_ERROR: .tlsHandshake
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
      CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CRL_BADFILE, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS,
      CURLE_USE_SSL_FAILED, CURLE_SSL_CLIENTCERT:
      .tlsUntrusted
    case CURLE_URL_MALFORMAT: .badURL
    // Also said of an answer that is not HTTP.
    case CURLE_UNSUPPORTED_PROTOCOL: hasConnected ? .badResponse : .badURL
    case CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING: .badResponse
    case CURLE_OUT_OF_MEMORY: hasConnected ? .badResponse : .outOfResources
    case CURLE_FAILED_INIT: .outOfResources
    // 52, 55, 56, 18, 65 and whatever else ends a connection in its middle.
    default: hasConnected ? .connectionLost : .couldNotConnect
    }
  }
}
