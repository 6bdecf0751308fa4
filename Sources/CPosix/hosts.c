#include "posix_shim.h"

#include <arpa/inet.h>
#include <string.h>

int healthbus_is_loopback(const char *host) {
    struct in_addr four;
    struct in6_addr six;
    if (strcmp(host, "localhost") == 0) return 1;
    if (inet_pton(AF_INET, host, &four) == 1) return ntohl(four.s_addr) >> 24 == 127;
    return inet_pton(AF_INET6, host, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}
