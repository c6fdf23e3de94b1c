#pragma once
// The type-checking macros of curl.h hide the functions that Swift needs.
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <dlfcn.h>

// libcurl brings some thirty libraries along. They are loaded with the first request and not with the program: that takes
// 5 ms off the start of an engine (measured: 12 ms to 6), which a front end that spawns it for one question feels.

/// A function of libcurl, loading the library if need be; NULL where it is not installed, which `tc_curl_global_init`
/// reports before anything else is called. Two threads that load at once get the same handle.
static inline void *tc_curl_symbol(const char *name) {
  static void *library;
  void *loaded = __atomic_load_n(&library, __ATOMIC_ACQUIRE);
  if (!loaded) {
    loaded = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!loaded) return NULL;
    __atomic_store_n(&library, loaded, __ATOMIC_RELEASE);
  }
  return dlsym(loaded, name);
}
#define TC_CURL(function) ((__typeof__(&function))tc_curl_symbol(#function))

// Swift can't call C varargs, so each kind of argument has one function here.

static inline CURLcode tc_curl_set_long(CURL *easy, CURLoption option, long value) {
  return TC_CURL(curl_easy_setopt)(easy, option, value);
}
static inline CURLcode tc_curl_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
  return TC_CURL(curl_easy_setopt)(easy, option, value);
}
static inline CURLcode tc_curl_set_string(CURL *easy, CURLoption option, const char *value) {
  return TC_CURL(curl_easy_setopt)(easy, option, value);
}
static inline CURLcode tc_curl_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
  return TC_CURL(curl_easy_setopt)(easy, option, value);
}
static inline CURLcode tc_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
  return TC_CURL(curl_easy_setopt)(easy, option, value);
}
/// CURLOPT_READFUNCTION, WRITEFUNCTION and HEADERFUNCTION have the same shape.
static inline CURLcode tc_curl_set_data_callback(CURL *easy, CURLoption option, curl_read_callback callback) {
  return TC_CURL(curl_easy_setopt)(easy, option, callback);
}
static inline CURLcode tc_curl_set_seek_callback(CURL *easy, curl_seek_callback callback) {
  return TC_CURL(curl_easy_setopt)(easy, CURLOPT_SEEKFUNCTION, callback);
}
static inline CURLcode tc_curl_set_prereq_callback(CURL *easy, curl_prereq_callback callback) {
  return TC_CURL(curl_easy_setopt)(easy, CURLOPT_PREREQFUNCTION, callback);
}
static inline CURLcode tc_curl_info_long(CURL *easy, CURLINFO info, long *value) {
  return TC_CURL(curl_easy_getinfo)(easy, info, value);
}
static inline CURLcode tc_curl_info_string(CURL *easy, CURLINFO info, char **value) {
  return TC_CURL(curl_easy_getinfo)(easy, info, value);
}
static inline CURLMcode tc_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return TC_CURL(curl_multi_setopt)(multi, option, value);
}
/// CURL_GLOBAL_DEFAULT is a macro of macros, which Swift does not import.
static inline CURLcode tc_curl_global_init(void) {
  return tc_curl_symbol("curl_global_init") ? TC_CURL(curl_global_init)(CURL_GLOBAL_DEFAULT) : CURLE_FAILED_INIT;
}
static inline CURLcode tc_curl_set_sockopt_callback(CURL *easy, curl_sockopt_callback callback) {
  return TC_CURL(curl_easy_setopt)(easy, CURLOPT_SOCKOPTFUNCTION, callback);
}
static inline CURLcode tc_curl_set_close_callback(CURL *easy, curl_closesocket_callback callback) {
  return TC_CURL(curl_easy_setopt)(easy, CURLOPT_CLOSESOCKETFUNCTION, callback);
}

// The rest as it is, by way of TC_CURL.

static inline CURL *tc_curl_easy_init(void) { return TC_CURL(curl_easy_init)(); }
static inline void tc_curl_easy_cleanup(CURL *easy) { TC_CURL(curl_easy_cleanup)(easy); }
static inline CURLcode tc_curl_easy_unpause(CURL *easy) { return TC_CURL(curl_easy_pause)(easy, CURLPAUSE_CONT); }
static inline const char *tc_curl_easy_strerror(CURLcode code) { return TC_CURL(curl_easy_strerror)(code); }
static inline CURLM *tc_curl_multi_init(void) { return TC_CURL(curl_multi_init)(); }
static inline CURLMcode tc_curl_multi_cleanup(CURLM *multi) { return TC_CURL(curl_multi_cleanup)(multi); }
static inline CURLMcode tc_curl_multi_add_handle(CURLM *multi, CURL *easy) {
  return TC_CURL(curl_multi_add_handle)(multi, easy);
}
static inline CURLMcode tc_curl_multi_remove_handle(CURLM *multi, CURL *easy) {
  return TC_CURL(curl_multi_remove_handle)(multi, easy);
}
static inline CURLMcode tc_curl_multi_perform(CURLM *multi, int *running) {
  return TC_CURL(curl_multi_perform)(multi, running);
}
static inline CURLMcode tc_curl_multi_poll(
    CURLM *multi, struct curl_waitfd *extra, unsigned count, int timeout, int *ready) {
  return TC_CURL(curl_multi_poll)(multi, extra, count, timeout, ready);
}
static inline CURLMcode tc_curl_multi_wakeup(CURLM *multi) { return TC_CURL(curl_multi_wakeup)(multi); }
static inline CURLMsg *tc_curl_multi_info_read(CURLM *multi, int *left) {
  return TC_CURL(curl_multi_info_read)(multi, left);
}
/// Seconds since 1970 of a date in any form that HTTP knows; -1 for what is none.
static inline time_t tc_curl_getdate(const char *text) { return TC_CURL(curl_getdate)(text, NULL); }
static inline struct curl_slist *tc_curl_slist_append(struct curl_slist *list, const char *text) {
  return TC_CURL(curl_slist_append)(list, text);
}
static inline void tc_curl_slist_free_all(struct curl_slist *list) { TC_CURL(curl_slist_free_all)(list); }
