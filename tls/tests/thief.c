/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of a ticket of TLS 1.3 that has not been used yet, as who reads all memory of a server's
 * process can compute them:
 *   thief PID TICKET [VALUE]
 * TICKET in hexadecimal.  Its leaf's VALUE comes from a copy of the pool that the process has mapped;
 * of a leaf on another server it is given.  Prints the value, the two keys derived from it, and the
 * ticket's two keys, which are those and what its client was asked for (attach.c): 16 bytes that the
 * connection which issued it has in memory as long as it is open.  1: not found. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "openssl/clients.h"
#include "tickets/pool.h"
#include "tickets/tickets.h"

enum { TICKET_MAX = 4096, PIECE = 1 << 20, STEP = 4 };
static const char label[] = "libpprf tls ticket, 2";

static size_t from_hex(const char *hex, uint8_t *out, size_t max)
{
  size_t n = 0;
  while (n < max && sscanf(hex + 2 * n, "%2hhx", &out[n]) == 1)
    n++;
  return n;
}

/* A copy of the pool's memory that may be mapped as the pool's own. */
static int copy_of(int from)
{
  static uint8_t piece[PIECE];
  struct stat st;
  int to = memfd_create("copy", MFD_ALLOW_SEALING);
  if (to < 0 || fstat(from, &st) != 0 || ftruncate(to, st.st_size) != 0)
    return -1;
  for (off_t at = 0; (at = lseek(from, at, SEEK_DATA)) >= 0;) {
    off_t end = lseek(from, at, SEEK_HOLE);
    for (; at < end; at += PIECE) {
      size_t n = end - at < PIECE ? (size_t)(end - at) : PIECE;
      if (pread(from, piece, n, at) != (ssize_t)n || pwrite(to, piece, n, at) != (ssize_t)n)
        return -1;
    }
    at = end;
  }
  return fcntl(to, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0 ? to : -1;
}

static int open_pool(int from, const uint8_t *name, struct origin *origin, uint8_t *value)
{
  uint64_t option[6]; /* bytes, depth, keys, lifetime, rotation, suite: behind the layout's word */
  struct pool *pool;
  pool_ticket ticket;
  int fd = copy_of(from);
  return fd >= 0 && pread(fd, option, sizeof option, 8) == sizeof option &&
         pool_import(&pool, fd, (unsigned)option[1], (unsigned)option[2], option[3], option[4],
                     0) == PPRF_OK &&
         pool_open(pool, ticket_clock(), name, &ticket, origin, value) == PPRF_OK;
}

/* What the ticket's client was asked for, if it is in these bytes: the ticket's IV has it, masked. */
static int search(const uint8_t *bytes, size_t n, const struct ticket_keys *base, const uint8_t *iv,
                  uint8_t out[48])
{
  uint8_t text[sizeof label + CLIENTS_BYTES];
  memcpy(text, label, sizeof label);
  for (size_t at = 0; at + CLIENTS_BYTES <= n; at += STEP) {
    unsigned zeros = 0, same = 0;
    for (unsigned i = 0; i < CLIENTS_BYTES; i++)
      zeros += bytes[at + i] == 0;
    if (zeros > 3) /* it is a digest */
      continue;
    memcpy(text + sizeof label, bytes + at, CLIENTS_BYTES);
    (void)ticket_hmac(ticket_digest(48), base->cipher, sizeof *base, text, sizeof text, out);
    for (unsigned i = 0; i < CLIENTS_BYTES; i++)
      same += (out[sizeof *base + i] ^ bytes[at + i]) == iv[i];
    if (same == CLIENTS_BYTES)
      return 1;
  }
  return 0;
}

static void print(const uint8_t *key)
{
  for (unsigned i = 0; i < PPRF_SEED_BYTES; i++)
    printf("%02x", key[i]);
  printf("\n");
}

int main(int argc, char **argv)
{
  static uint8_t piece[PIECE];
  uint8_t ticket[TICKET_MAX], value[PPRF_SEED_BYTES], out[48];
  struct origin origin = {.suite = PPRF_SHA3_256};
  struct ticket_keys base;
  char path[128], line[512], mode[8];
  uint64_t at, end;
  if (argc < 3 || !ticket_algorithms() || from_hex(argv[2], ticket, sizeof ticket) < 32)
    return 2;
  int known = argc > 3 && from_hex(argv[3], value, sizeof value) == sizeof value;
  (void)snprintf(path, sizeof path, "/proc/%s/mem", argv[1]);
  int mem = open(path, O_RDONLY);
  (void)snprintf(path, sizeof path, "/proc/%s/maps", argv[1]);
  FILE *maps = fopen(path, "r");
  while (maps != NULL && !known && fgets(line, sizeof line, maps) != NULL)
    if (strstr(line, "/memfd:pprf-tickets") != NULL) {
      line[strcspn(line, " ")] = '\0';
      (void)snprintf(path, sizeof path, "/proc/%.16s/map_files/%.32s", argv[1], line);
      int from = open(path, O_RDONLY);
      known = from >= 0 && open_pool(from, ticket, &origin, value);
    }
  if (!known || ticket_derive(&origin, value, &base) == 0)
    return 1;
  rewind(maps);
  while (fgets(line, sizeof line, maps) != NULL) {
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &at, &end, mode) != 3 ||
        strcmp(mode, "rw-p") != 0)
      continue;
    for (; at < end; at += PIECE - CLIENTS_BYTES) {
      ssize_t n = pread(mem, piece, end - at < PIECE ? (size_t)(end - at) : PIECE, (off_t)at);
      if (n <= 0)
        break;
      if (!search(piece, (size_t)n, &base, ticket + NAME_BYTES, out))
        continue;
      print(value);
      print(base.cipher);
      print(base.mac);
      print(out);
      print(out + PPRF_SEED_BYTES);
      return 0;
    }
  }
  return 1;
}
