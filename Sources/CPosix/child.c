#define _GNU_SOURCE
#include "posix_shim.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

static int add_actions(
    posix_spawn_file_actions_t *actions, const char *directory, int input, int output, int error) {
    int code = input < 0 ? posix_spawn_file_actions_addopen(actions, 0, "/dev/null", 0 /* O_RDONLY */, 0)
                         : posix_spawn_file_actions_adddup2(actions, input, 0);
    if (code == 0 && output >= 0) code = posix_spawn_file_actions_adddup2(actions, output, 1);
    if (code == 0 && error >= 0) code = posix_spawn_file_actions_adddup2(actions, error, 2);
    if (code == 0) code = posix_spawn_file_actions_addclosefrom_np(actions, 3);
    if (code == 0 && directory != NULL) code = posix_spawn_file_actions_addchdir_np(actions, directory);
    return code;
}

static int set_attributes(posix_spawnattr_t *attributes, int session) {
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int code = posix_spawnattr_setsigmask(attributes, &none);
    if (code == 0) code = posix_spawnattr_setsigdefault(attributes, &all);
    if (code == 0) code = posix_spawnattr_setpgroup(attributes, 0);
    // A new session has a new process group.
    int group = session ? POSIX_SPAWN_SETSID : POSIX_SPAWN_SETPGROUP;
    if (code == 0)
        code = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | group);
    return code;
}

static pid_t spawn(
    char *const argv[], char *const envp[], const char *directory, int input, int output, int error, int session) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int code = posix_spawn_file_actions_init(&actions);
    if (code != 0) return -code;
    code = posix_spawnattr_init(&attributes);
    if (code != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return -code;
    }
    pid_t pid = 0;
    code = add_actions(&actions, directory, input, output, error);
    if (code == 0) code = set_attributes(&attributes, session);
    if (code == 0) code = posix_spawn(&pid, argv[0], &actions, &attributes, argv, envp);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return code == 0 ? pid : -code;
}

pid_t healthbus_spawn(
    char *const argv[], char *const envp[], const char *directory, int input, int output, int error) {
    return spawn(argv, envp, directory, input, output, error, 0);
}

pid_t healthbus_spawn_session(char *const argv[], char *const envp[], int output) {
    return spawn(argv, envp, NULL, -1, output, output, 1);
}

int healthbus_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC) == 0 ? 0 : -errno; }

int healthbus_pidfd_open(pid_t pid) {
    int fd = pidfd_open(pid, 0);  // sets close-on-exec automatically
    return fd < 0 ? -errno : fd;
}

int healthbus_pidfd_signal(int pidfd, int signal) {
    return pidfd_send_signal(pidfd, signal, NULL, 0) == 0 ? 0 : -errno;
}

int healthbus_wait(pid_t pid, int block, struct healthbus_exit *exit) {
    siginfo_t info = {0};
    int result;
    do result = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | (block ? 0 : WNOHANG));
    while (result != 0 && errno == EINTR);
    if (result != 0) return -errno;
    if (info.si_pid == 0) return 0;
    kill(-pid, SIGKILL);  // fails if nothing is left, which is the usual case
    do result = waitid(P_PID, (id_t)pid, &info, WEXITED);
    while (result != 0 && errno == EINTR);
    if (result != 0) return -errno;
    int exited = info.si_code == CLD_EXITED;
    exit->code = exited ? info.si_status : -1;
    exit->signal = exited ? 0 : info.si_status;
    return 1;
}
