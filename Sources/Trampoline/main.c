// healthbus-trampoline <parent-pid> <signal> <program> [argument...]
//
// Becomes <program>, which gets <signal> when its parent ends for whatever reason: posix_spawn has no attribute for
// this. The program starts with an empty signal mask and default dispositions. Exits with 127 if it can't become the
// program, 126 if the parent is already gone, 2 if called wrongly.
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static long number(const char *text, long most) {
    char *end = NULL;
    errno = 0;
    long value = strtol(text, &end, 10);
    return errno != 0 || end == text || *end != 0 || value < 1 || value > most ? -1 : value;
}

int main(int argc, char *argv[]) {
    long parent = argc > 3 ? number(argv[1], INT_MAX) : -1;
    long signal_number = argc > 3 ? number(argv[2], SIGRTMAX) : -1;
    if (parent < 0 || signal_number < 0) {
        fputs("usage: healthbus-trampoline <parent-pid> <signal> <program> [argument...]\n", stderr);
        return 2;
    }
    if (prctl(PR_SET_PDEATHSIG, (unsigned long)signal_number) != 0) {
        fprintf(stderr, "healthbus-trampoline: prctl(PR_SET_PDEATHSIG, %ld): %s\n", signal_number, strerror(errno));
        return 127;
    }
    // The signal is sent only if the parent dies after this call: if it has already died, this process has another
    // parent now.
    if (getppid() != (pid_t)parent) return 126;

    struct sigaction action = {0};
    action.sa_handler = SIG_DFL;
    for (int i = 1; i <= SIGRTMAX; i++) sigaction(i, &action, NULL);  // refused for SIGKILL, SIGSTOP, glibc's own
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);

    execv(argv[3], argv + 3);
    fprintf(
        stderr, "healthbus-trampoline: can't start %s: %s; check that the file exists and is executable\n", argv[3],
        strerror(errno));
    return 127;
}
