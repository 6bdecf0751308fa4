#define _GNU_SOURCE
#include "posix_shim.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <unistd.h>

int healthbus_lock_file(const char *path) {
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return -errno;
    int result;
    do result = flock(fd, LOCK_EX | LOCK_NB);
    while (result != 0 && errno == EINTR);
    if (result == 0) return fd;
    int error = errno;
    close(fd);
    return -error;
}

int healthbus_lock_is_held(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return errno == ENOENT ? 0 : -errno;
    int result;
    do result = flock(fd, LOCK_SH | LOCK_NB);
    while (result != 0 && errno == EINTR);
    int error = errno;
    close(fd);
    return result == 0 ? 0 : error == EWOULDBLOCK ? 1 : -error;
}

int healthbus_limit_arenas(int count) { return mallopt(M_ARENA_MAX, count) == 1 ? 0 : -EINVAL; }

int64_t healthbus_process_start(pid_t pid) {
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (file == NULL) return -ESRCH;
    char line[1024];
    char *read = fgets(line, sizeof line, file);
    fclose(file);
    // The second field is the program's name in brackets and may itself contain spaces and brackets, so fields are
    // counted from the last bracket.
    char *field = read ? strrchr(line, ')') : NULL;
    for (int number = 2; field != NULL && number < 22; number++) {
        field = strchr(field, ' ');
        if (field != NULL) field++;
    }
    if (field == NULL) return -ESRCH;
    return strtoll(field, NULL, 10);
}

const char *healthbus_signal_name(int number) { return sigdescr_np(number); }

int healthbus_wake_open(void) {
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return fd < 0 ? -errno : fd;
}

// Each call fails only if the state is already the wanted one: a full counter is readable, an empty one is clear.
void healthbus_wake(int fd) { eventfd_write(fd, 1); }
void healthbus_wake_clear(int fd) {
    eventfd_t count;
    eventfd_read(fd, &count);
}
