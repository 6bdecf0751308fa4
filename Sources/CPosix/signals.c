#define _GNU_SOURCE
#include "posix_shim.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

// A handler that writes to a pipe works whichever thread receives the signal; a signalfd misses it as soon as one
// thread (of a library, say) doesn't block the signal.

static atomic_int in_use = 0;
static atomic_int write_end = -1;
static int read_end = -1;

enum { MOST = 9 };
// The first list is caught by every program, the second by those that draw a screen; SIGHUP is ignored by programs
// without a screen.
static const int of_programs[] = {SIGINT, SIGTERM};
static const int of_screens[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH};
static int signals[MOST];
static struct sigaction before[MOST];
static int changed = 0;

static void pass_on(int number) {
    int saved = errno;
    unsigned char byte = (unsigned char)number;
    int fd = atomic_load(&write_end);
    // A full pipe already holds 65,536 unread bytes, so one more would add nothing.
    if (fd >= 0 && write(fd, &byte, 1) < 0) { /* nothing that a handler could do */
    }
    errno = saved;
}

static void set(int number, void (*handler)(int)) {
    struct sigaction action = {0};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigfillset(&action.sa_mask);
    signals[changed] = number;
    sigaction(number, &action, &before[changed++]);
}

static int catch_all(const int *numbers, int count, int ignores_hangup) {
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
    changed = 0;
    for (int i = 0; i < count; i++) set(numbers[i], pass_on);
    if (ignores_hangup) set(SIGHUP, SIG_IGN);
    set(SIGPIPE, SIG_IGN);
    return read_end;
}

int healthbus_catch_signals(void) { return catch_all(of_programs, sizeof of_programs / sizeof *of_programs, 1); }

int healthbus_catch_screen_signals(void) { return catch_all(of_screens, sizeof of_screens / sizeof *of_screens, 0); }

void healthbus_suspend(void) {
    struct sigaction standard = {0}, ours;
    standard.sa_handler = SIG_DFL;
    sigaction(SIGTSTP, &standard, &ours);
    raise(SIGTSTP);
    sigaction(SIGTSTP, &ours, NULL);
}

void healthbus_release_signals(void) {
    if (!atomic_load(&in_use)) return;
    for (int i = 0; i < changed; i++) sigaction(signals[i], &before[i], NULL);
    int fd = atomic_exchange(&write_end, -1);
    close(fd);
    close(read_end);
    read_end = -1;
    atomic_store(&in_use, 0);
}
