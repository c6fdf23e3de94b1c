import CCurl

/// What libcurl knows about a transfer.
enum EasyInfo {
  /// Where a redirect leads, absolute.
  static func redirectURL(_ easy: UnsafeMutableRawPointer) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard tc_curl_info_string(easy, CURLINFO_REDIRECT_URL, &text) == CURLE_OK, let text else { return nil }
    return String(cString: text)
  }

  /// For an answer that has the field. A date that is over, or no value at all, is 0.
  static func retryAfterMs(_ easy: UnsafeMutableRawPointer) -> Int64? {
    var seconds: curl_off_t = 0
    guard tc_curl_info_offset(easy, CURLINFO_RETRY_AFTER, &seconds) == CURLE_OK else { return nil }
    // A hundred years are enough, and the product fits.
    return min(max(0, Int64(seconds)), 3_155_760_000) * 1_000
  }
}
