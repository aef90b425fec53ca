/* SPDX-License-Identifier: Apache-2.0 */
/** @file descriptor.h
 * The library never keeps descriptors 0, 1 or 2.  If a program was started with one of these
 * closed, the library's next file would get that number, and the program's output would go into the
 * tickets' memory or to their server. */
#ifndef PPRF_TLS_DESCRIPTOR_H
#define PPRF_TLS_DESCRIPTOR_H

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/** Move fd above 2, with close-on-exec.  Returns fd itself if it is already above 2 or negative.
 * On -1 no descriptor was free, and fd is closed. */
static inline int above_standard(int fd)
{
  if (fd < 0 || fd > 2)
    return fd;
  int moved = fcntl(fd, F_DUPFD_CLOEXEC, 3), err = errno;
  (void)close(fd);
  errno = err;
  return moved;
}

#endif
