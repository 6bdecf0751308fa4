// The floor for one sample that comes alone: the messages and commits that it takes, with libzmq and SQLite alone.
//
//   cc -O2 Benchmarks/floors/round.c -o /tmp/round-floor -lsqlite3 -lzmq -lpthread
//   /tmp/round-floor FOLDER MESSAGES LISTENERS COMMITS ROUNDS
//
// MESSAGES of 700 bytes go through a forwarder to LISTENERS threads, each of which hears all of them, at 10 ms intervals
// as in a stack; COMMITS transactions of one row each are synced to files of their own. Prints the milliseconds of
// processor time that one round takes.

#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zmq.h>

enum { FILES = 8, SIZE = 700 };

static void *context;
static char in_address[4096], out_address[4096];

static void check(int isWell, const char *what) {
    if (isWell) return;
    fprintf(stderr, "%s: %s\n", what, zmq_strerror(zmq_errno()));
    exit(1);
}

static void *forward(void *unused) {
    void *in = zmq_socket(context, ZMQ_XSUB), *out = zmq_socket(context, ZMQ_XPUB);
    check(zmq_bind(in, in_address) == 0 && zmq_bind(out, out_address) == 0, "bind");
    zmq_proxy(in, out, NULL);
    return unused;
}

static void *listen_to_all(void *unused) {
    void *socket = zmq_socket(context, ZMQ_SUB);
    check(zmq_connect(socket, out_address) == 0 && zmq_setsockopt(socket, ZMQ_SUBSCRIBE, "", 0) == 0, "connect");
    char message[SIZE];
    while (zmq_recv(socket, message, SIZE, 0) >= 0) {}
    return unused;
}

static double used(void) {
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1e3 + (use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e3;
}

int main(int count, char **arguments) {
    if (count != 6) return fprintf(stderr, "usage: round FOLDER MESSAGES LISTENERS COMMITS ROUNDS\n"), 2;
    int messages = atoi(arguments[2]), listeners = atoi(arguments[3]), commits = atoi(arguments[4]), rounds = atoi(arguments[5]);
    snprintf(in_address, sizeof in_address, "ipc://%s/in", arguments[1]);
    snprintf(out_address, sizeof out_address, "ipc://%s/out", arguments[1]);
    context = zmq_ctx_new();
    pthread_t thread;
    pthread_create(&thread, NULL, forward, NULL);
    for (int index = 0; index < listeners; index++) pthread_create(&thread, NULL, listen_to_all, NULL);
    void *speaker = zmq_socket(context, ZMQ_PUB);
    check(zmq_connect(speaker, in_address) == 0, "connect");
    sqlite3 *files[FILES];
    for (int index = 0; index < FILES; index++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%d.sqlite", arguments[1], index);
        if (sqlite3_open(path, &files[index]) != SQLITE_OK
            || sqlite3_exec(files[index],
                   "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE IF NOT EXISTS rows (number INTEGER PRIMARY KEY, content BLOB)",
                   NULL, NULL, NULL) != SQLITE_OK)
            return fprintf(stderr, "SQLite: %s\n", sqlite3_errmsg(files[index])), 1;
    }
    sleep(1);
    char message[SIZE] = {0};
    double before = used();
    for (int round = 0; round < rounds; round++)
        for (int step = 0; step < messages || step < commits; step++) {
            if (step < messages) check(zmq_send(speaker, message, SIZE, 0) == SIZE, "send");
            if (step < commits
                && sqlite3_exec(files[step % FILES], "INSERT INTO rows (content) VALUES (zeroblob(200))", NULL, NULL, NULL) != SQLITE_OK)
                return fprintf(stderr, "SQLite: %s\n", sqlite3_errmsg(files[step % FILES])), 1;
            usleep(10000);
        }
    printf("%.3f\n", (used() - before) / rounds);
    return 0;
}
