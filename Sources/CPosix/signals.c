#define _GNU_SOURCE
#include "posix_shim.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

// A handler that writes to a pipe works whichever thread the signal lands on; a signalfd misses it as soon as one thread
// (of a library, say) doesn't block the signal.

static atomic_int in_use = 0;
static atomic_int write_end = -1;
static int read_end = -1;

enum { CAUGHT = 2, IGNORED = 2 };
static const int signals[CAUGHT + IGNORED] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
static struct sigaction before[CAUGHT + IGNORED];

static void pass_on(int number) {
    int saved = errno;
    unsigned char byte = (unsigned char)number;
    int fd = atomic_load(&write_end);
    // A full pipe holds 65,536 of them unread: one more tells nothing new.
    if (fd >= 0 && write(fd, &byte, 1) < 0) { /* nothing that a handler could do */
    }
    errno = saved;
}

int healthbus_catch_signals(void) {
    int expected = 0;
    if (!atomic_compare_exchange_strong(&in_use, &expected, 1)) return -EBUSY;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
        int error = errno;
        atomic_store(&in_use, 0);
        return -error;
    }
    read_end = ends[0];
    atomic_store(&write_end, ends[1]);
    for (int i = 0; i < CAUGHT + IGNORED; i++) {
        struct sigaction action = {0};
        action.sa_handler = i < CAUGHT ? pass_on : SIG_IGN;
        action.sa_flags = SA_RESTART;
        sigfillset(&action.sa_mask);
        sigaction(signals[i], &action, &before[i]);
    }
    return read_end;
}

void healthbus_release_signals(void) {
    if (!atomic_load(&in_use)) return;
    for (int i = 0; i < CAUGHT + IGNORED; i++) sigaction(signals[i], &before[i], NULL);
    int fd = atomic_exchange(&write_end, -1);
    close(fd);
    close(read_end);
    read_end = -1;
    atomic_store(&in_use, 0);
}
