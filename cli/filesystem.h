/* SPDX-License-Identifier: Apache-2.0 */
/** @file filesystem.h
 * What a file system is asked: flags of files, and what it keeps of old keys. */
#ifndef PPRF_FILESYSTEM_H
#define PPRF_FILESYSTEM_H

/** A file's flags, ioctl_iflags(2); 0 if it has none. */
enum { APPEND_ONLY = 0x20, JOURNAL_DATA = 0x4000, INLINE_DATA = 0x10000000 };
int filesystem_flags(int fd);

/** Warn if older keys, or their bytes, stay where the directory lies, or if it forgets punctures.
 * @param old the file that was overwritten, or -1 if none was. */
void filesystem_warn(int dir, int old, const char *path);

#endif
