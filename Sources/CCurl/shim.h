#include <curl/curl.h>

// curl_easy_setopt and curl_easy_getinfo are variadic in C, which Swift can't call: one wrapper for each argument type.
static inline CURLcode healthbus_setopt_long(CURL *h, CURLoption o, long v) { return curl_easy_setopt(h, o, v); }
static inline CURLcode healthbus_setopt_string(CURL *h, CURLoption o, const char *v) { return curl_easy_setopt(h, o, v); }
static inline CURLcode healthbus_setopt_pointer(CURL *h, CURLoption o, void *v) { return curl_easy_setopt(h, o, v); }
static inline CURLcode healthbus_setopt_write(CURL *h, CURLoption o, size_t (*v)(char *, size_t, size_t, void *)) {
    return curl_easy_setopt(h, o, v);
}
static inline CURLcode healthbus_getinfo_long(CURL *h, CURLINFO i, long *v) { return curl_easy_getinfo(h, i, v); }
