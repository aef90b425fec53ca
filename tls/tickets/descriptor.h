/* SPDX-License-Identifier: Apache-2.0 */
/** @file descriptor.h
 * Descriptors that the library keeps open are never 0, 1 or 2.  A program that was started without one of these
 * would get its number for the library's next file, and what the program prints would go there: into the memory
 * of the tickets, or to a server of theirs. */
#ifndef PPRF_TLS_DESCRIPTOR_H
#define PPRF_TLS_DESCRIPTOR_H

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/** The same file under a number above 2, closed by execve; fd itself if it is such, or an error.  -1, and fd is
 * closed: none is left. */
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
