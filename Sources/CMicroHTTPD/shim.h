#include <microhttpd.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>

static inline int healthbus_http_hex(char digit) {
    return digit >= '0' && digit <= '9' ? digit - '0'
        : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
        : digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

// Decodes escapes such as %41 in place, once. libmicrohttpd's own function leaves a % without two digits as it is, and
// ends a text at %00. Here both become a byte that can't occur in UTF-8, so that a reader of the text has only one kind
// of fault to check for.
static inline size_t healthbus_http_unescape(void *context, struct MHD_Connection *connection, char *text) {
    (void)context;
    (void)connection;
    char *out = text;
    for (const char *in = text; *in; out++) {
        if (*in != '%') {
            *out = *in++;
            continue;
        }
        int high = healthbus_http_hex(in[1]);
        int low = high < 0 ? -1 : healthbus_http_hex(in[2]);
        int byte = low < 0 ? 0 : high * 16 + low;
        *out = (char)(byte == 0 ? 0xff : byte);
        in += byte == 0 ? 1 : 3;
    }
    *out = 0;
    return (size_t)(out - text);
}

// Options for starting a daemon.
struct healthbus_http_options {
    // Already bound and listening, so that the errno of a failed bind is exact; the daemon closes it.
    int listener;
    unsigned threads, connections, idle_seconds;
    size_t header_bytes;
    // PEM data that must outlive the daemon; NULL for plain HTTP.
    const char *certificate_chain, *key;
    MHD_AccessHandlerCallback handler;
    MHD_RequestCompletedCallback completed;
    MHD_NotifyConnectionCallback connected;
    MHD_AcceptPolicyCallback accepts;
    void *context;
};

// MHD_start_daemon is variadic in C, which Swift can't call.
static inline struct MHD_Daemon *healthbus_http_start(const struct healthbus_http_options *wanted) {
    // ITC wakes the threads when a stream continues and when the server stops.
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC | MHD_ALLOW_SUSPEND_RESUME;
    struct MHD_OptionItem items[5];
    size_t count = 0;
    // Some versions refuse a thread pool of one, so the option is left out.
    if (wanted->threads > 1) {
        items[count++] = (struct MHD_OptionItem){MHD_OPTION_THREAD_POOL_SIZE, (intptr_t)wanted->threads, NULL};
    }
    if (wanted->certificate_chain) {
        flags |= MHD_USE_TLS;
        items[count++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)wanted->certificate_chain};
        items[count++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)wanted->key};
        items[count++] = (struct MHD_OptionItem){
            MHD_OPTION_HTTPS_PRIORITIES, 0,
            (void *)"NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:%SERVER_PRECEDENCE"};
    }
    items[count] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
    return MHD_start_daemon(
        flags, 0, wanted->accepts, wanted->context, wanted->handler, wanted->context,
        MHD_OPTION_LISTEN_SOCKET, (MHD_socket)wanted->listener,
        MHD_OPTION_CONNECTION_LIMIT, wanted->connections,
        MHD_OPTION_CONNECTION_TIMEOUT, wanted->idle_seconds,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, wanted->header_bytes,
        MHD_OPTION_UNESCAPE_CALLBACK, healthbus_http_unescape, NULL,
        MHD_OPTION_NOTIFY_COMPLETED, wanted->completed, wanted->context,
        MHD_OPTION_NOTIFY_CONNECTION, wanted->connected, wanted->context,
        MHD_OPTION_ARRAY, items,
        MHD_OPTION_END);
}

// Whether this build of libmicrohttpd speaks TLS.
static inline int healthbus_http_has_tls(void) { return MHD_is_feature_supported(MHD_FEATURE_TLS) == MHD_YES; }

// MHD_get_connection_info is variadic too. -1 when there is no socket.
static inline int healthbus_http_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? (int)info->connect_fd : -1;
}

// The GnuTLS session of a connection; NULL for a connection without TLS.
static inline void *healthbus_http_session(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    return info ? info->tls_session : NULL;
}

// A number that identifies the client's address: for IPv6, its network (/64), because one host can choose any address
// within it.
static inline uint64_t healthbus_http_peer(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (!info || !info->client_addr) return 0;
    if (info->client_addr->sa_family == AF_INET) {
        return ((const struct sockaddr_in *)(const void *)info->client_addr)->sin_addr.s_addr;
    }
    if (info->client_addr->sa_family != AF_INET6) return 0;
    const uint8_t *bytes = ((const struct sockaddr_in6 *)(const void *)info->client_addr)->sin6_addr.s6_addr;
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    if (memcmp(bytes, mapped, sizeof mapped) == 0) {
        uint32_t address;
        memcpy(&address, bytes + 12, sizeof address);
        return address;
    }
    uint64_t network;
    memcpy(&network, bytes, sizeof network);
    return network;
}
