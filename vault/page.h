/* SPDX-License-Identifier: Apache-2.0 */
/** @file page.h
 * Pages as bytes: sealing, encoding, and the nodes of a leaf page. */
#ifndef PPRF_VAULT_PAGE_H
#define PPRF_VAULT_PAGE_H

#include <stdbool.h>

#include "pprf_vault.h"

enum {
  KEY = 32,            /* bytes of a page key and of a root's salt */
  TAG = 16,            /* bytes that sealing adds */
  PUBLIC = 44,         /* bytes of a store's public head */
  SEALED_MAX = 4056,   /* a row: it fills one page of SQLite, so another one goes in its place */
  PAGE_MAX = SEALED_MAX - TAG,
  PAGE_HEAD = 11,      /* level, count in 2 bytes, in a root the vault's nodes in 8 */
  LEAF_HEAD = PAGE_HEAD + 8, /* and the start of the first node */
  ENTRY = 16 + KEY,    /* of an inner page: first leaf, row, key */
  FAN = (PAGE_MAX - PAGE_HEAD) / ENTRY,
  NODES_OF_NODE = 2 * (PPRF_DEPTH_MAX - 1) /* at most, that a range leaves of a node */
};

/** A node of a cover: the seed above the leaves start .. start + 2^height - 1. */
struct node {
  uint64_t start;
  unsigned height;
  uint8_t seed[PPRF_VALUE_BYTES_MAX];
};

/** Nodes of a cover, in leaf order, no two of them siblings.  Their memory is in no core dump, a child of fork finds it
 * zeroed, and it is locked if the process may lock a megabyte more. */
struct nodes {
  struct node *at;
  size_t count, room;
};
/** Where a vault has the memory for its nodes: large mappings, since a mapping of its own for each page takes longer
 * than reading the page.  All zeros: none yet. */
struct arena {
  struct slab *slabs;
};
/** Give the last mapping back, when all nodes are freed. */
void arena_end(struct arena *arena);

/** The tree, as the public head of its store describes it: magic (8), depth, suite, two zeros, salt (16), identity
 * (16).  The head is associated data of each page. */
struct tree {
  uint8_t head[PUBLIC];
  unsigned depth, suite;
  size_t seed; /* bytes of one */
  struct arena *arena;
};
#define PAGE_MAGIC "PPRFVLT\1"
enum { SALT_AT = 12, ID_AT = 28 };
/** Fill the rest from the head. @return whether it is one. */
bool tree_of_head(struct tree *tree);

/** Set this thread's message. @return err */
int fail(int err, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** fail with the text of a result of pprf.h; the results of this library keep their message. */
int failed(int err, const char *what);

void wipe_free(void *memory, size_t bytes);
/** A descriptor with a lock.  The lock lasts as long as any copy of the descriptor, so a child of fork closes its own. */
struct descriptor {
  int fd; /* -1: none */
  struct descriptor *next;
};
/** open(2), but as none of 0 to 2, to which the program may write. @return whether it is open; else errno says why */
bool descriptor_open(struct descriptor *d, const char *path, int flags);
void descriptor_close(struct descriptor *d);
int sync_directory(const char *path);
void put_le(uint8_t *out, uint64_t value, unsigned bytes);
uint64_t get_le(const uint8_t *in, unsigned bytes);
/** Random bytes. @retval PPRF_OK or PPRF_ERR_CRYPTO (reported) */
int draw(uint8_t *out, size_t bytes);
/** 32 bytes by HKDF-SHA256. */
int derive(uint8_t out[KEY], const uint8_t *secret, size_t bytes, const uint8_t salt[KEY],
           const char *info);
/** AES-256-GCM; the tag follows the text.  len: of the text.
 * @retval PPRF_OK, PPRF_ERR_CRYPTO, when opening PPRF_VAULT_ERR_DAMAGED; not reported, out is zeroed. */
int gcm(bool seal, const uint8_t key[KEY], const uint8_t nonce[12], const uint8_t *with,
        size_t with_bytes, const uint8_t *in, size_t len, uint8_t *out);

/** Seal a page, PAGE_MAX bytes to SEALED_MAX, under a key that seals nothing else, or open it. */
int page_gcm(bool seal, const struct tree *tree, uint64_t row, const uint8_t key[KEY],
             const uint8_t *in, uint8_t *out);

/** Bytes that a node takes in a leaf page, after a node that ends at `end`. */
size_t node_bytes(const struct tree *tree, const struct node *node, uint64_t end);
/** Encode a leaf page of count nodes, which must fit; zeros follow. */
void leaf_encode(const struct tree *tree, const struct node *node, size_t count,
                 uint8_t plain[PAGE_MAX]);
/** Decode one into `nodes`, which is empty, and check that its nodes are a cover's.
 * @retval PPRF_OK, PPRF_ERR_NOMEM, PPRF_VAULT_ERR_DAMAGED (not reported) */
int leaf_decode(const struct tree *tree, const uint8_t plain[PAGE_MAX], struct nodes *nodes);
/** Whether a node may follow another one in a cover. */
bool node_follows(const struct node *before, const struct node *node);

/** Have room for `count` nodes. @retval PPRF_OK or PPRF_ERR_NOMEM: nothing has changed */
int nodes_reserve(const struct tree *tree, struct nodes *nodes, size_t count);
/** Wipe them and give their memory back. */
void nodes_free(const struct tree *tree, struct nodes *nodes);
/** The value of a leaf. @retval PPRF_OK, PPRF_ERR_PUNCTURED, or an error of pprf_eval (not reported) */
int nodes_eval(const struct tree *tree, const struct nodes *nodes, uint64_t leaf, uint8_t *out);
/** Puncture leaves first .. last. @retval PPRF_OK, PPRF_ERR_PUNCTURED: none of them was left, or another error of
 * pprf_punct_range (not reported): nothing has changed */
int nodes_erase(const struct tree *tree, struct nodes *nodes, uint64_t first, uint64_t last);
/** The nodes of a key of at most NODES_OF_NODE. */
int nodes_of_key(struct node *node, size_t *count, const struct tree *tree, const pprf_key *key);

#endif
