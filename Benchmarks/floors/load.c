// Connects one publisher and one subscriber to a hub, or to a stand-in for one, sends the same message again and again,
// and receives it back.
//
//   cc -O2 Benchmarks/floors/load.c -o /tmp/load -lzmq
//   /tmp/load PUBLISH SUBSCRIBE MESSAGE SECONDS
//
// MESSAGE is a file of frames, each preceded by its length (32 bits, little-endian); the first is the topic. At most
// WINDOW messages are in flight at once. Even so, libzmq may drop some: a sender learns what has been read only when it
// next processes its commands, and until then may consider a pipe full. So the last 8 bytes of each message are its
// number, and a gap in the numbers shows at once that messages were lost. Prints how many messages arrived, the size of
// one in bytes, the duration in seconds, and how many messages were lost.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zmq.h>

enum { WINDOW = 30, FRAMES = 3 };

static void *frames[FRAMES];
static uint32_t lengths[FRAMES];

static void check(int isWell, const char *what) {
    if (isWell) return;
    fprintf(stderr, "%s: %s\n", what, zmq_strerror(zmq_errno()));
    exit(1);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void say(void *publisher, uint64_t number) {
    memcpy((char *)frames[FRAMES - 1] + lengths[FRAMES - 1] - sizeof number, &number, sizeof number);
    for (int index = 0; index < FRAMES; index++)
        check(zmq_send(publisher, frames[index], lengths[index], index + 1 < FRAMES ? ZMQ_SNDMORE : 0) >= 0, "send");
}

/// Returns the number of the next message if it arrives within the subscriber's timeout (with ZMQ_DONTWAIT: if it has
/// already arrived), and 0 otherwise.
static uint64_t hear(void *subscriber, int flags) {
    uint64_t number = 0;
    zmq_msg_t frame;
    for (int index = 0; index < FRAMES; index++) {
        zmq_msg_init(&frame);
        int length = zmq_msg_recv(&frame, subscriber, index == 0 ? flags : 0);
        if (length < 0 && index == 0 && zmq_errno() == EAGAIN) return zmq_msg_close(&frame), 0;
        check(length == (int)lengths[index], "receive");
        if (index == FRAMES - 1) memcpy(&number, (char *)zmq_msg_data(&frame) + length - sizeof number, sizeof number);
        zmq_msg_close(&frame);
    }
    return number;
}

static void wait_at_most(void *subscriber, int milliseconds) {
    check(zmq_setsockopt(subscriber, ZMQ_RCVTIMEO, &milliseconds, sizeof milliseconds) == 0, "set option");
}

int main(int count, char **arguments) {
    if (count != 5) return fprintf(stderr, "usage: load PUBLISH SUBSCRIBE MESSAGE SECONDS\n"), 2;
    FILE *file = fopen(arguments[3], "rb");
    if (file == NULL) return perror(arguments[3]), 1;
    size_t bytes = 0;
    for (int index = 0; index < FRAMES; index++) {
        check(fread(&lengths[index], sizeof lengths[index], 1, file) == 1, arguments[3]);
        frames[index] = malloc(lengths[index] + 1);
        check(frames[index] != NULL && fread(frames[index], 1, lengths[index], file) == lengths[index], arguments[3]);
        bytes += lengths[index];
    }
    fclose(file);
    void *context = zmq_ctx_new();
    void *publisher = zmq_socket(context, ZMQ_PUB), *subscriber = zmq_socket(context, ZMQ_SUB);
    check(lengths[FRAMES - 1] >= sizeof(uint64_t), "a body that has room for a number");
    wait_at_most(subscriber, 200);
    check(zmq_connect(publisher, arguments[1]) == 0 && zmq_connect(subscriber, arguments[2]) == 0, "connect");
    check(zmq_setsockopt(subscriber, ZMQ_SUBSCRIBE, frames[0], lengths[0]) == 0, "subscribe");
    // Until the publisher learns of the subscription, its messages are dropped.
    uint64_t said = 0, last = 0;
    do {
        if (said == 50) return fprintf(stderr, "nothing comes back within 10 s\n"), 1;
        say(publisher, ++said);
    } while ((last = hear(subscriber, 0)) == 0);
    while (last < said && (last = hear(subscriber, 0)) != 0) {}
    last = said;
    wait_at_most(subscriber, 20);
    uint64_t first = said;
    double begin = now(), end = begin + atof(arguments[4]);
    long heard = 0;
    while (last < said || now() < end) {
        while (said - last < WINDOW && now() < end) say(publisher, ++said);
        uint64_t number = hear(subscriber, 0);
        if (number == 0) last = said;  // All messages that were on their way are lost.
        for (; number != 0; number = last < said ? hear(subscriber, ZMQ_DONTWAIT) : 0) heard++, last = number;
    }
    printf("%ld messages, %zu bytes, %.4f s, %ld lost\n", heard, bytes, now() - begin, (long)(said - first) - heard);
    zmq_close(publisher);
    zmq_close(subscriber);
    zmq_ctx_term(context);
    return 0;
}
