#include <microhttpd.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>

// MHD_start_daemon is variadic in C, which Swift can't call. The listening socket is ours: bound before, so that errno of a
// failed bind is exact; the daemon closes it.
static inline struct MHD_Daemon *healthbus_http_start(
    int listener, unsigned threads, unsigned connections, unsigned idle_seconds, size_t header_bytes,
    MHD_AccessHandlerCallback handler, MHD_RequestCompletedCallback completed,
    MHD_NotifyConnectionCallback connected, void *context) {
    // ITC: without it MHD_quiesce_daemon can't wake the threads. A pool of one is refused by some versions: leave it out.
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC;
    struct MHD_OptionItem pool[] = {
        {threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END, (intptr_t)threads, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    return MHD_start_daemon(
        flags, 0, NULL, NULL, handler, context,
        MHD_OPTION_LISTEN_SOCKET, (MHD_socket)listener,
        MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_CONNECTION_TIMEOUT, idle_seconds,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, header_bytes,
        MHD_OPTION_NOTIFY_COMPLETED, completed, context,
        MHD_OPTION_NOTIFY_CONNECTION, connected, context,
        MHD_OPTION_ARRAY, pool,
        MHD_OPTION_END);
}

// MHD_get_connection_info is variadic too. -1 when there is no socket.
static inline int healthbus_http_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? (int)info->connect_fd : -1;
}

// A number for the client's address: of IPv6 its network (/64), which is what one host can choose its addresses from.
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
