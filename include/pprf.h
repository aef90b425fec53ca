/* SPDX-License-Identifier: Apache-2.0 */
/** @file pprf.h
 * A puncturable pseudorandom function (PPRF) built on the Goldreich-Goldwasser-Micali (GGM) tree.
 *
 * A key of depth d is a function from the leaves 0 .. 2^d - 1 to values of 16 bytes, or of 32 bytes in
 * the suite PPRF_MLS_SHA256.  Puncturing a leaf removes its value from the key for good: every other
 * leaf keeps its value, and nobody who reads the key afterwards can compute the lost one.
 *
 * The path from the root to a leaf reads the leaf's d bits from the most significant one down
 * (0 = left).  A node's seed yields its children's seeds by the key's suite (PPRF_SHA3_256 and the
 * others below).
 *
 * Secrets.  Seeds and values are secret: no branch and no address depends on them, and they are
 * wiped as soon as they are not needed.  The depth, the set of punctured leaves, and time and
 * memory use, which depend on that set, are public.
 *
 * Errors.  On every error the key is exactly as it was, and an output value is zeroed.
 *
 * Memory.  Outputs overlap neither each other nor inputs, and inputs do not change while a function
 * reads them: else the results, and what a key then holds, may be wrong.  But each leaf and each
 * position in a key file is read once and then checked, so nothing outside the outputs is written
 * even then.  In pprf_punct_batch result may overlap leaf.
 *
 * Threads.  One key may be read (eval, eval_batch, expand, node_count, memory_bytes, memory_locked, depth,
 * suite, value_bytes, export) by many threads at once, or be written (punct, eval_punct, punct_range, punct_batch, prefault,
 * free) by one; the caller keeps the two apart.
 * Different keys are independent.
 *
 * Fork.  A key belongs to the process that made it.  A child that fork makes has a copy of every key,
 * and a second copy would let a leaf be used twice: on a copy every function that returns one of the
 * results below returns PPRF_ERR_FORKED and changes nothing, and the others return 0.  pprf_free takes
 * copies, and new keys can be made and used in the child, whatever the parent's other threads were
 * doing when it forked.  So a daemon makes its keys after the fork that puts it in the background.
 *   To share a key with children, make it with PPRF_SHARED.  To move one, pprf_export it, fork,
 * pprf_import it in the child and pprf_free it in the parent; the encoding is to be wiped in both.
 *   What shares the parent's memory (a child of vfork, or of clone with CLONE_VM) has the same key, not
 * a copy, and uses it as the parent's other threads do.  The copy is told by a page that the kernel
 * clears at a fork (MADV_WIPEONFORK, Linux 4.14), else by pthread_atfork, which sees fork but neither
 * _Fork nor a bare clone.
 */
#ifndef PPRF_H
#define PPRF_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Who embeds the library may define it as nothing, and compile with -fvisibility=hidden. */
#ifndef PPRF_API
#ifdef __GNUC__
#define PPRF_API __attribute__((visibility("default")))
#else
#define PPRF_API
#endif
#endif

/** The version of this header; pprf_version gives the library's. */
#define PPRF_VERSION_MAJOR 0
#define PPRF_VERSION_MINOR 3
#define PPRF_VERSION_PATCH 0
#define PPRF_VERSION "0.3.0"

/** Bytes in a seed and in the value of a leaf (128 bits), in all suites but PPRF_MLS_SHA256. */
#define PPRF_SEED_BYTES 16
/** The most bytes that a seed and the value of a leaf have in any suite (256 bits).  pprf_value_bytes says
 * how many a key's have. */
#define PPRF_VALUE_BYTES_MAX 32
/** Bytes in the salt of a key (128 bits).  It is public. */
#define PPRF_SALT_BYTES 16
/** Least and greatest depth of a tree. */
#define PPRF_DEPTH_MIN 1
#define PPRF_DEPTH_MAX 63
/** Greatest depth of a tree whose seeds lie in pair slots, PPRF_STORE_SLOTS: a deeper one has a packed
 * store. */
#define PPRF_SLOTS_DEPTH_MAX 32

/** Results of every function that returns int. */
enum {
  PPRF_OK = 0,            /**< done */
  PPRF_ERR_PUNCTURED = 1, /**< the leaf, or every leaf of the range, was punctured before */
  PPRF_ERR_RANGE = 2,     /**< depth not in 1..63, leaf >= 2^depth, first > last, or an option that
                               this library does not know */
  PPRF_ERR_NOMEM = 3,     /**< memory or address space is short */
  PPRF_ERR_CRYPTO = 4,    /**< the digest or the random generator failed */
  PPRF_ERR_FORMAT = 5,    /**< the bytes are not a key that pprf_export writes */
  PPRF_ERR_BUFFER = 6,    /**< the buffer is too short; *len says how long it must be */
  PPRF_ERR_NULL = 7,      /**< a pointer that must not be NULL is NULL */
  PPRF_ERR_FORKED = 8,    /**< the key is a copy that fork made: it belongs to the parent process */
  PPRF_ERR_SUITE = 9      /**< the key's suite is not one that this library knows, or that the function
                               takes */
};

/** Suites: how a node's seed gives its children's.  docs/suites.md says which to choose.  The id of a
 * node (start, height) is 2 start + 2^height in 8 bytes, little-endian. */
enum {
  PPRF_SHA3_256 = 1,        /**< sha3-256: the halves of SHA3-256(seed); it has no salt */
  PPRF_SHA3_256_SALTED = 2, /**< sha3-256-salted: the halves of SHA3-256(seed || salt || id) */
  PPRF_AES_128 = 3,         /**< aes-128: of side b, 0 or 1, AES-128 under the seed of
                                 salt XOR (id || b in one byte || seven zero bytes) */
  PPRF_MLS_SHA256 = 4       /**< mls-sha256: the secret tree of MLS (RFC 9420) under SHA-256,
                                 ExpandWithLabel(seed, "tree", "left" or "right", 32).  Seeds and
                                 values have 32 bytes; it has no salt.  pprf_setup_with and
                                 pprf_import_with alone make such keys: no other function writes more
                                 than 16 bytes a value */
};

/** A set of suites has the bit of each. */
#define PPRF_SUITE_BIT(suite) (UINT64_C(1) << (suite))
/** The suites whose values have 16 bytes, those whose values have 32. */
#define PPRF_SUITES_16_BYTES \
  (PPRF_SUITE_BIT(PPRF_SHA3_256) | PPRF_SUITE_BIT(PPRF_SHA3_256_SALTED) | \
   PPRF_SUITE_BIT(PPRF_AES_128))
#define PPRF_SUITES_32_BYTES PPRF_SUITE_BIT(PPRF_MLS_SHA256)

/** A punctured key: the seeds of the maximal subtrees without a punctured leaf. */
typedef struct pprf_key pprf_key;

/** Make a new key: nothing is punctured yet.  Its suite is PPRF_SHA3_256_SALTED, with a random salt,
 * if the root's seed is random, and PPRF_SHA3_256, the thesis's function, if it is given: values have
 * PPRF_SEED_BYTES bytes.
 * @param[out] key   the new key, to be given back with pprf_free; NULL on error.
 * @param[in]  depth tree levels below the root, 1..63: the key has 2^depth leaves.
 * @param[in]  seed  PPRF_SEED_BYTES bytes, the root's seed; NULL: drawn from OpenSSL's
 *                   RAND_priv_bytes, or in a child of the process that loaded the library from
 *                   getrandom, which needs no lock.  The caller wipes its own copy.
 * @retval PPRF_OK         *key is a key with one node, the root.
 * @retval PPRF_ERR_NULL   key is NULL.
 * @retval PPRF_ERR_RANGE  depth is not in 1..63.
 * @retval PPRF_ERR_NOMEM  no memory.
 * @retval PPRF_ERR_CRYPTO the random generator or the digest is not available. */
PPRF_API int pprf_setup(pprf_key **key, unsigned depth, const uint8_t seed[PPRF_SEED_BYTES]);

/** Flag of pprf_options: a process and its children, theirs too, use one key, each after its fork what
 * the others changed.  The key lies in memory that they share, at one address.  It takes the threads'
 * rules among processes: the callers keep the writer and the readers apart, for instance by a robust
 * mutex in shared memory of their own.  A process that dies while it writes leaves the key in no state
 * to be used.  pprf_free lets go of the key in the calling process alone; the system wipes the memory
 * when no process has it any more. */
#define PPRF_SHARED 1u

/** Where a key keeps its seeds; the values, the encoding and the results are the same. */
enum {
  /** What the library takes: a packed store.  At depths 10 to 20 a key becomes one with pair slots when it has
   * more than 2^depth / 8 nodes, and a packed one again when it has fewer than 2^depth / 64: the operation
   * after which it does waits for that, 0.1 to 0.3 us a node.  Where memory is short for the other store, or seeds
   * would no longer be kept out of swap, the key stays as it is.  One that is read from bytes has the store that
   * its nodes ask for; with many nodes a packed one where memory is short for pair slots, or where that one's
   * seeds alone are kept out of swap. */
  PPRF_STORE_DEFAULT = 0,
  /** Pair slots, a mapping of the key's own, up to depth 32: fastest where punctures are dense, no puncture
   * lacks memory; 16 to 21 bytes a node there, a few pages a node where they are few. */
  PPRF_STORE_SLOTS = 1,
  /** 17 to 21 bytes a node from 64 nodes on until half of the leaves are punctured at random, a kilobyte
   * after the first puncture, no mapping of the key's own: for many keys, and for few punctures in a
   * large tree.  Small keys share pages.  (16 bytes a node more, in either store, for PPRF_MLS_SHA256.)
   * pprf_prefault makes it pair slots, up to depth 32. */
  PPRF_STORE_PACKED = 2
};

/** What pprf_setup_with makes.  Later versions of the library add members at the end. */
struct pprf_options {
  size_t size;         /**< sizeof(struct pprf_options) */
  const uint8_t
    *seed;        /**< as for pprf_setup: PPRF_SEED_BYTES bytes, 32 for PPRF_MLS_SHA256; or NULL */
  unsigned depth;      /**< as for pprf_setup: 1..63 */
  unsigned flags;      /**< 0 or PPRF_SHARED */
  unsigned store;      /**< one of PPRF_STORE_*; no packed store is shared, so no key deeper than 32 */
  unsigned suite;      /**< one of the suites above; 0: as for pprf_setup, PPRF_SHA3_256 with a
                            seed and PPRF_SHA3_256_SALTED without */
  const uint8_t *salt; /**< PPRF_SALT_BYTES bytes, or NULL: drawn as a seed is; NULL for a suite
                            without a salt.  One salt serves one key: copies of a key, and keys that
                            are to compute the same function, have the same. */
};

/** Make a new key as options say; what they leave zero is as pprf_setup has it.
 * @param[out] key     the new key, to be given back with pprf_free; NULL on error.
 * @param[in]  options options->size bytes of them.
 * @retval PPRF_ERR_RANGE depth is not in 1..63, a flag or the store is unknown, a packed store is to be
 *                        shared, a depth beyond 32 is to have pair slots or to be shared, a salt is given
 *                        to a suite without one, size is that of no version, or greater than the
 *                        library's and a byte beyond is not zero.
 * @retval PPRF_ERR_SUITE the suite is unknown.
 * @retval PPRF_ERR_NULL  key or options is NULL.
 * @retval others         as pprf_setup. */
PPRF_API int pprf_setup_with(pprf_key **key, const struct pprf_options *options);

/** Evaluate the PPRF at a leaf.
 * @param[in]  key  the key.
 * @param[in]  leaf 0 <= leaf < 2^depth.
 * @param[out] out  as many bytes as the values of the key have: 32 in the suite PPRF_MLS_SHA256, else
 *                  PPRF_SEED_BYTES, also if key is NULL; zeroed on error.
 * @retval PPRF_OK            out holds the leaf's value.
 * @retval PPRF_ERR_PUNCTURED the leaf was punctured.
 * @retval PPRF_ERR_RANGE     leaf >= 2^depth.
 * @retval PPRF_ERR_CRYPTO    the digest failed.
 * @retval PPRF_ERR_NOMEM     no memory for the digest's state.
 * @retval PPRF_ERR_FORKED    the key is a copy that fork made.
 * @retval PPRF_ERR_NULL      key or out is NULL. */
PPRF_API int pprf_eval(const pprf_key *key, uint64_t leaf, uint8_t out[PPRF_SEED_BYTES]);

/** Puncture the key at a leaf: replace the node that covers it by the co-path below that node.
 * @param[in,out] key  the key; as it was on error.
 * @param[in]     leaf 0 <= leaf < 2^depth.
 * @retval PPRF_OK            the leaf's value is gone, every other leaf is as it was.
 * @retval PPRF_ERR_PUNCTURED the leaf was punctured before (another caller won).
 * @retval PPRF_ERR_RANGE     leaf >= 2^depth.
 * @retval PPRF_ERR_NOMEM     no memory.
 * @retval PPRF_ERR_CRYPTO    the digest failed.
 * @retval PPRF_ERR_FORKED    the key is a copy that fork made.
 * @retval PPRF_ERR_NULL      key is NULL. */
PPRF_API int pprf_punct(pprf_key *key, uint64_t leaf);

/** Evaluate at a leaf and puncture it, in one descent: h PRG calls for a node of height h, where
 * pprf_eval and then pprf_punct need 2h.
 * @param[in,out] key  the key; as it was on error.
 * @param[in]     leaf 0 <= leaf < 2^depth.
 * @param[out]    out  as for pprf_eval: the value the leaf had; zeroed on error.
 * @retval as pprf_punct, and PPRF_ERR_NULL if out is NULL. */
PPRF_API int pprf_eval_punct(pprf_key *key, uint64_t leaf, uint8_t out[PPRF_SEED_BYTES]);

/** Puncture every leaf of a range, whatever its length, with at most 2 depth PRG calls.  Leaves of
 * the range that are punctured already do not matter.
 * @param[in,out] key   the key; as it was on error.
 * @param[in]     first first leaf of the range.
 * @param[in]     last  last leaf of the range, first <= last < 2^depth.
 * @retval PPRF_OK            every leaf of the range is punctured, and one at least was not before.
 * @retval PPRF_ERR_PUNCTURED all of them were punctured before.
 * @retval PPRF_ERR_RANGE     first > last or last >= 2^depth.
 * @retval PPRF_ERR_NOMEM     no memory.
 * @retval PPRF_ERR_CRYPTO    the digest failed.
 * @retval PPRF_ERR_FORKED    the key is a copy that fork made.
 * @retval PPRF_ERR_NULL      key is NULL. */
PPRF_API int pprf_punct_range(pprf_key *key, uint64_t first, uint64_t last);

/** Evaluate at many leaves, in any order, repeats allowed: what n calls of pprf_eval would give, but
 * PRG calls run side by side and the nodes above several of the leaves are derived once, within
 * each 1024 of the leaves as they are given.
 * @param[in]  key    the key.
 * @param[in]  leaf   n leaves, each 0 <= leaf[i] < 2^depth.
 * @param[in]  n      number of leaves, 0 allowed.
 * @param[out] out    n values, each as for pprf_eval, in the order of the leaves, zero for a punctured
 *                    leaf; all zero on error.
 * @param[out] result n results, or NULL: PPRF_OK or PPRF_ERR_PUNCTURED; on error the function's
 *                    own result everywhere.
 * @retval PPRF_OK         out and result are set, though leaves may be punctured.
 * @retval PPRF_ERR_RANGE  a leaf is >= 2^depth.
 * @retval PPRF_ERR_NOMEM  no memory; or n is greater than SIZE_MAX divided by the bytes of a value, and
 *                         then nothing is written.
 * @retval PPRF_ERR_CRYPTO the digest failed.
 * @retval PPRF_ERR_FORKED the key is a copy that fork made.
 * @retval PPRF_ERR_NULL   key is NULL, or leaf or out is NULL and n > 0. */
PPRF_API int pprf_eval_batch(const pprf_key *key, const uint64_t *leaf, size_t n, uint8_t *out,
                             int *result);

/** Puncture at many leaves, in any order, all or none: what n calls of pprf_punct would do, with the
 * same number of PRG calls, run side by side.  While it runs it takes 76 bytes of memory a leaf and
 * 32 a new node, 92 and 48 in the suite PPRF_MLS_SHA256; with a packed store 32 more a leaf and 1 a node
 * that the key has, and its new pages, of 4 kB at most: for all nodes of those that hold one of the
 * leaves.  Leaves that lie in very many pages of a packed key, of many million nodes, take longer than
 * one by one.
 * @param[in,out] key    the key; as it was on error.
 * @param[in]     leaf   n leaves, each 0 <= leaf[i] < 2^depth.
 * @param[in]     n      number of leaves, 0 allowed.
 * @param[out]    result n results, or NULL: PPRF_OK, or PPRF_ERR_PUNCTURED if the leaf was punctured
 *                       before or occurs earlier in the batch; on error the function's own result
 *                       everywhere.
 * @retval PPRF_OK         the values of all these leaves are gone, every other leaf is as it was.
 * @retval PPRF_ERR_RANGE  a leaf is >= 2^depth.
 * @retval PPRF_ERR_NOMEM  no memory; or n, or the number of new nodes, is greater than 2^32 - 1; or n is greater than SIZE_MAX divided by the bytes of a value, and
 *                         then nothing is written.
 * @retval PPRF_ERR_CRYPTO the digest failed.
 * @retval PPRF_ERR_FORKED the key is a copy that fork made.
 * @retval PPRF_ERR_NULL   key is NULL, or leaf is NULL and n > 0. */
PPRF_API int pprf_punct_batch(pprf_key *key, const uint64_t *leaf, size_t n, int *result);

/** Takes the values of the live leaves leaf .. leaf + n - 1, n >= 1, and returns 0 to go on.  The
 * values, n times as many bytes as pprf_value_bytes gives, are there until it returns and are wiped
 * later: what it copies is the caller's to wipe.  It may read the key but not change it. */
typedef int pprf_each(void *arg, uint64_t leaf, size_t n, const uint8_t *values);

/** Evaluate at every live leaf of a range and hand the values over in leaf order, with one PRG call
 * for each inner node above them that the key implies.
 * @param[in] key   the key.
 * @param[in] first first leaf of the range.
 * @param[in] last  last leaf of the range, first <= last < 2^depth.
 * @param[in] each  called with runs of consecutive live leaves, no two of them overlapping, never
 *                  with a punctured one; a run's length is bounded and otherwise not specified.
 * @param[in] arg   handed to each.
 * @retval PPRF_OK         each has had all live leaves of the range, perhaps none.
 * @retval PPRF_ERR_RANGE  first > last or last >= 2^depth.
 * @retval PPRF_ERR_NOMEM  no memory.
 * @retval PPRF_ERR_CRYPTO the digest failed; each may have had leaves before that one.
 * @retval PPRF_ERR_FORKED the key is a copy that fork made.
 * @retval PPRF_ERR_NULL   key or each is NULL.
 * @retval other           what each returned that was not 0: it was not called again.  Negative
 *                         values can be told from the results above. */
PPRF_API int pprf_expand(const pprf_key *key, uint64_t first, uint64_t last, pprf_each *each,
                         void *arg);

/** Have all memory that the key can come to need backed now, so that no later puncture waits for a
 * page: a seed for each pair of leaves and a bit and a little for each leaf.  It stays backed
 * until the key is freed: giving the memory of punctured blocks back, as is done otherwise, makes
 * single punctures wait too.  An implementation may have nothing to do.
 * opt's packed keys become ones with pair slots.  Where pprf_memory_locked says that their seeds are kept out
 * of swap and the slots would not be (a greater RLIMIT_MEMLOCK, or a key that has had slots from the outset,
 * helps), that is PPRF_ERR_NOMEM and the key stays as it is.
 * @param[in,out] key the key; no leaf changes.
 * @retval PPRF_OK        no puncture needs memory that is not there.
 * @retval PPRF_ERR_NOMEM the key's memory is more than the machine's, as it always is beyond depth 32,
 *                        the system refused, or seeds would no longer be kept out of swap; some of the memory
 *                        may be backed.
 * @retval PPRF_ERR_FORKED the key is a copy that fork made.
 * @retval PPRF_ERR_NULL  key is NULL. */
PPRF_API int pprf_prefault(pprf_key *key);

/** Name of the version of SHA3-256 in use, never NULL: all compute the same and differ in speed alone.
 * "evp": OpenSSL's; "builtin" in its place in a library built without OpenSSL.  "scalar", "avx2",
 * "avx512": the library's own. */
PPRF_API const char *pprf_prg_name(void);

/** The same of AES-128: "aes-evp" or "aes-builtin"; "aes-bitsliced", "aes-ni", "aes-vaes",
 * "aes-armv8": the library's own. */
PPRF_API const char *pprf_aes_name(void);

/** The same of SHA-256: "sha256-evp" or "sha256-builtin"; "sha256-scalar", "sha256-ni", "sha256-armv8":
 * the library's own. */
PPRF_API const char *pprf_sha256_name(void);

/** Choose the version of SHA3-256, of AES-128 or of SHA-256 for the process.  Without a call it is the one
 * that the environment variable PPRF_PRG, PPRF_AES or PPRF_SHA256 names, else the fastest that the processor
 * can run.  Threads may be using keys.
 * @param[in] name one of the names above.
 * @retval PPRF_OK         it is in use from now on.
 * @retval PPRF_ERR_RANGE  there is none of that name, the processor cannot run it, or it disagrees
 *                         with OpenSSL's; nothing changes.
 * @retval PPRF_ERR_CRYPTO OpenSSL's digest, with which it is compared, failed; nothing changes.
 * @retval PPRF_ERR_NULL   name is NULL. */
PPRF_API int pprf_prg_select(const char *name);

/** Number of nodes (stored seeds) of the key; 0 if key is NULL or a copy that fork made. */
PPRF_API size_t pprf_node_count(const pprf_key *key);

/** Bytes of memory the key really holds: heap blocks with the allocator's overhead and mapped
 * pages that are backed by memory; of a packed store the key's blocks of the pages that small keys
 * share, without what is free there; 0 if key is NULL or a copy that fork made. */
PPRF_API size_t pprf_memory_bytes(const pprf_key *key);

/** Depth of the tree; 0 if key is NULL or a copy that fork made. */
PPRF_API unsigned pprf_depth(const pprf_key *key);

/** The key's suite, one of those above; 0 if key is NULL or a copy that fork made. */
PPRF_API unsigned pprf_suite(const pprf_key *key);

/** Bytes of the value of each leaf, and of a seed: 16, or 32 in the suite PPRF_MLS_SHA256; 0 if key is NULL
 * or a copy that fork made. */
PPRF_API size_t pprf_value_bytes(const pprf_key *key);

/** The name of a suite, as the comments above give it: "sha3-256"; NULL if it is unknown. */
PPRF_API const char *pprf_suite_name(unsigned suite);

/** Whether the key's seeds are kept out of swap.  Those that a call derives lie on the stack, or, in pprf_eval_batch,
 * pprf_punct_batch and pprf_expand, in blocks of malloc, until it wipes them: these are not locked.
 * @retval 1 they are locked in memory.
 *           Of a key made with PPRF_SHARED: those that the process itself has derived or pprf_prefault
 *           has touched, not those that another process derived.
 * @retval 0 the limit on locked memory (RLIMIT_MEMLOCK) forbade it, the implementation does not
 *           lock, or key is NULL or a copy that fork made; or it was made with PPRF_SHARED in another process: a child
 *           does not have its parent's locks. */
PPRF_API int pprf_memory_locked(const pprf_key *key);

/** Write the key's canonical encoding (docs/key-file.md): equal keys give equal bytes, whatever
 * the order of punctures.  The bytes are as secret as the key.
 * @param[in]     key the key.
 * @param[out]    buf where the bytes go; NULL: only the length is computed.
 * @param[in,out] len in: bytes that buf holds (not read when buf is NULL); out: bytes of the
 *                    encoding, also with PPRF_ERR_BUFFER.
 * @retval PPRF_OK         buf (if not NULL) holds the encoding.
 * @retval PPRF_ERR_BUFFER buf is too short; nothing was written to it.
 * @retval PPRF_ERR_NOMEM  no memory.
 * @retval PPRF_ERR_CRYPTO the digest failed; buf is zeroed.
 * @retval PPRF_ERR_FORKED the key is a copy that fork made.
 * @retval PPRF_ERR_NULL   key or len is NULL. */
PPRF_API int pprf_export(const pprf_key *key, uint8_t *buf, size_t *len);

/** Make a key from bytes that pprf_export wrote, of a suite whose values have 16 bytes.  The bytes may come
 * from an enemy: what pprf_export would not have written is rejected, and work and memory are bounded by
 * len and the depth that the bytes name.
 * @param[out] key the new key, to be given back with pprf_free; NULL on error.
 * @param[in]  buf the encoding.
 * @param[in]  len its length in bytes.
 * @retval PPRF_OK         exporting *key gives the same bytes.
 * @retval PPRF_ERR_FORMAT the bytes are not a canonical encoding.
 * @retval PPRF_ERR_SUITE  they begin like one of a key whose suite this library does not know, or whose
 *                         values have 32 bytes: pprf_import_with takes these.
 * @retval PPRF_ERR_NOMEM  no memory.
 * @retval PPRF_ERR_CRYPTO the digest failed.
 * @retval PPRF_ERR_NULL   key or buf is NULL. */
PPRF_API int pprf_import(pprf_key **key, const uint8_t *buf, size_t len);

/** Which keys pprf_import_with takes, and where they keep their seeds.  Later versions of the library add
 * members at the end. */
struct pprf_import_options {
  size_t size;     /**< sizeof(struct pprf_import_options) */
  uint64_t suites; /**< the set of suites taken, PPRF_SUITE_BIT of each; 0: PPRF_SUITES_16_BYTES.
                        Whoever takes one of 32 bytes asks pprf_value_bytes before giving buffers */
  unsigned store;  /**< one of PPRF_STORE_*, as for pprf_setup_with: the encoding does not say which
                        store the key had that was exported */
  unsigned flags;  /**< 0: there is none yet */
};

/** As pprf_import, of a key whose suite is among those that the options name.
 * @param[in]  options options->size bytes of them.
 * @retval PPRF_ERR_SUITE the suite is none of them, or unknown.
 * @retval PPRF_ERR_RANGE a bit of suites is of no suite that this library knows, the store or a flag is
 *                        unknown, a key deeper than 32 is to have pair slots, size is less than the first
 *                        version's, or greater than the library's and a byte beyond is not zero.
 * @retval PPRF_ERR_NULL  key, buf or options is NULL.
 * @retval others         as pprf_import. */
PPRF_API int pprf_import_with(pprf_key **key, const uint8_t *buf, size_t len,
                              const struct pprf_import_options *options);

/** Wipe the key and give its memory back; NULL is allowed, and so is a copy that fork made: it alone
 * goes. */
PPRF_API void pprf_free(pprf_key *key);

/** One line of English for a result, never NULL. */
PPRF_API const char *pprf_strerror(int err);

/** The version of the library in use, "MAJOR.MINOR.PATCH", never NULL. */
PPRF_API const char *pprf_version(void);

#ifdef __cplusplus
}
#endif
#endif
