import CCurl

/// What libcurl knows about a transfer.
enum EasyInfo {
  /// Where a redirect leads, absolute.
  static func redirectURL(_ easy: UnsafeMutableRawPointer) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard tc_curl_info_string(easy, CURLINFO_REDIRECT_URL, &text) == CURLE_OK, let text else { return nil }
    return String(cString: text)
  }

  /// Whether a connection that was kept from an earlier request ended under this one: as a rule the server had closed it.
  ///
  /// libcurl sends the request again by itself where it sees that while it reads, not where it sees it while it sends a long
  /// body (7.88); and where the body must not be read again, it ends in CURLE_SEND_FAIL_REWIND.
  static func keptConnectionDied(_ easy: UnsafeMutableRawPointer, _ code: CURLcode) -> Bool {
    switch code {
    case CURLE_SEND_FAIL_REWIND: return true
    case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING:
      var made = 0
      return tc_curl_info_long(easy, CURLINFO_NUM_CONNECTS, &made) == CURLE_OK && made == 0
    default: return false
    }
  }
}
