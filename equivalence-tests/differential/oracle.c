/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pprf.h"
#include "prg.h"

static FILE *to, *from;
static char line[256];
static pid_t child;
static int paused;

static void stop(const char *what)
{
  fprintf(stderr, "oracle: %s\n", what);
  exit(99);
}

/* libFuzzer's clock interrupts the wait for an answer: have the kernel resume it. */
static void wait_through_alarms(void)
{
  struct sigaction a;
  if (sigaction(SIGALRM, NULL, &a) != 0)
    stop("cannot read the signal handler");
  a.sa_flags |= SA_RESTART;
  if (sigaction(SIGALRM, &a, NULL) != 0)
    stop("cannot set the signal handler");
}

void oracle_start(const char *program)
{
  int down[2], up[2];
  paused = 0;
  wait_through_alarms();
  if (to != NULL)
    return;
  if (access(program, X_OK) != 0)
    stop("the program does not exist");
  (void)signal(SIGPIPE, SIG_IGN);
  if (pipe(down) != 0 || pipe(up) != 0)
    stop("no pipe");
  child = fork();
  if (child < 0)
    stop("no process");
  if (child == 0) {
    if (dup2(down[0], 0) < 0 || dup2(up[1], 1) < 0)
      _exit(99);
    close(down[1]);
    close(up[0]);
    execl(program, program, (char *)NULL);
    _exit(99);
  }
  close(down[0]);
  close(up[1]);
  to = fdopen(down[1], "w");
  from = fdopen(up[0], "r");
  if (to == NULL || from == NULL)
    stop("no stream");
}

void oracle_pause(void)
{
  paused = 1;
}

int oracle_running(void)
{
  return to != NULL && !paused;
}

static void answer(void)
{
  fflush(to);
  if (fgets(line, sizeof line, from) == NULL) {
    int status = 0;
    if (ferror(from))
      perror("oracle: cannot read");
    else if (waitpid(child, &status, 0) == child) /* it closed its output, so it has ended */
      fprintf(stderr, "oracle: %s %d\n", WIFSIGNALED(status) ? "ended by signal" : "exit status",
              WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    stop("no answer");
  }
  line[strcspn(line, "\n")] = '\0';
}

/* ok or punctured */
static int result(void)
{
  answer();
  if (strcmp(line, "ok") == 0)
    return PPRF_OK;
  if (strcmp(line, "punctured") != 0)
    stop(line);
  return PPRF_ERR_PUNCTURED;
}

static size_t seed_bytes = 16; /* of the last key set up */

static void unhex(const char *text, uint8_t *out)
{
  if (strlen(text) != 2 * seed_bytes)
    stop(line);
  for (size_t i = 0; i < seed_bytes; i++) {
    unsigned v;
    if (sscanf(text + 2 * i, "%2x", &v) != 1)
      stop(line);
    out[i] = (uint8_t)v;
  }
}

static void put_words(uint64_t lo, uint64_t hi)
{
  for (unsigned i = 0; i < 16; i++)
    fprintf(to, "%02x", (unsigned)((i < 8 ? lo : hi) >> 8 * (i % 8) & 0xff));
}

void oracle_setup(unsigned depth, struct pprf_family family, const uint8_t *seed, int toy)
{
  const int wide = family.suite == PRG_MLS_SHA256;
  seed_bytes = wide ? 32 : 16;
  if (wide) {
    fprintf(to, "prg %s\n", toy ? "path-wide" : "mls");
  } else if (toy || family.suite == PRG_SHA3_256) {
    fprintf(to, "prg %s\n", toy ? "path" : "sha3");
  } else {
    fprintf(to, "prg %s ", family.suite == PRG_AES_128 ? "aes" : "sha3-salted");
    put_words(family.salt_lo, family.salt_hi);
    fprintf(to, "\n");
  }
  if (result() != PPRF_OK)
    stop("prg");
  fprintf(to, "setup %u ", depth);
  for (size_t i = 0; i < seed_bytes; i++)
    fprintf(to, "%02x", seed[i]);
  fprintf(to, "\n");
  if (result() != PPRF_OK)
    stop("setup");
}

int oracle_eval(uint64_t leaf, uint8_t *out)
{
  fprintf(to, "eval %" PRIu64 "\n", leaf);
  answer();
  memset(out, 0, seed_bytes);
  if (strcmp(line, "punctured") == 0)
    return PPRF_ERR_PUNCTURED;
  unhex(line, out);
  return PPRF_OK;
}

int oracle_punct(uint64_t leaf)
{
  fprintf(to, "punct %" PRIu64 "\n", leaf);
  return result();
}

int oracle_punct_range(uint64_t first, uint64_t last)
{
  fprintf(to, "range %" PRIu64 " %" PRIu64 "\n", first, last);
  return result();
}

size_t oracle_count(void)
{
  fprintf(to, "count\n");
  answer();
  return strtoull(line, NULL, 10);
}

uint8_t *oracle_export(unsigned depth, struct pprf_family family, size_t *len)
{
  size_t n = oracle_count(), width = depth / 8 + 1;
  size_t header = family.suite == PRG_SHA3_256 && depth <= 32 ? 16 : 36;
  *len = header + n * (width + seed_bytes);
  uint8_t *bytes = calloc(1, *len + DIGEST_BYTES), *at = bytes + header;
  if (bytes == NULL)
    stop("no memory");
  memcpy(bytes, "PPRFKEY", 7);
  bytes[7] = header == 16 ? 1 : 2;
  bytes[8] = (uint8_t)family.suite;
  bytes[9] = (uint8_t)depth;
  for (unsigned i = 0; i < 8; i++)
    bytes[12 + i] = (uint8_t)((uint64_t)n >> 8 * i); /* at most 100, so four of them are zero */
  for (unsigned i = 0; i < 8 && header == 36; i++) {
    bytes[20 + i] = (uint8_t)(family.salt_lo >> 8 * i);
    bytes[28 + i] = (uint8_t)(family.salt_hi >> 8 * i);
  }
  fprintf(to, "dump\n");
  for (size_t k = 0; k < n; k++) {
    uint64_t start;
    unsigned height;
    char seed[72];
    answer();
    if (sscanf(line, "%" SCNu64 " %u %71s", &start, &height, seed) != 3 || height > depth)
      stop(line);
    uint64_t id = 2 * start + ((uint64_t)1 << height);
    for (size_t i = 0; i < width; i++)
      *at++ = (uint8_t)(id >> 8 * i);
    unhex(seed, at);
    at += seed_bytes;
  }
  answer();
  if (strcmp(line, "end") != 0 || prg_digest(bytes, *len, bytes + *len) != 0)
    stop(line);
  *len += DIGEST_BYTES;
  return bytes;
}
