/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: hostile tickets.  The input is a program over pprf_tickets.h: contents are sealed, tickets
 * are offered as they are, changed, cut, mixed or made up, and redeemed by valid and invalid
 * numbers, and keys are rotated and revoked. A table of the sealed tickets says what must happen:
 *   - a ticket opens, with its content, until it is redeemed or its key is gone;
 *   - anything else is refused as not a ticket, and the outputs are empty;
 *   - each number that was issued can be redeemed once, and no other number. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tickets/pool.h"
#include "pprf_tickets.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

#ifndef KEYS
#define KEYS 4 /* keys held; tls/tests/fuzz.sh checks that another number fails */
#endif
enum { TABLE = 16, CONTENT_MAX = 48, DEPTH = 14, HELD = 4 };

static pprf_tickets *tickets;
static struct entry {
  uint8_t content[CONTENT_MAX], *bytes; /* exact size, so that any overrun is detected */
  size_t content_len, len;
  uint64_t number; /* 0: not opened yet */
  unsigned key;    /* counts keys */
  int used;
} table[TABLE];
static unsigned entries, keys; /* in total */
static int rotated;            /* the next ticket comes from a new key */

static void must(int good, const char *what)
{
  if (good)
    return;
  fprintf(stderr, "fuzz_tickets: %s\n", what);
  abort();
}

/* Not memcmp: libFuzzer would learn the compared names and put them into later inputs, where a name
 * from before a revocation belongs to a ticket that the table has forgotten. */
static int same(const uint8_t *a, const uint8_t *b, size_t n)
{
  uint8_t differ = 0;
  for (size_t i = 0; i < n; i++)
    differ |= a[i] ^ b[i];
  return differ == 0;
}

static int is_good(const struct entry *e)
{
  return !e->used && keys - e->key < KEYS;
}

static void start_over(void)
{
  for (unsigned i = 0; i < TABLE; i++)
    free(table[i].bytes);
  memset(table, 0, sizeof table);
  entries = keys = 0;
  rotated = 1;
  must(pprf_tickets_revoke(tickets) == PPRF_OK, "revoke");
}

static void seal(const uint8_t *content, size_t len)
{
  struct entry *e = &table[entries++ % TABLE];
  free(e->bytes);
  keys += (unsigned)rotated;
  rotated = 0;
  *e = (struct entry){.content_len = len, .key = keys};
  memcpy(e->content, content, len);
  must(pprf_tickets_seal(tickets, content, len, NULL, &e->len) == PPRF_OK, "the length");
  e->bytes = malloc(e->len);
  must(e->bytes != NULL && pprf_tickets_seal(tickets, content, len, e->bytes, &e->len) == PPRF_OK,
       "seal");
}

/* Whether the name belongs to a used or lost ticket: then the rest is not examined. */
static int names_a_used_one(const uint8_t *bytes, size_t len)
{
  for (unsigned i = 0; i < TABLE; i++)
    if (table[i].bytes != NULL && !is_good(&table[i]) && len >= 80 && len % 16 == 0 &&
        same(bytes, table[i].bytes, 16))
      return 1;
  return 0;
}

/* e: the expected ticket; NULL: none. */
static void offer(const uint8_t *bytes, size_t len, struct entry *e, size_t room)
{
  uint8_t *out = malloc(room > 0 ? room : 1);
  size_t n = room;
  uint64_t number = 1;
  must(out != NULL, "no memory");
  int err = pprf_tickets_open(tickets, bytes, len, out, &n, &number);
  if (err == PPRF_ERR_BUFFER)
    must(n > room && n < len && number == 0, "room");
  else if (e == NULL)
    must(err == (names_a_used_one(bytes, len) ? PPRF_ERR_PUNCTURED : PPRF_ERR_FORMAT) && n == 0 &&
           number == 0,
         "no ticket was taken for one");
  else if (!is_good(e))
    must(err == PPRF_ERR_PUNCTURED && n == 0 && number == 0, "a used ticket was opened");
  else {
    must(err == PPRF_OK && n == e->content_len && memcmp(out, e->content, n) == 0, "the content");
    must(number != 0 && (e->number == 0 || e->number == number), "the number");
    e->number = number;
  }
  free(out);
}

static struct entry *by_number(uint64_t number)
{
  for (unsigned i = 0; i < TABLE; i++)
    if (table[i].number == number && number != 0)
      return &table[i];
  return NULL;
}

/* A made-up number may name a ticket that was sealed but not opened; its leaf counts from 0. */
static void redeem(uint64_t number, int early)
{
  struct entry *e = by_number(number);
  int err = pprf_tickets_redeem(tickets, number, early);
  if (e != NULL) {
    must(err == (is_good(e) ? PPRF_OK : PPRF_ERR_PUNCTURED), "redeem");
    e->used = 1;
  } else {
    must(err == PPRF_ERR_PUNCTURED, "a number that was not given out was redeemed");
  }
}

struct input {
  const uint8_t *at, *end;
};

static unsigned next(struct input *in)
{
  return in->at < in->end ? *in->at++ : 0;
}

static size_t take(struct input *in, size_t most, const uint8_t **bytes)
{
  size_t n = next(in) % (most + 1), left = (size_t)(in->end - in->at);
  *bytes = in->at;
  n = n < left ? n : left;
  in->at += n;
  return n;
}

static void changed(struct input *in, const struct entry *e)
{
  uint8_t *copy = malloc(e->len);
  must(copy != NULL, "no memory");
  memcpy(copy, e->bytes, e->len);
  for (unsigned n = next(in) % 4 + 1; n > 0; n--) {
    unsigned at = next(in) << 8;
    at |= next(in);
    copy[at % e->len] ^= (uint8_t)next(in);
  }
  if (!same(copy, e->bytes, e->len))
    offer(copy, e->len, NULL, e->len);
  free(copy);
}

/* The first bytes of one ticket and the last of another; both may be the same ticket. */
static void mixed(struct input *in, const struct entry *a, const struct entry *b)
{
  size_t head = (next(in) * 2 + next(in) % 2) % (a->len + 1), tail = next(in) % (b->len + 1);
  uint8_t *copy = malloc(head + tail + 1);
  must(copy != NULL, "no memory");
  memcpy(copy, a->bytes, head);
  memcpy(copy + head, b->bytes + b->len - tail, tail);
  size_t len = head + tail;
  int is_a = len == a->len && same(copy, a->bytes, len);
  int is_b = len == b->len && same(copy, b->bytes, len);
  if (!is_a && !is_b) {
    uint8_t *exact = malloc(len > 0 ? len : 1);
    must(exact != NULL, "no memory");
    memcpy(exact, copy, len);
    offer(exact, len, NULL, len);
    free(exact);
  }
  free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
  struct input in = {bytes, bytes + len};
  const uint8_t *part;
  if (tickets == NULL) {
    struct pprf_tickets_options options = {.size = sizeof options, .depth = DEPTH};
    while (pool_keys(DEPTH, options.memory) < HELD)
      options.memory += 4096;
    must(pprf_tickets_new(&tickets, &options) == PPRF_OK, "new");
  }
  start_over();
  while (in.at < in.end) {
    unsigned op = next(&in), which = next(&in);
    unsigned had = entries < TABLE ? entries : TABLE;
    struct entry *e = had > 0 ? &table[which % had] : NULL;
    if (op % 8 == 0 || e == NULL) {
      size_t n = take(&in, CONTENT_MAX, &part);
      seal(part, n);
    } else if (op % 8 == 1) {
      offer(e->bytes, e->len, e, op & 8 ? next(&in) : e->len);
    } else if (op % 8 == 2) {
      changed(&in, e);
    } else if (op % 8 == 3) {
      mixed(&in, e, &table[next(&in) % had]);
    } else if (op % 8 == 4) {
      size_t n = take(&in, 255, &part);
      uint8_t *made_up = malloc(n > 0 ? n : 1);
      must(made_up != NULL, "no memory");
      memcpy(made_up, part, n);
      offer(made_up, n, NULL, n);
      free(made_up);
    } else if (op % 8 == 5) {
      offer(e->bytes, e->len, e, e->len); /* its number */
      if (e->number != 0)
        redeem(e->number, op & 8);
    } else if (op % 8 == 6) { /* close to a valid number: another key, or no such leaf */
      if (e->number != 0) {
        uint64_t wrong = e->number ^ (UINT64_C(1) << (14 + which % 50));
        if (by_number(wrong) == NULL && (uint32_t)wrong >> 14 != 0)
          redeem(wrong, 0);
      }
    } else if ((op & 24) == 0) {
      start_over();
    } else {
      must(pprf_tickets_rotate(tickets) == PPRF_OK, "rotate");
      rotated = 1;
    }
  }
  return 0;
}
