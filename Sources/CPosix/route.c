#define _GNU_SOURCE
#include "posix_shim.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static int open_netlink(unsigned groups) {
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd < 0) return -errno;
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = groups};
    if (bind(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
    int error = errno;
    close(fd);
    return -error;
}

int healthbus_route_watch(void) {
    return open_netlink(RTMGRP_LINK | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR);
}

int healthbus_route_wait(int watch) {
    char buffer[16 * 1024];
    for (;;) {
        if (recv(watch, buffer, sizeof buffer, 0) >= 0) break;
        // The kernel dropped notices because there were too many, so something has certainly changed.
        if (errno == ENOBUFS) break;
        if (errno != EINTR) return -errno;
    }
    // One check is enough for a burst of notices.
    while (recv(watch, buffer, sizeof buffer, MSG_DONTWAIT) >= 0 || errno == EINTR || errno == ENOBUFS) {}
    return 0;
}

void healthbus_route_end(int watch) { shutdown(watch, SHUT_RDWR); }

// The interfaces found so far: those of default routes, then all others.
struct links {
    unsigned first[16], others[48];
    int first_count, others_count;
};

static void add(struct links *links, int is_default, unsigned link) {
    if (is_default) {
        if (links->first_count < 16) links->first[links->first_count++] = link;
    } else if (links->others_count < 48) {
        links->others[links->others_count++] = link;
    }
}

// Every interface with IPv6 has a route to its own fe80::/64, which leads nowhere.
static int is_link_local(const struct rtmsg *route, const struct rtattr *destination) {
    const unsigned char *bytes = destination ? RTA_DATA(destination) : NULL;
    return route->rtm_family == AF_INET6 && bytes && bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;
}

static void collect(const struct nlmsghdr *message, struct links *links) {
    const struct rtmsg *route = NLMSG_DATA(message);
    if (route->rtm_type != RTN_UNICAST || route->rtm_table != RT_TABLE_MAIN) return;
    struct rtattr *destination = NULL, *out = NULL, *hops = NULL;
    int length = RTM_PAYLOAD(message);
    for (struct rtattr *attribute = RTM_RTA(route); RTA_OK(attribute, length); attribute = RTA_NEXT(attribute, length)) {
        if (attribute->rta_type == RTA_DST) destination = attribute;
        if (attribute->rta_type == RTA_OIF) out = attribute;
        if (attribute->rta_type == RTA_MULTIPATH) hops = attribute;
    }
    if (is_link_local(route, destination)) return;
    int is_default = route->rtm_dst_len == 0;
    if (out) {
        unsigned link;
        memcpy(&link, RTA_DATA(out), sizeof link);
        add(links, is_default, link);
    }
    int left = hops ? (int)RTA_PAYLOAD(hops) : 0;
    for (struct rtnexthop *hop = hops ? RTA_DATA(hops) : NULL;
         left >= (int)sizeof *hop && hop->rtnh_len >= sizeof *hop && hop->rtnh_len <= left;
         left -= RTNH_ALIGN(hop->rtnh_len), hop = RTNH_NEXT(hop)) {
        add(links, is_default, (unsigned)hop->rtnh_ifindex);
    }
}

int healthbus_route_links(unsigned links[64]) {
    int fd = open_netlink(0);
    if (fd < 0) return fd;
    struct timeval patience = {.tv_sec = 2};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    struct {
        struct nlmsghdr header;
        struct rtmsg route;
    } request = {
        .header = {
            .nlmsg_len = NLMSG_LENGTH(sizeof(struct rtmsg)), .nlmsg_type = RTM_GETROUTE,
            .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP, .nlmsg_seq = 1},
        .route = {.rtm_family = AF_UNSPEC},
    };
    struct links found = {0};
    int error = send(fd, &request, request.header.nlmsg_len, 0) < 0 ? errno : 0;
    char buffer[32 * 1024] __attribute__((aligned(NLMSG_ALIGNTO)));
    for (int done = 0; error == 0 && !done;) {
        ssize_t received = recv(fd, buffer, sizeof buffer, 0);
        if (received < 0) {
            if (errno == EINTR) continue;
            error = errno;
            break;
        }
        int left = (int)received;
        for (struct nlmsghdr *message = (struct nlmsghdr *)buffer; error == 0 && !done && NLMSG_OK(message, left);
             message = NLMSG_NEXT(message, left)) {
            if (message->nlmsg_type == NLMSG_DONE) done = 1;
            if (message->nlmsg_type == NLMSG_ERROR) error = -((struct nlmsgerr *)NLMSG_DATA(message))->error;
            if (message->nlmsg_type == RTM_NEWROUTE) collect(message, &found);
        }
    }
    close(fd);
    if (error) return -error;
    memcpy(links, found.first, sizeof(unsigned) * (size_t)found.first_count);
    memcpy(links + found.first_count, found.others, sizeof(unsigned) * (size_t)found.others_count);
    return found.first_count + found.others_count;
}

int healthbus_link_name(unsigned link, char name[16]) { return if_indextoname(link, name) ? 0 : -errno; }
