/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of tickets as bytes (pprf_tickets.h).  TAP.
 * Usage: test_tickets [SEED]   (or from the environment; otherwise random and printed)
 *
 * The format is implemented a second time here, from docs/tickets.md, with OpenSSL's functions.
 * Wrapped functions capture the leaf's value and the name key, and inject failures. */
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pprf_tickets.h"
#include "test.h"
#include "tickets/tickets.h"

/* ---- wrapped functions ---- */

/* Calls of libcrypto and the tree until one fails; -1: none does. */
static long calls_until_failure = -1;
static uint8_t last_value[PPRF_SEED_BYTES]; /* of the last evaluation */
static unsigned evaluations;
/* The 16-byte draws: a new pool's name key, then a new tree's salt (if any) and root. */
static uint8_t random_bytes[4][16];
static unsigned draws;

static unsigned calls_failed; /* so far */
static int lasting;           /* after a failure all calls fail; otherwise only one does */

static int fails(void)
{
  if (calls_until_failure == 0) {
    calls_failed++;
    calls_until_failure = lasting ? 0 : -1;
    return 1;
  }
  calls_until_failure -= calls_until_failure > 0;
  return 0;
}

int __real_pprf_eval(const pprf_key *key, uint64_t leaf, uint8_t out[PPRF_SEED_BYTES]);
int __wrap_pprf_eval(const pprf_key *key, uint64_t leaf, uint8_t out[PPRF_SEED_BYTES]);
int __wrap_pprf_eval(const pprf_key *key, uint64_t leaf, uint8_t out[PPRF_SEED_BYTES])
{
  evaluations++;
  if (fails()) {
    memset(out, 0, PPRF_SEED_BYTES);
    return PPRF_ERR_CRYPTO;
  }
  int err = __real_pprf_eval(key, leaf, out);
  memcpy(last_value, out, sizeof last_value);
  return err;
}

int __real_pprf_punct(pprf_key *key, uint64_t leaf);
int __wrap_pprf_punct(pprf_key *key, uint64_t leaf);
int __wrap_pprf_punct(pprf_key *key, uint64_t leaf)
{
  return fails() ? PPRF_ERR_CRYPTO : __real_pprf_punct(key, leaf);
}

int __real_RAND_priv_bytes(unsigned char *buf, int num);
int __wrap_RAND_priv_bytes(unsigned char *buf, int num);
int __wrap_RAND_priv_bytes(unsigned char *buf, int num)
{
  int good = !fails() && __real_RAND_priv_bytes(buf, num) == 1;
  if (good && num == 16)
    memcpy(random_bytes[draws++ % 4], buf, 16);
  return good;
}

/* WRAP(type, function, parameters, arguments, result of a failure) */
#define WRAP(type, f, parameters, arguments, failure) \
  type __real_##f parameters; \
  type __wrap_##f parameters; \
  type __wrap_##f parameters \
  { \
    return fails() ? (failure) : __real_##f arguments; \
  }
static unsigned cipher_contexts; /* made so far */

EVP_CIPHER_CTX *__real_EVP_CIPHER_CTX_new(void);
EVP_CIPHER_CTX *__wrap_EVP_CIPHER_CTX_new(void);
EVP_CIPHER_CTX *__wrap_EVP_CIPHER_CTX_new(void)
{
  cipher_contexts++;
  return fails() ? NULL : __real_EVP_CIPHER_CTX_new();
}

WRAP(EVP_CIPHER *, EVP_CIPHER_fetch, (OSSL_LIB_CTX *l, const char *name, const char *p),
     (l, name, p), NULL)
WRAP(EVP_MAC *, EVP_MAC_fetch, (OSSL_LIB_CTX *l, const char *name, const char *p), (l, name, p),
     NULL)
WRAP(EVP_MD *, EVP_MD_fetch, (OSSL_LIB_CTX *l, const char *name, const char *p), (l, name, p), NULL)
WRAP(EVP_MAC_CTX *, EVP_MAC_CTX_new, (EVP_MAC *mac), (mac), NULL)
WRAP(EVP_MD_CTX *, EVP_MD_CTX_new, (void), (), NULL)
WRAP(int, EVP_DigestInit_ex2, (EVP_MD_CTX *c, const EVP_MD *md, const OSSL_PARAM *p), (c, md, p), 0)
WRAP(int, EVP_DigestUpdate, (EVP_MD_CTX *c, const void *in, size_t n), (c, in, n), 0)
WRAP(int, EVP_DigestFinal_ex, (EVP_MD_CTX *c, unsigned char *out, unsigned *n), (c, out, n), 0)
WRAP(int, EVP_CipherInit_ex2,
     (EVP_CIPHER_CTX *c, const EVP_CIPHER *cipher, const unsigned char *key,
      const unsigned char *iv, int enc, const OSSL_PARAM *p),
     (c, cipher, key, iv, enc, p), 0)

/* Called while a name is encrypted or decrypted, the first update of an operation. */
static void (*meanwhile)(void);

int __real_EVP_CipherUpdate(EVP_CIPHER_CTX *c, unsigned char *out, int *n, const unsigned char *in,
                            int len);
int __wrap_EVP_CipherUpdate(EVP_CIPHER_CTX *c, unsigned char *out, int *n, const unsigned char *in,
                            int len);
int __wrap_EVP_CipherUpdate(EVP_CIPHER_CTX *c, unsigned char *out, int *n, const unsigned char *in,
                            int len)
{
  void (*act)(void) = meanwhile;
  meanwhile = NULL;
  if (act != NULL)
    act();
  return fails() ? 0 : __real_EVP_CipherUpdate(c, out, n, in, len);
}

WRAP(int, EVP_CipherFinal_ex, (EVP_CIPHER_CTX *c, unsigned char *out, int *n), (c, out, n), 0)
WRAP(int, EVP_MAC_CTX_set_params, (EVP_MAC_CTX *c, const OSSL_PARAM *p), (c, p), 0)
WRAP(int, EVP_MAC_init, (EVP_MAC_CTX *c, const unsigned char *key, size_t n, const OSSL_PARAM *p),
     (c, key, n, p), 0)
WRAP(int, EVP_MAC_update, (EVP_MAC_CTX *c, const unsigned char *in, size_t n), (c, in, n), 0)
WRAP(int, EVP_MAC_final, (EVP_MAC_CTX *c, unsigned char *out, size_t *n, size_t room),
     (c, out, n, room), 0)

/* ---- helpers ---- */

enum { TICKET_MAX = PPRF_TICKET_CONTENT_MAX + PPRF_TICKET_OVERHEAD };

struct sealed {
  uint8_t bytes[512];
  size_t len;
};

static pprf_tickets *new_tickets(unsigned depth)
{
  struct pprf_tickets_options options = {.size = sizeof options, .depth = depth, .suite = suite};
  pprf_tickets *t = NULL;
  draws = 0;
  check(pprf_tickets_new(&t, &options) == PPRF_OK, "new");
  return t;
}

static struct pprf_tickets_stats stats_of(pprf_tickets *t)
{
  struct pprf_tickets_stats s = {.size = sizeof s};
  check(pprf_tickets_stats(t, &s) == PPRF_OK, "stats");
  return s;
}

static struct sealed seal(pprf_tickets *t, const void *content, size_t len)
{
  struct sealed s = {.len = sizeof s.bytes};
  check(pprf_tickets_seal(t, content, len, s.bytes, &s.len) == PPRF_OK, "seal");
  return s;
}

/* Open bytes that must hold this content.  On errors the outputs must be zero. */
static int open_bytes(pprf_tickets *t, const uint8_t *bytes, size_t len, const void *content,
                      size_t content_len, uint64_t *ticket)
{
  static uint8_t out[TICKET_MAX + 64];
  size_t out_len = sizeof out;
  memset(out, 0, len < sizeof out ? len : sizeof out);
  int err = pprf_tickets_open(t, bytes, len, out, &out_len, ticket);
  if (err == PPRF_OK)
    check(out_len == content_len && memcmp(out, content, content_len) == 0 && *ticket != 0,
          "another content");
  else {
    check(out_len == 0 && *ticket == 0, "a length or a ticket beside an error");
    for (size_t i = 0; i < len && i < sizeof out; i++)
      if (!check(out[i] == 0, "content beside an error"))
        break;
  }
  return err;
}

static int opens(pprf_tickets *t, const struct sealed *s, const void *content, size_t len)
{
  uint64_t ticket;
  return open_bytes(t, s->bytes, s->len, content, len, &ticket);
}

/* ---- tests ---- */

static void lengths(void)
{
  static uint8_t content[PPRF_TICKET_CONTENT_MAX + 1], out[TICKET_MAX + 16];
  pprf_tickets *t = new_tickets(10);
  uint64_t ticket;
  for (size_t i = 0; i < sizeof content; i++)
    content[i] = (uint8_t)rnd(256);
  for (size_t len = 0; len <= PPRF_TICKET_CONTENT_MAX;
       len += len < 300 || len > PPRF_TICKET_CONTENT_MAX - 40 ? 1 : 997) {
    size_t need = 0, room;
    check(pprf_tickets_seal(t, content, len, NULL, &need) == PPRF_OK && need > len + 64 &&
            need <= len + PPRF_TICKET_OVERHEAD,
          "%zu: the length alone", len);
    room = need - 1;
    out[0] = 7;
    check(pprf_tickets_seal(t, content, len, out, &room) == PPRF_ERR_BUFFER && room == need &&
            out[0] == 7,
          "%zu: too short", len);
    out[need] = 7;
    check(pprf_tickets_seal(t, len ? content : NULL, len, out, &room) == PPRF_OK && room == need &&
            out[need] == 7 && need < 65536,
          "%zu: seal", len);
    check(open_bytes(t, out, need, content, len, &ticket) == PPRF_OK, "%zu: open", len);
    check(pprf_tickets_redeem(t, ticket, 0) == PPRF_OK, "%zu: redeem", len);
    check(open_bytes(t, out, need, content, len, &ticket) == PPRF_ERR_PUNCTURED, "%zu: again", len);
  }
  size_t n = 5;
  check(pprf_tickets_seal(t, content, sizeof content, out, &n) == PPRF_ERR_RANGE && n == 5,
        "too long");
  pprf_tickets_free(t);
  end_test("contents_of_every_length_come_back_once");
}

/* For every subset of a key's 16 tickets: redeem it, then check which tickets open. */
static void every_subset(void)
{
  enum { LEAVES = 16 };
  for (unsigned set = 0; set < 1u << LEAVES && !tap_missed; set += 1 + (unsigned)rnd(31)) {
    pprf_tickets *t = new_tickets(4);
    struct sealed s[LEAVES];
    uint64_t ticket[LEAVES];
    for (uint8_t i = 0; i < LEAVES; i++) {
      s[i] = seal(t, &i, 1);
      check(open_bytes(t, s[i].bytes, s[i].len, &i, 1, &ticket[i]) == PPRF_OK, "open");
      for (unsigned k = 0; k < i; k++)
        check(ticket[k] != ticket[i], "one leaf twice");
    }
    for (unsigned i = 0; i < LEAVES; i++)
      if (set >> i & 1)
        check(pprf_tickets_redeem(t, ticket[i], 1) == PPRF_OK, "redeem");
    for (uint8_t i = 0; i < LEAVES; i++)
      check(opens(t, &s[i], &i, 1) == (set >> i & 1 ? PPRF_ERR_PUNCTURED : PPRF_OK),
            "set %x: ticket %u", set, i);
    for (unsigned i = 0; i < LEAVES; i++)
      check(pprf_tickets_redeem(t, ticket[i], 1) == (set >> i & 1 ? PPRF_ERR_PUNCTURED : PPRF_OK),
            "set %x: redeem %u", set, i);
    struct pprf_tickets_stats stats = stats_of(t);
    check(stats.nodes == 0 && stats.outstanding == 0 && stats.early_accepted == LEAVES, "stats");
    pprf_tickets_free(t);
  }
  end_test("after_any_redemptions_a_keys_other_tickets_open");
}

static void flips(void)
{
  static const char content[] = "the session's state, of three cipher blocks";
  pprf_tickets *t = new_tickets(10), *other = new_tickets(10);
  struct sealed good = seal(t, content, sizeof content), bad;
  uint64_t ticket;
  struct pprf_tickets_stats before = stats_of(t);
  for (size_t bit = 0; bit < 8 * good.len; bit++) {
    bad = good;
    bad.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    evaluations = 0;
    check(opens(t, &bad, content, sizeof content) == PPRF_ERR_FORMAT, "bit %zu", bit);
    check(evaluations == (bit >= 128), "bit %zu: %u evaluations", bit, evaluations);
  }
  for (unsigned i = 0; i < 255; i++)
    for (size_t at = 0; at < good.len; at++) {
      bad = good;
      bad.bytes[at] = (uint8_t)(bad.bytes[at] + 1 + i);
      check(opens(t, &bad, content, sizeof content) == PPRF_ERR_FORMAT, "byte %zu + %u", at, 1 + i);
    }
  check(opens(other, &good, content, sizeof content) == PPRF_ERR_FORMAT, "another server's");
  struct pprf_tickets_stats after = stats_of(t);
  check(after.nodes == before.nodes && after.outstanding == 1 && after.refused == 0 &&
          after.foreign == before.foreign + (8 + 255) * good.len,
        "something changed");
  /* parts of two good tickets; where the two agree by chance, a mixture may equal one of them */
  struct sealed second = seal(t, content, sizeof content);
  for (size_t cut = 1; cut < good.len; cut++) {
    bad = good;
    memcpy(bad.bytes + cut, second.bytes + cut, good.len - cut);
    int one_of_them = memcmp(bad.bytes, good.bytes, good.len) == 0 ||
                      memcmp(bad.bytes, second.bytes, good.len) == 0;
    check(opens(t, &bad, content, sizeof content) == (one_of_them ? PPRF_OK : PPRF_ERR_FORMAT),
          "mixed at %zu", cut);
  }
  check(open_bytes(t, good.bytes, good.len, content, sizeof content, &ticket) == PPRF_OK &&
          pprf_tickets_redeem(t, ticket, 1) == PPRF_OK,
        "the ticket is good");
  pprf_tickets_free(t);
  pprf_tickets_free(other);
  end_test("a_ticket_with_any_bit_or_byte_changed_is_none_and_burns_none");
}

static void wrong_lengths(void)
{
  static uint8_t bytes[TICKET_MAX + 64];
  static const char content[] = "content";
  pprf_tickets *t = new_tickets(10);
  struct sealed good = seal(t, content, sizeof content);
  uint64_t ticket;
  memcpy(bytes, good.bytes, good.len);
  for (size_t len = 0; len < sizeof bytes; len += len < 1000 || len > TICKET_MAX - 100 ? 1 : 61)
    if (len != good.len) {
      evaluations = 0;
      check(open_bytes(t, bytes, len, content, sizeof content, &ticket) == PPRF_ERR_FORMAT,
            "%zu bytes", len);
      unsigned possible = len >= 80 && len % 16 == 0 && len < 65536;
      check(evaluations == possible, "%zu bytes: %u evaluations", len, evaluations);
    }
  for (size_t from = 1; from < good.len; from++)
    check(open_bytes(t, good.bytes + from, good.len - from, content, sizeof content, &ticket) ==
            PPRF_ERR_FORMAT,
          "from byte %zu", from);
  check(opens(t, &good, content, sizeof content) == PPRF_OK, "the ticket is good");
  pprf_tickets_free(t);
  end_test("a_ticket_cut_or_lengthened_is_none");
}

static void null_and_room(void)
{
  uint8_t out[256], in[8] = {0};
  size_t len = sizeof out;
  uint64_t ticket = 1;
  pprf_tickets *t = new_tickets(10);
  struct sealed s = seal(t, "x", 1);
  check(pprf_tickets_seal(NULL, in, 8, out, &len) == PPRF_ERR_NULL &&
          pprf_tickets_seal(t, NULL, 8, out, &len) == PPRF_ERR_NULL &&
          pprf_tickets_seal(t, in, 8, out, NULL) == PPRF_ERR_NULL,
        "seal");
  check(pprf_tickets_open(NULL, s.bytes, s.len, out, &len, &ticket) == PPRF_ERR_NULL &&
          ticket == 0 && pprf_tickets_open(t, NULL, 8, out, &len, &ticket) == PPRF_ERR_NULL &&
          pprf_tickets_open(t, s.bytes, s.len, NULL, &len, &ticket) == PPRF_ERR_NULL &&
          pprf_tickets_open(t, s.bytes, s.len, out, NULL, &ticket) == PPRF_ERR_NULL &&
          pprf_tickets_open(t, s.bytes, s.len, out, &len, NULL) == PPRF_ERR_NULL,
        "open");
  check(pprf_tickets_redeem(NULL, 1, 0) == PPRF_ERR_NULL &&
          pprf_tickets_release(NULL, 1) == PPRF_ERR_NULL,
        "redeem, release");
  for (size_t room = 0; room < 20; room++) {
    len = room;
    memset(out, 7, sizeof out);
    int err = pprf_tickets_open(t, s.bytes, s.len, out, &len, &ticket);
    if (room < 15)
      check(err == PPRF_ERR_BUFFER && len == 15 && out[0] == 7 && ticket == 0, "room %zu", room);
    else
      check(err == PPRF_OK && len == 1 && out[0] == 'x' && out[15] == 7, "room %zu", room);
  }
  const uint64_t wrong[] = {
    0, 1, ticket + 1, ticket ^ UINT64_C(1) << 32, ticket | UINT64_C(1) << 63, UINT64_MAX};
  for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++)
    check(pprf_tickets_redeem(t, wrong[i], 1) == PPRF_ERR_PUNCTURED &&
            pprf_tickets_release(t, wrong[i]) == PPRF_OK,
          "never issued: %u", i);
  check(opens(t, &s, "x", 1) == PPRF_OK, "the ticket is good");
  check(pprf_tickets_release(t, ticket) == PPRF_OK && opens(t, &s, "x", 1) == PPRF_OK &&
          pprf_tickets_redeem(t, ticket, 0) == PPRF_OK &&
          pprf_tickets_release(t, ticket) == PPRF_OK && opens(t, &s, "x", 1) == PPRF_ERR_PUNCTURED,
        "released, redeemed, released");
  pprf_tickets_free(t);

  t = new_tickets(10); /* freed by its maker, used by another process */
  s = seal(t, "x", 1);
  check(opens(t, &s, "x", 1) == PPRF_OK, "open");
  int go[2], status = 1;
  check(pipe(go) == 0, "pipe");
  pid_t pid = fork();
  if (pid == 0) {
    char c;
    (void)close(go[1]);
    (void)!read(go[0], &c, 1);
    len = sizeof out;
    int e1 = pprf_tickets_seal(t, in, 8, out, &len), e2 = opens(t, &s, "x", 1);
    _exit(!(e1 == PPRF_ERR_PUNCTURED && e2 != PPRF_OK && out[0] == 0 && tap_missed == 0));
  }
  pprf_tickets_free(t);
  (void)close(go[0]), (void)close(go[1]);
  check(waitpid(pid, &status, 0) == pid && status == 0, "the other process: %x", (unsigned)status);
  end_test("wrong_arguments_and_freed_tickets_are_refused");
}

/* Each call of libcrypto and the tree fails in turn, alone or with all later ones. */
static void failures(int all)
{
  static const uint8_t content[] = "content of a ticket";
  static const uint8_t zero[256];
  pprf_tickets *t = NULL;
  long k;
  lasting = all;
  for (k = 0; k < 100; k++) {
    calls_until_failure = k;
    int err = pprf_tickets_new(&t, NULL);
    calls_until_failure = -1;
    if (err == PPRF_OK)
      break;
    check(t == NULL && err == PPRF_ERR_CRYPTO, "new fails at call %ld: %d", k, err);
  }
  check(k > 0 && t != NULL, "new made no call that can fail");
  struct sealed first = seal(t, content, sizeof content), s;
  long sealing, opening;
  for (sealing = 0; sealing < 100; sealing++) {
    uint8_t out[256];
    size_t len = sizeof out;
    memset(out, 0, sizeof out);
    calls_until_failure = sealing;
    int err = pprf_tickets_seal(t, content, sizeof content, out, &len);
    calls_until_failure = -1;
    if (err == PPRF_OK)
      break;
    check(err == PPRF_ERR_CRYPTO && memcmp(out, zero, sizeof out) == 0, "seal, call %ld: %d",
          sealing, err);
  }
  check(sealing >= 8 && stats_of(t).not_issued == (uint64_t)sealing, "%ld calls fail", sealing);
  for (opening = 0; opening < 100; opening++) {
    calls_until_failure = opening;
    int err = opens(t, &first, content, sizeof content);
    calls_until_failure = -1;
    if (err == PPRF_OK)
      break;
    check(err == PPRF_ERR_CRYPTO, "open, call %ld: %d", opening, err);
  }
  check(opening >= 8, "%ld calls fail", opening);
  uint64_t ticket;
  check(open_bytes(t, first.bytes, first.len, content, sizeof content, &ticket) == PPRF_OK, "open");
  calls_until_failure = 0;
  check(pprf_tickets_redeem(t, ticket, 1) == PPRF_ERR_CRYPTO, "redeem fails");
  calls_until_failure = -1;
  check(opens(t, &first, content, sizeof content) == PPRF_OK, "the ticket is as it was");
  check(pprf_tickets_redeem(t, ticket, 1) == PPRF_OK, "redeem");
  s = seal(t, content, sizeof content);
  check(opens(t, &s, content, sizeof content) == PPRF_OK, "another ticket");
  printf("# calls that can fail: new %ld, seal %ld, open %ld\n", k, sealing, opening);
  pprf_tickets_free(t);
  end_test(all ? "every_failure_inside_is_reported_and_leaves_nothing"
               : "every_single_failure_inside_is_reported_and_leaves_nothing");
}

/* Each call made for a process's first tickets fails in turn, each in a new process, while this one
 * has no tickets.  After the algorithms comes the PRG, which may cope or fail. */
static int first_tickets(long calls)
{
  /* fetched, three calls for each half of a zero key, and the trial */
  enum { ALGORITHMS = 4 + 4 * 3 + 23 };
  pprf_tickets *t = NULL;
  calls_until_failure = calls;
  int err = pprf_tickets_new(&t, NULL), failed = calls_failed > 0;
  calls_until_failure = -1;
  /* failing to allocate a digest's state is reported as no memory */
  check((err == PPRF_OK && calls >= ALGORITHMS) ||
          (failed && (err == PPRF_ERR_CRYPTO || (err == PPRF_ERR_NOMEM && calls >= ALGORITHMS))),
        "call %ld: %d", calls, err);
  check((t != NULL) == (err == PPRF_OK), "call %ld: tickets", calls);
  if (err != PPRF_OK)
    err = pprf_tickets_new(&t, NULL);
  struct sealed s = {.len = sizeof s.bytes};
  if (err == PPRF_OK)
    err = pprf_tickets_seal(t, (const uint8_t *)"content", 7, s.bytes, &s.len);
  check(err == PPRF_OK || (failed && err == PPRF_ERR_CRYPTO), "call %ld, then: %d", calls, err);
  check(err != PPRF_OK || opens(t, &s, "content", 7) == PPRF_OK, "call %ld: open", calls);
  pprf_tickets_free(t);
  fflush(stdout);
  return tap_missed > 0 ? 1 : failed ? 2 : 0;
}

static void missing_algorithms(void)
{
  long calls = 0;
  int status;
  fflush(stdout);
  do {
    pid_t pid = fork();
    if (pid == 0)
      _exit(first_tickets(calls));
    status = 1;
    check(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) != 1,
          "call %ld: %x", calls, (unsigned)status);
  } while (WIFEXITED(status) && WEXITSTATUS(status) == 2 && ++calls < 200);
  check(calls > 39 && calls < 200, "%ld calls that can fail", calls);
  end_test("without_its_algorithms_a_process_has_no_tickets");
}

/* ---- residue of derivations ---- */

static uint8_t leaf_value[PPRF_SEED_BYTES];
static struct origin leaf_origin;
static struct ticket_keys derived;
static int copied; /* control: leave the secret where it must be found */
static atomic_int derived_so_far, looked_so_far;

__attribute__((noinline)) static void leave_copy(const void *secret, size_t bytes)
{
  volatile uint8_t copy[64];
  for (size_t i = 0; i < bytes && i < sizeof copy; i++)
    copy[i] = ((const uint8_t *)secret)[i];
  (void)copy[0];
}

/* Makes no call, so that the memory below the caller's frame stays unchanged until it is
 * searched. */
static inline __attribute__((always_inline)) void wait_for_the_look(void)
{
  atomic_store(&derived_so_far, 1);
  while (!atomic_load(&looked_so_far))
    ;
}

static void *derive(void *arg)
{
  int good = ticket_derive(&leaf_origin, leaf_value, &derived);
  if (copied)
    leave_copy(&derived, sizeof derived);
  wait_for_the_look();
  return good ? arg : NULL;
}

/* A ticket without its MAC, and that. */
static pprf_tickets *asked;
static struct sealed forged;
static uint8_t right_mac[32];

static void *refuse(void *arg)
{
  static uint8_t out[sizeof forged.bytes];
  size_t len = sizeof out;
  uint64_t ticket;
  int err = pprf_tickets_open(asked, forged.bytes, forged.len, out, &len, &ticket);
  if (copied)
    leave_copy(right_mac, sizeof right_mac);
  wait_for_the_look();
  return err == PPRF_ERR_FORMAT ? arg : NULL;
}

static uint8_t ticket_value[PPRF_SEED_BYTES]; /* the value of that ticket's leaf */

static void *seal_one(void *arg)
{
  forged.len = sizeof forged.bytes;
  int err = pprf_tickets_seal(asked, (const uint8_t *)"content", 7, forged.bytes, &forged.len);
  wait_for_the_look();
  return err == PPRF_OK ? arg : NULL;
}

static void *open_one(void *arg)
{
  static uint8_t out[sizeof forged.bytes];
  size_t len = sizeof out;
  uint64_t ticket;
  int err = pprf_tickets_open(asked, forged.bytes, forged.len, out, &len, &ticket);
  if (copied)
    leave_copy(ticket_value, sizeof ticket_value);
  wait_for_the_look();
  return err == PPRF_OK ? arg : NULL;
}

static uint8_t hmac_key[64], hmac_out[32], inner_digest[32];

static void *hmac_one(void *arg)
{
  int good = ticket_hmac(ticket_digest(32), hmac_key, 32, (const uint8_t *)"text", 4, hmac_out);
  if (copied)
    leave_copy(inner_digest, sizeof inner_digest);
  wait_for_the_look();
  return good ? arg : NULL;
}

/* The value, on another stack. */
static void learn_value(void)
{
  uint64_t ticket;
  struct origin origin;
  check(asked->backend->open(asked->keys, ticket_clock(), forged.bytes, &ticket, &origin,
                             ticket_value) == PPRF_OK,
        "the ticket's value");
}

/* Run one of these in a thread.  Returns how many of these 8-byte words are then on its stack. */
static unsigned found_on_the_stack_of(void *(*run)(void *), const void *const *word, unsigned count)
{
  enum { STACK = 1 << 18 };
  uint8_t *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  pthread_attr_t attr;
  pthread_t thread;
  void *result = NULL;
  unsigned found = 0;
  atomic_store(&derived_so_far, 0);
  atomic_store(&looked_so_far, 0);
  if (!check(stack != MAP_FAILED && pthread_attr_init(&attr) == 0 &&
               pthread_attr_setstack(&attr, stack, STACK) == 0 &&
               pthread_create(&thread, &attr, run, stack) == 0,
             "a thread"))
    return UINT_MAX;
  while (!atomic_load(&derived_so_far))
    (void)sched_yield();
  if (run == seal_one)
    learn_value();
  for (unsigned k = 0; k < count; k++)
    for (size_t at = 0; at + 8 <= STACK; at++)
      found += memcmp(stack + at, word[k], 8) == 0;
  atomic_store(&looked_so_far, 1);
  check(pthread_join(thread, &result) == 0 && result == stack, "the thread failed");
  (void)pthread_attr_destroy(&attr);
  (void)munmap(stack, STACK);
  return found;
}

/* Words of a ticket's keys, and of the value they come from, on the stack of a thread that derived
 * them. */
static unsigned left_on_the_stack(void)
{
  const uint8_t *keys = (const uint8_t *)&derived;
  const void *secret[] = {leaf_value, leaf_value + 8, keys, keys + 8, keys + 16, keys + 24};
  for (unsigned i = 0; i < sizeof leaf_value; i++)
    leaf_value[i] = (uint8_t)rnd(256);
  leaf_origin = (struct origin){.suite = suite, .leaf = rnd(UINT64_C(1) << 32)};
  for (unsigned i = 0; i < sizeof leaf_origin.salt; i++)
    leaf_origin.salt[i] = (uint8_t)rnd(256);
  return found_on_the_stack_of(derive, secret, 6);
}

/* An attacker who reads the expected MAC can forge the ticket. */
static void mac_residue(void)
{
  const void *secret[] = {right_mac, right_mac + 8, right_mac + 16};
  asked = new_tickets(10);
  for (unsigned i = 0; i < 20; i++) {
    forged = seal(asked, "content", 7);
    memcpy(right_mac, forged.bytes + forged.len - sizeof right_mac, sizeof right_mac);
    memset(forged.bytes + forged.len - sizeof right_mac, 0, sizeof right_mac);
    copied = 1;
    check(found_on_the_stack_of(refuse, secret, 3) >= 3, "control: a MAC on the stack is found");
    copied = 0;
    check(found_on_the_stack_of(refuse, secret, 3) == 0, "the MAC is left");
  }
  pprf_tickets_free(asked);
  end_test("refusing_a_ticket_leaves_its_right_mac_nowhere_on_the_stack");
}

/* An attacker who reads a leaf's value has its ticket's keys. */
static void value_residue(void)
{
  const void *secret[] = {ticket_value, ticket_value + 8};
  asked = new_tickets(10);
  for (unsigned i = 0; i < 20; i++) {
    check(found_on_the_stack_of(seal_one, secret, 2) == 0, "sealing leaves the value");
    copied = 1;
    check(found_on_the_stack_of(open_one, secret, 2) >= 2,
          "control: a value on the stack is found");
    copied = 0;
    check(found_on_the_stack_of(open_one, secret, 2) == 0, "opening leaves the value");
    forged.bytes[forged.len - 1] ^= 1;
    check(found_on_the_stack_of(refuse, secret, 2) == 0, "refusing leaves the value");
  }
  pprf_tickets_free(asked);
  end_test("sealing_opening_and_refusing_leave_the_leafs_value_nowhere_on_the_stack");
}

/* HMAC's inner digest is as good as the key, and so is the padded key. */
static void hmac_residue(void)
{
  uint8_t text[64 + 4] = {0}, outer[64];
  const void *secret[] = {
    inner_digest, inner_digest + 8, inner_digest + 16, inner_digest + 24, hmac_key, text, outer};
  asked = new_tickets(10);
  for (unsigned i = 0; i < 20; i++) {
    for (unsigned k = 0; k < 64; k++) {
      hmac_key[k] = k < 32 ? (uint8_t)rnd(256) : 0;
      text[k] = hmac_key[k] ^ 0x36;
      outer[k] = hmac_key[k] ^ 0x5c;
    }
    memcpy(text + 64, "text", 4);
    check(EVP_Digest(text, sizeof text, inner_digest, NULL, EVP_sha256(), NULL) == 1, "a digest");
    copied = 1;
    check(found_on_the_stack_of(hmac_one, secret, 4) >= 4,
          "control: a digest on the stack is found");
    copied = 0;
    check(found_on_the_stack_of(hmac_one, secret, 7) == 0,
          "HMAC leaves its key or the inner digest");
  }
  pprf_tickets_free(asked);
  end_test("hmac_leaves_its_key_and_its_inner_digest_nowhere_on_the_stack");
}

/* Test one version of the suite.  1: a secret is left; 2: the processor cannot run it. */
static int left_by(const char *version)
{
  if (pprf_prg_select(version) != PPRF_OK)
    return 2;
  copied = 1;
  check(left_on_the_stack() >= 4, "control: keys on the stack are found");
  copied = 0;
  for (unsigned i = 0; i < 20; i++)
    check(left_on_the_stack() == 0, "%s: something is left", version);
  fflush(stdout);
  return tap_missed > 0;
}

/* prg_wipe goes as deep as any version that the process has used: so each has a process of its own, and this
 * one has used none yet. */
static void residue(void)
{
  static const char *const version[] = {"aes-vaes",      "aes-ni",  "aes-armv8",
                                        "aes-bitsliced", "aes-evp", "avx512",
                                        "avx2",          "scalar",  "evp"};
  unsigned used = 0;
  fflush(stdout);
  for (unsigned v = 0; v < sizeof version / sizeof *version; v++) {
    int status = 1;
    if ((suite == PPRF_AES_128) != (v < 5))
      continue;
    pid_t pid = fork();
    if (pid == 0)
      _exit(left_by(version[v]));
    check(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) != 1,
          "%s: %x", version[v], (unsigned)status);
    used += status == 0;
  }
  check(used >= 2, "%u versions", used);
  end_test("deriving_a_tickets_keys_leaves_none_on_the_stack");
}

/* ---- names in use ---- */

static pprf_tickets *busy;
static struct sealed earlier, between;
static long fails_at;

static void use_it_meanwhile(void)
{
  calls_until_failure = fails_at;
  between = (struct sealed){.len = sizeof between.bytes};
  int err = pprf_tickets_seal(busy, (const uint8_t *)"between", 7, between.bytes, &between.len);
  calls_until_failure = -1;
  int opened = opens(busy, &earlier, "earlier", 7);
  if (fails_at < 0)
    check(err == PPRF_OK && opened == PPRF_OK, "while a name is made: %d, %d", err, opened);
  else
    check(err == PPRF_ERR_CRYPTO && opened == PPRF_OK, "call %ld fails: %d, %d", fails_at, err,
          opened);
}

/* Another thread may seal while one is using the name key. */
static void names_meanwhile(void)
{
  busy = new_tickets(10);
  earlier = seal(busy, "earlier", 7);
  fails_at = -1;
  meanwhile = use_it_meanwhile;
  struct sealed outer = seal(busy, "outer", 5);
  check(meanwhile == NULL, "no name was made");
  check(opens(busy, &outer, "outer", 5) == PPRF_OK &&
          opens(busy, &between, "between", 7) == PPRF_OK,
        "both are good");
  meanwhile = use_it_meanwhile;
  check(opens(busy, &outer, "outer", 5) == PPRF_OK, "open");
  check(meanwhile == NULL && opens(busy, &between, "between", 7) == PPRF_OK,
        "the one made meanwhile");
  /* after the evaluation: its own context, key, block */
  for (fails_at = 1; fails_at <= 3; fails_at++) {
    meanwhile = use_it_meanwhile;
    check(opens(busy, &outer, "outer", 5) == PPRF_OK, "open");
  }
  cipher_contexts = 0;
  (void)seal(busy, "last", 4);
  check(cipher_contexts == 1, "contexts of a ticket, its own and others: %u", cipher_contexts);
  pprf_tickets_free(busy);
  end_test("names_are_made_while_another_is");
}

static void extract(void)
{
  static const uint8_t no_salt[48];
  uint8_t secret[48], out[64], want[64];
  for (size_t size = 32; size <= 48; size += 16)
    for (unsigned i = 0; i < 50; i++) {
      for (size_t k = 0; k < size; k++)
        secret[k] = (uint8_t)rnd(256);
      memset(out, 7, sizeof out);
      HMAC(size == 32 ? EVP_sha256() : EVP_sha384(), no_salt, (int)size, secret, size, want, NULL);
      check(ticket_extract(ticket_digest(size), secret, out) && memcmp(out, want, size) == 0 &&
              out[size] == 7,
            "%zu bytes", size);
    }
  long k;
  for (k = 0; k < 20; k++) {
    calls_until_failure = k;
    int good = ticket_extract(ticket_digest(48), secret, out);
    calls_until_failure = -1;
    if (good)
      break;
  }
  check(k == 5, "%ld calls can fail", k);
  end_test("extracting_without_a_salt_is_hmac_under_zeros");
}

/* ---- the format, a second time ---- */

/* docs/suites.md with libcrypto's functions: the two children of the node with this in-order id. */
static void expand(const uint8_t node[16], const uint8_t salt[16], uint64_t id, uint8_t out[32])
{
  uint8_t in[40], block[32];
  memcpy(in, node, 16);
  memcpy(in + 16, salt, 16);
  for (unsigned i = 0; i < 8; i++)
    in[32 + i] = (uint8_t)(id >> 8 * i);
  if (suite != PPRF_AES_128) {
    check(EVP_Digest(in, suite == PPRF_SHA3_256 ? 16 : 40, out, NULL, EVP_sha3_256(), NULL) == 1,
          "SHA3-256");
    return;
  }
  for (unsigned i = 0; i < 32; i++)
    block[i] = (uint8_t)(salt[i % 16] ^ (i % 16 < 8 ? in[32 + i % 16] : i == 24));
  EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
  int n;
  check(EVP_EncryptInit_ex(c, EVP_aes_128_ecb(), NULL, node, NULL) == 1 &&
          EVP_CIPHER_CTX_set_padding(c, 0) == 1 && EVP_EncryptUpdate(c, out, &n, block, 32) == 1,
        "AES-128");
  EVP_CIPHER_CTX_free(c);
}

static void format(void)
{
  enum { DEPTH = 12 };
  uint8_t content[100], keys[32], mac[32], out[512], name[16];
  pprf_tickets *t = new_tickets(DEPTH);
  uint8_t name_key[16], value[32];
  memcpy(name_key, random_bytes[0], sizeof name_key);
  for (size_t len = 0; len < sizeof content; len++) {
    for (size_t i = 0; i < len; i++)
      content[i] = (uint8_t)rnd(256);
    struct sealed s = seal(t, content, len);
    size_t text = s.len - 64;
    /* walk from the first tree's root to leaf number len, and then to the leaf's own children */
    const uint8_t *salt = random_bytes[1], *root = random_bytes[suite == PPRF_SHA3_256 ? 1 : 2];
    check(draws == (suite == PPRF_SHA3_256 ? 2 : 3), "%u draws", draws);
    memcpy(value, root, 16);
    for (unsigned h = DEPTH; h > 0; h--) {
      expand(value, salt, (2 * (len >> h << h)) + (UINT64_C(1) << h), out);
      memcpy(value, out + 16 * (len >> (h - 1) & 1), 16);
    }
    check(memcmp(value, last_value, 16) == 0, "%zu: the leaf's value", len);
    expand(value, salt, 2 * len + 1, keys);
    HMAC(EVP_sha256(), keys + 16, 16, s.bytes, s.len - 32, mac, NULL);
    check(memcmp(mac, s.bytes + s.len - 32, 32) == 0, "%zu: the MAC", len);
    check(memcmp(s.bytes, s.bytes + 16, 16) == 0, "%zu: the IV", len);
    EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
    int n = 0, last = 0;
    check(EVP_DecryptInit_ex(c, EVP_aes_128_cbc(), NULL, keys, s.bytes + 16) == 1 &&
            EVP_DecryptUpdate(c, out, &n, s.bytes + 32, (int)text) == 1 &&
            EVP_DecryptFinal_ex(c, out + n, &last) == 1 && (size_t)(n + last) == len &&
            memcmp(out, content, len) == 0,
          "%zu: the content", len);
    (void)EVP_CIPHER_CTX_reset(c);
    uint64_t ticket, at = 0;
    check(open_bytes(t, s.bytes, s.len, content, len, &ticket) == PPRF_OK, "open");
    check(EVP_DecryptInit_ex(c, EVP_aes_128_ecb(), NULL, name_key, NULL) == 1 &&
            EVP_CIPHER_CTX_set_padding(c, 0) == 1 &&
            EVP_DecryptUpdate(c, name, &n, s.bytes, 16) == 1,
          "the name");
    for (unsigned i = 8; i-- > 0;)
      at = at << 8 | name[i];
    check(at == ticket && at == (UINT64_C(1) << 32) + len &&
            memcmp(name + 8, "\0\0\0\0\0\0\0", 8) == 0,
          "%zu: the name", len);
    EVP_CIPHER_CTX_free(c);
  }
  pprf_tickets_free(t);
  end_test("a_ticket_is_what_the_document_says_byte_by_byte");
}

/* Leaf ids are odd; nodes that a tree expands have even ids. */
static void versions(void)
{
  static const char *const version[] = {"aes-vaes",      "aes-ni",  "aes-armv8",
                                        "aes-bitsliced", "aes-evp", "avx512",
                                        "avx2",          "scalar",  "evp"};
  const char *aes = pprf_aes_name(), *sha3 = pprf_prg_name();
  unsigned used = 0;
  for (unsigned v = 0; v < sizeof version / sizeof *version; v++) {
    if ((suite == PPRF_AES_128) != (v < 5) || pprf_prg_select(version[v]) != PPRF_OK)
      continue;
    used++;
    for (unsigned i = 0; i < 200; i++) {
      uint8_t value[16], want[32];
      struct origin from = {.suite = suite, .leaf = rnd(UINT64_C(1) << rnd(33))};
      struct ticket_keys keys;
      for (unsigned k = 0; k < 16; k++) {
        value[k] = (uint8_t)rnd(256);
        from.salt[k] = (uint8_t)rnd(256);
      }
      expand(value, from.salt, 2 * from.leaf + 1, want);
      check(ticket_derive(&from, value, &keys) && memcmp(keys.cipher, want, 16) == 0 &&
              memcmp(keys.mac, want + 16, 16) == 0,
            "%s: leaf %llu", version[v], (unsigned long long)from.leaf);
    }
  }
  check(used >= 2, "%u versions", used);
  check(pprf_prg_select(aes) == PPRF_OK && pprf_prg_select(sha3) == PPRF_OK, "as before");
  end_test("each_version_of_a_suite_derives_what_the_document_says");
}

/* ---- races ---- */

enum { TICKETS = 2000, RACERS = 4 };
struct race {
  atomic_uint arrived, wins[TICKETS], used[TICKETS];
};

static void run_race(struct race *race, pprf_tickets *t, const struct sealed *s)
{
  (void)atomic_fetch_add(&race->arrived, 1);
  while (atomic_load(&race->arrived) < RACERS)
    ;
  for (unsigned i = 0; i < TICKETS; i++) {
    uint64_t ticket;
    int err = open_bytes(t, s[i].bytes, s[i].len, &i, sizeof i, &ticket);
    if (err == PPRF_OK && pprf_tickets_redeem(t, ticket, 1) == PPRF_OK)
      (void)atomic_fetch_add(&race->wins[i], 1);
    else
      (void)atomic_fetch_add(&race->used[i], 1);
    if (tap_missed)
      _exit(1);
  }
}

static void races(void)
{
  struct race *race =
    mmap(NULL, sizeof *race, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pprf_tickets *t = new_tickets(16);
  static struct sealed s[TICKETS];
  pid_t pid[RACERS];
  for (unsigned i = 0; i < TICKETS; i++)
    s[i] = seal(t, &i, sizeof i);
  fflush(stdout);
  for (unsigned r = 0; r < RACERS; r++)
    if ((pid[r] = fork()) == 0) {
      run_race(race, t, s);
      _exit(0);
    }
  for (unsigned r = 0; r < RACERS; r++) {
    int status = 1;
    check(waitpid(pid[r], &status, 0) == pid[r] && status == 0, "racer %u", r);
  }
  for (unsigned i = 0; i < TICKETS; i++)
    check(race->wins[i] == 1 && race->used[i] == RACERS - 1, "ticket %u: %u wins", i,
          race->wins[i]);
  struct pprf_tickets_stats stats = stats_of(t);
  check(stats.early_accepted == TICKETS && stats.outstanding == 0, "stats");
  pprf_tickets_free(t);
  (void)munmap(race, sizeof *race);
  end_test("of_four_processes_exactly_one_redeems_each_ticket");
}

/* ---- structures that grow ---- */

static void sizes(void)
{
  struct {
    struct pprf_tickets_options o;
    unsigned later[4];
  } newer = {.o = {.size = sizeof newer, .depth = 5}};
  struct {
    struct pprf_tickets_stats s;
    uint64_t later[4];
  } stats;
  pprf_tickets *t;
  check(pprf_tickets_bad_option(&newer.o) == NULL && pprf_tickets_new(&t, &newer.o) == PPRF_OK,
        "a newer program that sets nothing new");
  struct sealed s = seal(t, "x", 1);
  memset(&stats, 7, sizeof stats);
  stats.s.size = sizeof stats;
  check(pprf_tickets_stats(t, &stats.s) == PPRF_OK && stats.s.size == sizeof stats &&
          stats.s.issued == 1 && stats.later[0] == 0 && stats.later[3] == 0,
        "its statistics");
  check(opens(t, &s, "x", 1) == PPRF_OK, "open");
  memset(&stats, 7, sizeof stats);
  stats.s.size = sizeof stats.s;
  check(pprf_tickets_stats(t, &stats.s) == PPRF_OK &&
          stats.later[0] == UINT64_C(0x0707070707070707),
        "bytes behind the structure");
  stats.s.size = offsetof(struct pprf_tickets_stats, memory_bytes);
  check(pprf_tickets_stats(t, &stats.s) == PPRF_TLS_ERR_OPTION, "statistics too small");
  pprf_tickets_free(t);
  newer.later[3] = 1;
  check(pprf_tickets_new(&t, &newer.o) == PPRF_TLS_ERR_OPTION && t == NULL &&
          strncmp(pprf_tickets_bad_option(&newer.o), "size", 4) == 0,
        "an option not known");
  end_test("structures_may_be_longer_or_shorter_than_the_librarys");
}

/* ---- suites ---- */

/* The default suite depends on the library's choice of an AES version. */
static void suites(void)
{
  struct {
    const char *name;
    unsigned suite;
  } named[] = {{"sha3-256", PPRF_SHA3_256},
               {"sha3-256-salted", PPRF_SHA3_256_SALTED},
               {"aes-128", PPRF_AES_128},
               {"", 0},
               {"aes", 0},
               {"aes-1280", 0},
               {"AES-128", 0},
               {"sha3-256 ", 0},
               {"mls-sha256", 0},
               {NULL, 0}};
  for (unsigned i = 0; i < sizeof named / sizeof *named; i++)
    check(pprf_tickets_suite(named[i].name) == named[i].suite, "name %u", i);
  static const char *const version[] = {"aes-vaes", "aes-ni", "aes-armv8", "aes-bitsliced",
                                        "aes-evp"};
  const char *before = pprf_aes_name();
  for (unsigned v = 0; v < 5; v++)
    if (pprf_prg_select(version[v]) == PPRF_OK) {
      pprf_tickets *t = new_tickets(6);
      unsigned want = v < 3 ? PPRF_AES_128 : PPRF_SHA3_256_SALTED;
      check(stats_of(t).suite == want, "%s: suite %llu", version[v],
            (unsigned long long)stats_of(t).suite);
      struct sealed s = seal(t, "x", 1);
      check(opens(t, &s, "x", 1) == PPRF_OK, "%s: open", version[v]);
      pprf_tickets_free(t);
    }
  check(pprf_prg_select(before) == PPRF_OK, "as before");
  for (unsigned i = 1; i <= PPRF_AES_128; i++) { /* exported; import naming it, another one, none */
    struct pprf_tickets_options o = {.size = sizeof o, .depth = 6, .suite = i}, other = o, any = o;
    other.suite = i % PPRF_AES_128 + 1;
    any.suite = 0;
    pprf_tickets *t, *q;
    int fd = -1;
    check(pprf_tickets_new(&t, &o) == PPRF_OK && stats_of(t).suite == i, "suite %u", i);
    struct sealed s = seal(t, "x", 1);
    check(pprf_tickets_export(t, &fd) == PPRF_OK, "export");
    check(pprf_tickets_import(&q, fd, &other) == PPRF_TLS_ERR_OPTION && q == NULL, "another");
    for (unsigned k = 0; k < 2; k++) {
      check(pprf_tickets_import(&q, fd, k == 0 ? &o : &any) == PPRF_OK && stats_of(q).suite == i,
            "suite %u: import", i);
      check(opens(q, &s, "x", 1) == PPRF_OK, "suite %u: open", i);
      pprf_tickets_free(q);
    }
    (void)close(fd);
    pprf_tickets_free(t);
  }
  end_test("the_suite_is_what_is_named_or_aes_128_where_the_processor_has_it");
}

/* ---- rotate, revoke, hand over ---- */

static void life(void)
{
  pprf_tickets *t = new_tickets(10), *same = t;
  struct pprf_tickets_options options = {.size = sizeof options, .depth = 10}, other = options;
  struct sealed first = seal(t, "1", 1);
  int fd = -2;
  check(pprf_tickets_rotate(NULL) == PPRF_ERR_NULL && pprf_tickets_revoke(NULL) == PPRF_ERR_NULL &&
          pprf_tickets_export(NULL, &fd) == PPRF_ERR_NULL && fd == -1 &&
          pprf_tickets_export(t, NULL) == PPRF_ERR_NULL &&
          pprf_tickets_import(NULL, 0, NULL) == PPRF_ERR_NULL,
        "NULL");
  check(pprf_tickets_rotate(t) == PPRF_OK && opens(t, &first, "1", 1) == PPRF_OK, "rotate");
  struct sealed second = seal(t, "2", 1);
  check(pprf_tickets_export(t, &fd) == PPRF_OK && fd > 2, "export");
  other.lifetime = 7201;
  check(pprf_tickets_import(&same, fd, &other) == PPRF_TLS_ERR_OPTION && same == NULL, "lifetime");
  check(pprf_tickets_import(&same, 0, &options) == PPRF_TLS_ERR_FD && same == NULL, "not a state");
  check(pprf_tickets_import(&same, fd, &options) == PPRF_OK, "import");
  (void)close(fd);
  pprf_tickets_free(t);
  uint64_t ticket;
  check(opens(same, &first, "1", 1) == PPRF_OK &&
          open_bytes(same, second.bytes, second.len, "2", 1, &ticket) == PPRF_OK &&
          pprf_tickets_redeem(same, ticket, 0) == PPRF_OK &&
          pprf_tickets_redeem(same, ticket, 0) == PPRF_ERR_PUNCTURED,
        "it lives on");
  check(pprf_tickets_revoke(same) == PPRF_OK && opens(same, &first, "1", 1) == PPRF_ERR_PUNCTURED,
        "revoke");
  struct sealed third = seal(same, "3", 1);
  check(opens(same, &third, "3", 1) == PPRF_OK, "a new ticket");
  struct pprf_tickets_stats s = stats_of(same);
  check(s.issued == 3 && s.resumed == 1 && s.outstanding == 1, "stats");
  pprf_tickets_free(same);
  end_test("tickets_are_rotated_revoked_and_handed_over");
}

static void run(void)
{
  lengths();
  every_subset();
  flips();
  wrong_lengths();
  null_and_room();
  failures(0);
  failures(1);
  names_meanwhile();
  extract();
  races();
  sizes();
  life();
}

int main(int argc, char **argv)
{
  begin_random(argc > 1 ? argv[1] : NULL, "test_tickets");
  missing_algorithms(); /* first, since it needs a process without tickets */
  for (suite = PPRF_SHA3_256; suite <= PPRF_AES_128; suite++)
    residue();
  for (suite = PPRF_SHA3_256; suite <= PPRF_AES_128; suite++) {
    format();
    versions();
  }
  suite = 0;
  mac_residue();
  value_residue();
  hmac_residue();
  suites();
  suite = PPRF_SHA3_256_SALTED;
  run();
  suite = PPRF_AES_128;
  run();
  return tap_end();
}
