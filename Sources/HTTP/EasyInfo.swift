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

  /// For an answer that has the field. A date that is over, or no value at all, is 0.
  static func retryAfterMs(_ easy: UnsafeMutableRawPointer) -> Int64? {
    var seconds: curl_off_t = 0
    guard tc_curl_info_offset(easy, CURLINFO_RETRY_AFTER, &seconds) == CURLE_OK else { return nil }
    // A hundred years are enough, and the product fits.
    return min(max(0, Int64(seconds)), 3_155_760_000) * 1_000
  }
}
