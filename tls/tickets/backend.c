/* SPDX-License-Identifier: Apache-2.0 */
/* The pool of one machine, as a backend. */
#include "backend.h"

#include "pool.h"

_Static_assert(NAME_BYTES == POOL_NAME_BYTES, "names are the pool's");

static int issue(void *keys, uint64_t now, uint8_t name[NAME_BYTES], struct origin *origin,
                 uint8_t value[PPRF_SEED_BYTES])
{
  return pool_issue(keys, now, name, origin, value);
}

static int open_ticket(void *keys, uint64_t now, const uint8_t name[NAME_BYTES], uint64_t *ticket,
                       struct origin *origin, uint8_t value[PPRF_SEED_BYTES])
{
  return pool_open(keys, now, name, ticket, origin, value);
}

static int redeem(void *keys, uint64_t now, uint64_t ticket, int early)
{
  return pool_redeem(keys, now, ticket, early);
}

/* Opening changes nothing, so there is nothing to release. */
static void release(void *keys, uint64_t ticket)
{
  (void)keys;
  (void)ticket;
}

static int expire(void *keys, uint64_t now)
{
  return pool_expire(keys, now);
}

static int rotate(void *keys, uint64_t now)
{
  return pool_rotate(keys, now);
}

static int revoke(void *keys, uint64_t now)
{
  return pool_revoke(keys, now);
}

static void count(void *keys, enum backend_count what)
{
  if (what == COUNT_NOT_ISSUED)
    pool_count_not_issued(keys);
  else if (what == COUNT_FOREIGN)
    pool_count_foreign(keys);
  else
    pool_count_kept(keys);
}

static void stats(void *keys, struct pprf_tickets_stats *s)
{
  pool_stats(keys, s);
}

static int export(void *keys, int *fd)
{
  return pool_export(keys, fd);
}

static void adopt(void *keys)
{
  pool_adopt(keys);
}

static void close_pool(void *keys)
{
  pool_close(keys);
}

static void free_pool(void *keys)
{
  pool_free(keys);
}

static void *memory(void *keys, size_t *bytes, size_t *public)
{
  return pool_memory(keys, bytes, public);
}

const struct backend pool_backend = {.offers = 16,
                                     .issue = issue,
                                     .open = open_ticket,
                                     .redeem = redeem,
                                     .release = release,
                                     .expire = expire,
                                     .rotate = rotate,
                                     .revoke = revoke,
                                     .count = count,
                                     .stats = stats,
                                     .export = export,
                                     .adopt = adopt,
                                     .close = close_pool,
                                     .free = free_pool,
                                     .memory = memory};
