/* SPDX-License-Identifier: Apache-2.0 */
/* How much of the tickets' memory is locked in RAM, from /proc/self/smaps. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tickets.h"

int pprf_tickets_locked(pprf_tickets *tickets, uint64_t *locked, uint64_t *not_locked)
{
  char line[512];
  uint64_t from, to, size = 0, kilobytes = 0, resident = 0, sum[2] = {0, 0};
  size_t bytes, public;
  int ours = 0;
  if (tickets == NULL || locked == NULL || not_locked == NULL)
    return PPRF_ERR_NULL;
  *locked = *not_locked = 0;
  uintptr_t at = (uintptr_t)tickets->backend->memory(tickets->keys, &bytes, &public);
  FILE *f = fopen("/proc/self/smaps", "re");
  if (f == NULL)
    return PPRF_ERR_NOMEM;
  while (fgets(line, sizeof line, f) != NULL) {
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " ", &from, &to) == 2) {
      ours = from < at + bytes && to > at;
      size = to - from;
    } else if (ours && sscanf(line, "Rss: %" SCNu64, &kilobytes) == 1)
      resident = kilobytes * 1024;
    else if (ours && strncmp(line, "VmFlags:", 8) == 0) {
      int is_locked = strstr(line, " lo") != NULL; /* a mapping ends where that changes */
      sum[is_locked] += is_locked || size > public ? resident : 0;
    }
  }
  (void)fclose(f);
  *locked = sum[1];
  *not_locked = sum[0];
  return PPRF_OK;
}
