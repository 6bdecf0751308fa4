// The floor for a hub: libzmq's own zmq_proxy between XSUB and XPUB, with the hub's high-water marks and message size
// limit.
//
//   cc -O2 Benchmarks/floors/proxy.c -o /tmp/proxy-floor -lzmq
//   /tmp/proxy-floor ipc:///tmp/pub ipc:///tmp/sub

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <zmq.h>

static void check(int result) {
    if (result == 0) return;
    fprintf(stderr, "libzmq: %s\n", zmq_strerror(zmq_errno()));
    exit(1);
}

int main(int count, char **arguments) {
    if (count != 3) return fprintf(stderr, "usage: proxy PUBLISH SUBSCRIBE\n"), 2;
    void *context = zmq_ctx_new();
    void *sockets[] = {zmq_socket(context, ZMQ_XSUB), zmq_socket(context, ZMQ_XPUB)};
    int mark = 64;
    int64_t limit = 1 << 20;
    for (int index = 0; index < 2; index++) {
        check(zmq_setsockopt(sockets[index], ZMQ_SNDHWM, &mark, sizeof mark));
        check(zmq_setsockopt(sockets[index], ZMQ_RCVHWM, &mark, sizeof mark));
        check(zmq_setsockopt(sockets[index], ZMQ_MAXMSGSIZE, &limit, sizeof limit));
        check(zmq_bind(sockets[index], arguments[1 + index]));
    }
    zmq_proxy(sockets[0], sockets[1], NULL);
    return 0;
}
