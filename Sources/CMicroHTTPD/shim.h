#include <microhttpd.h>

// MHD_start_daemon is variadic in C, which Swift can't call. The listening socket is ours: bound before, so that errno of a
// failed bind is exact; the daemon closes it.
static inline struct MHD_Daemon *healthbus_http_start(
    int listener, unsigned threads, unsigned connections, unsigned idle_seconds, size_t header_bytes,
    MHD_AccessHandlerCallback handler, MHD_RequestCompletedCallback completed, void *context) {
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
        MHD_OPTION_ARRAY, pool,
        MHD_OPTION_END);
}
