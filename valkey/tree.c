/* SPDX-License-Identifier: Apache-2.0 */
#include "tree.h"

#include <openssl/rand.h>
#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* An unanswered claim.  A tree's leases are in a list in order of expiry, which is the order of the
 * claims. */
struct lease {
  uint64_t leaf, number, until;
  struct lease *next, *prev;
};

/* Leaves first to end - 1. The owner may hand back a last part of them; owner 0: they are handed
 * back. */
struct range {
  uint64_t owner, first, end;
  struct range *next;
};

struct tree {
  pprf_key *key; /* NULL: the tree is dead */
  uint64_t id, issued, number, until, lease_ms, leases;
  struct range *granted;    /* the last ranges issued to each owner, newest first */
  struct range *back;       /* handed back, not issued again: in order, apart, below issued */
  uint64_t leaves_back, ranges;
  void *by_leaf;            /* a search tree (tsearch) of the leases */
  struct lease first;       /* the list's head: first.next expires first */
  struct tree *next, *prev; /* live trees of the process */
  unsigned depth;
};

/* Protects the list of trees and the counts: FLUSHALL ASYNC frees values in another thread while
 * the main thread sweeps. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct tree trees = {.next = &trees, .prev = &trees};
static struct tree_counts counts;

uint64_t tree_now(void)
{
  struct timespec t;
  (void)clock_gettime(CLOCK_BOOTTIME, &t);
  return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* ---- leases ---- */

static int compare(const void *a, const void *b)
{
  uint64_t x = ((const struct lease *)a)->leaf, y = ((const struct lease *)b)->leaf;
  return x < y ? -1 : x > y;
}

static struct lease *find_lease(const struct tree *t, uint64_t leaf)
{
  struct lease sought = {.leaf = leaf};
  void *found = tfind(&sought, &t->by_leaf, compare);
  return found == NULL ? NULL : *(struct lease **)found;
}

static struct lease *add_lease(struct tree *t, uint64_t leaf)
{
  struct lease *l = malloc(sizeof *l);
  if (l == NULL)
    return NULL;
  *l = (struct lease){leaf, ++t->number, tree_now() + t->lease_ms, &t->first, t->first.prev};
  if (tsearch(l, &t->by_leaf, compare) == NULL) {
    free(l);
    return NULL;
  }
  l->prev->next = l;
  l->next->prev = l;
  t->leases++;
  counts.leases++;
  return l;
}

static void remove_lease(struct tree *t, struct lease *l)
{
  (void)tdelete(l, &t->by_leaf, compare);
  l->prev->next = l->next;
  l->next->prev = l->prev;
  t->leases--;
  counts.leases--;
  free(l);
}

/* Puncture a leased leaf and end the lease; if puncturing fails the lease stays. */
static int puncture_leased(struct tree *t, struct lease *l)
{
  int err = pprf_punct(t->key, l->leaf);
  if (err != PPRF_OK && err != PPRF_ERR_PUNCTURED)
    return err;
  remove_lease(t, l);
  return PPRF_OK;
}

/* ---- leaves that are handed back ---- */

static void remove_range(struct tree *t, struct range **at)
{
  struct range *r = *at;
  *at = r->next;
  t->ranges--;
  free(r);
}

/* Record a range for its owner. Only an owner's newest TREE_GRANTS ranges can be handed back. */
static void grant(struct tree *t, struct range *new)
{
  unsigned n = 0;
  new->next = t->granted;
  t->granted = new;
  t->ranges++;
  for (struct range **at = &t->granted; *at != NULL;)
    if ((*at)->owner == new->owner && ++n > TREE_GRANTS)
      remove_range(t, at);
    else
      at = &(*at)->next;
}

/* Whether any of these leaves is handed back. */
static int is_back(const struct tree *t, uint64_t first, uint64_t last)
{
  const struct range *r = t->back;
  while (r != NULL && r->end <= first)
    r = r->next;
  return r != NULL && r->first <= last;
}

/* An owner puts leaves into tickets in order, so these and those before them in its range can no
 * longer be handed back. */
static void mark_used(struct tree *t, uint64_t first, uint64_t last)
{
  for (struct range **at = &t->granted; *at != NULL;) {
    if (first < (*at)->end && last >= (*at)->first)
      (*at)->first = last + 1;
    if ((*at)->first >= (*at)->end)
      remove_range(t, at);
    else
      at = &(*at)->next;
  }
}

/* Insert the range among those handed back, merged with its neighbours; if it ends at `issued`,
 * lower that. */
static void put_back(struct tree *t, struct range *r)
{
  struct range **at = &t->back;
  t->leaves_back += r->end - r->first;
  while (*at != NULL && (*at)->end < r->first)
    at = &(*at)->next;
  r->next = *at;
  *at = r;
  while (r->next != NULL && r->next->first <= r->end) {
    r->first = r->first < r->next->first ? r->first : r->next->first;
    r->end = r->end > r->next->end ? r->end : r->next->end;
    remove_range(t, &r->next);
  }
  if (r->end == t->issued) {
    t->issued = r->first;
    t->leaves_back -= r->end - r->first;
    remove_range(t, at);
  }
}

/* ---- trees ---- */

static void end(struct tree *t)
{
  if (t->key == NULL)
    return;
  while (t->first.next != &t->first)
    remove_lease(t, t->first.next);
  while (t->granted != NULL)
    remove_range(t, &t->granted);
  while (t->back != NULL)
    remove_range(t, &t->back);
  t->leaves_back = 0;
  t->prev->next = t->next;
  t->next->prev = t->prev;
  counts.live--;
  pprf_free(t->key);
  t->key = NULL;
}

/* With the lock held. */
static void sweep(struct tree *t, uint64_t now)
{
  if (now >= t->until) {
    end(t);
    return;
  }
  while (t->first.next != &t->first && now >= t->first.next->until) {
    if (puncture_leased(t, t->first.next) != PPRF_OK)
      return; /* the next sweep tries again */
    counts.ran_out++;
  }
}

void tree_sweep(void)
{
  uint64_t now = tree_now();
  (void)pthread_mutex_lock(&lock);
  for (struct tree *t = trees.next, *next; t != &trees; t = next) {
    next = t->next;
    sweep(t, now);
  }
  (void)pthread_mutex_unlock(&lock);
}

struct tree *tree_dead(unsigned depth, uint64_t id)
{
  struct tree *t = calloc(1, sizeof *t);
  if (t == NULL)
    return NULL;
  t->depth = depth;
  t->id = id;
  t->first.next = t->first.prev = &t->first;
  return t;
}

int tree_new(struct tree **tree, unsigned depth, uint64_t lifetime, uint64_t lease)
{
  uint64_t id;
  *tree = NULL;
  do
    if (RAND_bytes((unsigned char *)&id, sizeof id) != 1)
      return PPRF_ERR_CRYPTO;
  while (id == 0);
  struct tree *t = tree_dead(depth, id);
  if (t == NULL)
    return PPRF_ERR_NOMEM;
  /* fixed, whatever the library's default: hosts derive tickets' keys from the values by this
   * suite */
  const struct pprf_options o = {.size = sizeof o,
                                 .depth = depth,
                                 .store = PPRF_STORE_SLOTS, /* leases fill a range from its start */
                                 .suite = PPRF_SHA3_256};
  int err = pprf_setup_with(&t->key, &o);
  if (err != PPRF_OK) {
    free(t);
    return err;
  }
  t->lease_ms = lease;
  t->until = tree_now() + lifetime;
  (void)pthread_mutex_lock(&lock);
  t->next = &trees;
  t->prev = trees.prev;
  t->prev->next = t;
  t->next->prev = t;
  counts.live++;
  (void)pthread_mutex_unlock(&lock);
  *tree = t;
  return PPRF_OK;
}

void tree_free(struct tree *t)
{
  (void)pthread_mutex_lock(&lock);
  end(t);
  (void)pthread_mutex_unlock(&lock);
  free(t);
}

/* ---- operations of the commands ---- */

/* Take the lock and check that the tree is live and has this id; its expired leases are ended. */
static int enter(struct tree *t, uint64_t id)
{
  (void)pthread_mutex_lock(&lock);
  if (t->key != NULL)
    sweep(t, tree_now());
  if (t->key != NULL && t->id == id)
    return PPRF_OK;
  counts.dead++;
  (void)pthread_mutex_unlock(&lock);
  return TREE_DEAD;
}

static int leave(int err)
{
  (void)pthread_mutex_unlock(&lock);
  return err;
}

int tree_issue(struct tree *t, uint64_t id, uint64_t owner, uint64_t *first, size_t *n,
               uint8_t *value)
{
  int err = enter(t, id);
  if (err != PPRF_OK)
    return err;
  uint64_t end = t->back != NULL ? t->back->end : UINT64_C(1) << t->depth;
  *first = t->back != NULL ? t->back->first : t->issued;
  size_t count = *n < end - *first ? *n : (size_t)(end - *first);
  *n = count;
  if (count == 0)
    return leave(TREE_FULL);
  uint64_t *leaf = malloc(count * sizeof *leaf);
  struct range *new = malloc(sizeof *new);
  err = leaf != NULL && new != NULL ? PPRF_OK : PPRF_ERR_NOMEM;
  for (size_t i = 0; i < count && err == PPRF_OK; i++)
    leaf[i] = *first + i;
  if (err == PPRF_OK)
    err = pprf_eval_batch(t->key, leaf, count, value, NULL);
  free(leaf);
  if (err != PPRF_OK) {
    free(new);
    return leave(err);
  }
  if (t->back == NULL) {
    t->issued += count;
  } else {
    t->leaves_back -= count;
    t->back->first += count;
    if (t->back->first == t->back->end)
      remove_range(t, &t->back);
  }
  *new = (struct range){owner, *first, *first + count, NULL};
  grant(t, new);
  counts.issued += count;
  return leave(PPRF_OK);
}

int tree_return(struct tree *t, uint64_t id, uint64_t owner, uint64_t first, uint64_t last)
{
  int err = enter(t, id);
  if (err != PPRF_OK)
    return err;
  struct range **at = &t->granted;
  while (*at != NULL && !((*at)->owner == owner && (*at)->first <= first && first <= last &&
                          last == (*at)->end - 1))
    at = &(*at)->next;
  if (*at == NULL)
    return leave(TREE_NOT_YOURS);
  struct range *r = *at;
  *at = r->next;
  r->first = first;
  put_back(t, r);
  counts.returned += last - first + 1;
  return leave(PPRF_OK);
}

void tree_forget(uint64_t owner)
{
  (void)pthread_mutex_lock(&lock);
  for (struct tree *t = trees.next; t != &trees; t = t->next)
    for (struct range **at = &t->granted; *at != NULL;)
      if ((*at)->owner == owner)
        remove_range(t, at);
      else
        at = &(*at)->next;
  (void)pthread_mutex_unlock(&lock);
}

int tree_claim(struct tree *t, uint64_t id, uint64_t leaf, uint64_t *lease, uint8_t value[16])
{
  struct lease *l;
  int err = enter(t, id);
  if (err != PPRF_OK)
    return err;
  if (leaf >= t->issued || is_back(t, leaf, leaf))
    return leave(PPRF_ERR_RANGE);
  if (find_lease(t, leaf) != NULL) {
    counts.busy++;
    return leave(TREE_LEASED);
  }
  if (t->leases >= TREE_LEASES_MAX)
    return leave(TREE_FULL);
  err = pprf_eval(t->key, leaf, value);
  if (err == PPRF_OK && (l = add_lease(t, leaf)) == NULL) {
    explicit_bzero(value, PPRF_SEED_BYTES);
    err = PPRF_ERR_NOMEM;
  }
  if (err == PPRF_OK) {
    *lease = l->number;
    mark_used(t, leaf, leaf);
    counts.claimed++;
  } else if (err == PPRF_ERR_PUNCTURED) {
    counts.used++;
  }
  return leave(err);
}

int tree_commit(struct tree *t, uint64_t id, uint64_t leaf, uint64_t lease)
{
  int err = enter(t, id);
  if (err != PPRF_OK)
    return err;
  struct lease *l = find_lease(t, leaf);
  if (l == NULL || l->number != lease)
    return leave(TREE_OVER);
  err = puncture_leased(t, l);
  if (err == PPRF_OK)
    counts.committed++;
  else /* it can no longer be released, and the sweep retries */
    l->number = 0;
  return leave(err);
}

int tree_release(struct tree *t, uint64_t id, uint64_t leaf, uint64_t lease)
{
  int err = enter(t, id);
  if (err != PPRF_OK)
    return err;
  struct lease *l = find_lease(t, leaf);
  if (l == NULL || l->number != lease)
    return leave(TREE_OVER);
  remove_lease(t, l);
  counts.released++;
  return leave(PPRF_OK);
}

int tree_puncture(struct tree *t, uint64_t id, uint64_t first, uint64_t last)
{
  int err = enter(t, id);
  if (err != PPRF_OK)
    return err;
  if (first > last || last >= t->issued || is_back(t, first, last))
    return leave(PPRF_ERR_RANGE);
  err = pprf_punct_range(t->key, first, last);
  if (err == PPRF_OK) {
    mark_used(t, first, last);
    counts.punctured++;
  }
  return leave(err);
}

struct tree_state tree_look(const struct tree *t)
{
  uint64_t now = tree_now();
  int live = t->key != NULL;
  return (struct tree_state){.id = t->id,
                             .leaves = UINT64_C(1) << t->depth,
                             .issued = t->issued - t->leaves_back,
                             .nodes = live ? pprf_node_count(t->key) : 0,
                             .leases = t->leases,
                             .lifetime_left = live && t->until > now ? t->until - now : 0,
                             .lease = t->lease_ms,
                             .depth = t->depth,
                             .live = live};
}

struct tree_counts tree_counts(void)
{
  (void)pthread_mutex_lock(&lock);
  struct tree_counts c = counts;
  (void)pthread_mutex_unlock(&lock);
  return c;
}

size_t tree_memory(const struct tree *t)
{
  size_t bytes =
    sizeof *t + t->leases * (sizeof(struct lease) + 64) + t->ranges * (sizeof(struct range) + 16);
  return t->key == NULL ? bytes : bytes + pprf_memory_bytes(t->key);
}
