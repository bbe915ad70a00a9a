/* In front of what is linked into programs and libraries that count.
 *
 * A process that may not write where its counters go (another user, another root) cannot leave a file that says so. It tells
 * whoever records, over a socket that belongs to no file system.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Where things are on this machine is no part of a program: two builds in two places are compared without it. Each has a section
 * of its own, because the length of one must not move the other. */
#define PLACE(name) __attribute__((section(".git_rts." #name))) static char name[]

PLACE(ear) = GIT_RTS_EAR;

static void git_rts_tell(void)
{
    struct sockaddr_un address = {AF_UNIX, {0}};
    int out = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (out < 0)
        return;
    memcpy(address.sun_path + 1, ear, sizeof ear - 1);
    /* Where nobody listens, nobody needs to know. Where it is full, enough has been said. */
    sendto(out, ear, 1, MSG_NOSIGNAL, (const struct sockaddr *)&address,
           offsetof(struct sockaddr_un, sun_path) + sizeof ear);
    close(out);
}
