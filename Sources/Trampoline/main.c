// healthbus-trampoline <parent-pid> <signal> <niceness> <program> [argument...]
//
// Becomes <program>, which gets <signal> when its parent ends for whatever reason, and whose niceness is raised by
// <niceness>, 0 to 19. posix_spawn has no attributes for these. The program starts with an empty signal mask and
// default dispositions. Exits with 127 if it can't become the program, with 126 if the parent is already gone, and with
// 2 if called wrongly.
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static long number(const char *text, long least, long most) {
    char *end = NULL;
    errno = 0;
    long value = strtol(text, &end, 10);
    return errno != 0 || end == text || *end != 0 || value < least || value > most ? -1 : value;
}

int main(int argc, char *argv[]) {
    long parent = argc > 4 ? number(argv[1], 1, INT_MAX) : -1;
    long signal_number = argc > 4 ? number(argv[2], 1, SIGRTMAX) : -1;
    long niceness = argc > 4 ? number(argv[3], 0, 19) : -1;
    if (parent < 0 || signal_number < 0 || niceness < 0) {
        fputs("usage: healthbus-trampoline <parent-pid> <signal> <niceness> <program> [argument...]\n", stderr);
        return 2;
    }
    if (prctl(PR_SET_PDEATHSIG, (unsigned long)signal_number) != 0) {
        fprintf(stderr, "healthbus-trampoline: prctl(PR_SET_PDEATHSIG, %ld): %s\n", signal_number, strerror(errno));
        return 127;
    }
    // The signal is sent only if the parent dies after this call: if it has already died, this process has another
    // parent now.
    if (getppid() != (pid_t)parent) return 126;

    // The niceness is added to the inherited one, so that no privilege is ever needed. A successful call may also
    // return -1.
    errno = 0;
    if (nice((int)niceness) == -1 && errno != 0) {
        fprintf(stderr, "healthbus-trampoline: nice(%ld): %s\n", niceness, strerror(errno));
        return 127;
    }

    struct sigaction action = {0};
    action.sa_handler = SIG_DFL;
    for (int i = 1; i <= SIGRTMAX; i++) sigaction(i, &action, NULL);  // refused for SIGKILL, SIGSTOP, glibc's own
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);

    execv(argv[4], argv + 4);
    fprintf(
        stderr, "healthbus-trampoline: can't start %s: %s; check that the file exists and is executable\n", argv[4],
        strerror(errno));
    return 127;
}
