/* SPDX-License-Identifier: Apache-2.0 */
#include "filesystem.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "arguments.h"

#ifndef FS_IOC_GETFLAGS /* missing in some libc headers */
#define FS_IOC_GETFLAGS _IOR('f', 1, long)
#endif

int filesystem_flags(int fd)
{
  int flags[2] = {0}; /* the kernel writes an int, although the request is defined with long */
  return ioctl(fd, FS_IOC_GETFLAGS, flags) == 0 ? flags[0] : 0;
}

/* By their statfs(2) magic numbers: file systems that do not write into old blocks, and those that
 * leave storage to another program or machine. */
enum { OVERLAYFS = 0x794c7630, EXT4 = 0xef53 };
static const struct kind {
  uint32_t magic;
  bool remote;
  const char *name;
} kinds[] = {
  {0x9123683e, false, "btrfs"}, {0x2fc12fc1, false, "zfs"},    {0xca451a4e, false, "bcachefs"},
  {0xf2f52010, false, "f2fs"},  {0x00003434, false, "nilfs2"}, {0x65735546, true, "FUSE"},
  {0x00006969, true, "NFS"},    {0xff534d42, true, "SMB"},     {0xfe534d42, true, "SMB"},
  {0x01021997, true, "9P"},
};

/* Whether a line of mountinfo, proc(5), has the option for the directory's file system. */
static bool is_mounted_with(int dir, const char *option)
{
  char line[4096], device[32];
  struct stat s;
  int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
  FILE *mounts = fd < 0 ? NULL : fdopen(fd, "r");
  bool found = false;
  if (mounts == NULL || fstat(dir, &s) != 0)
    s.st_dev = 0; /* no file system's */
  snprintf(device, sizeof device, " %u:%u ", major(s.st_dev), minor(s.st_dev));
  while (mounts != NULL && !found && fgets(line, sizeof line, mounts) != NULL) {
    const char *super = strstr(line, " - "); /* spaces in names are escaped */
    found = super != NULL && strstr(line, device) != NULL && strstr(super, option) != NULL;
  }
  if (mounts != NULL)
    (void)fclose(mounts);
  else if (fd >= 0)
    (void)close(fd);
  return found;
}

/* Whether ext4 writes a file's content to its journal, too. */
static bool is_journaled(int dir, int fd)
{
  return (filesystem_flags(fd) & (JOURNAL_DATA | INLINE_DATA)) != 0 ||
         is_mounted_with(dir, "data=journal");
}

void filesystem_warn(int dir, int old, const char *path)
{
  struct statfs s;
  if (fstatfs(dir, &s) != 0)
    return;
  /* Inside a container there is no way to learn whether a lower layer has an older key or where the
   * upper layer is stored, so always warn. */
  if ((uint32_t)s.f_type == OVERLAYFS)
    warn("%s: it lies on overlayfs: an older copy in a lower layer keeps its leaves, and an upper "
         "layer in memory forgets punctures at a reboot; keep keys on another file system",
         path);
  if (old < 0)
    return;
  for (const struct kind *k = kinds; k < kinds + sizeof kinds / sizeof *kinds; k++)
    if ((uint32_t)s.f_type == k->magic && k->remote)
      warn("%s: whether the old key's bytes are overwritten depends on what is behind %s", path,
           k->name);
    else if ((uint32_t)s.f_type == k->magic)
      warn("%s: the old key's bytes stay on the disk until %s uses their blocks again", path,
           k->name);
  if ((uint32_t)s.f_type == EXT4 && is_journaled(dir, old))
    warn("%s: the old key's bytes stay in the journal until ext4 writes over them", path);
}
