import CCurl

/// What libcurl knows about a transfer.
enum EasyInfo {
  /// Where a redirect leads, absolute.
  static func redirectURL(_ easy: UnsafeMutableRawPointer) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard tc_curl_info_string(easy, CURLINFO_REDIRECT_URL, &text) == CURLE_OK, let text else { return nil }
    return String(cString: text)
  }
}
