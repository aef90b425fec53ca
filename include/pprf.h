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
 * wiped as soon as they are not needed, however the program was compiled and linked.  The depth, the
 * set of punctured leaves, and time and memory use, which depend on that set, are public.
 *
 * Errors.  On every error the key is exactly as it was, and an output value is zeroed.
 *
 * Memory.  Outputs must overlap neither each other nor inputs, and inputs must not change while a function
 * reads them; otherwise the results, and what a key then holds, may be wrong.  Even then nothing outside
 * the outputs is written, because each leaf and each position in a key file is read once and then
 * checked.  In pprf_punct_batch result may overlap leaf.
 *
 * Threads.  One key may be read (eval, eval_batch, expand, delegate, node_count, memory_bytes, memory_locked,
 * depth, suite, value_bytes, export) by many threads at once, or be written (punct, eval_punct, punct_range,
 * punct_batch, prefault, free) by one; the caller must keep readers and the writer apart.  Different keys
 * are independent.
 *
 * Stack.  No function needs more than PPRF_STACK_BYTES of stack below its caller, including what libcrypto
 * uses and what is wiped; half of that if the library was compiled with optimization.  The callback of
 * pprf_expand needs its own in addition.  A thread whose stack has PTHREAD_STACK_MIN + PPRF_STACK_BYTES bytes
 * more than the program needs is large enough.
 *
 * Fork.  A key belongs to the process that made it.  After fork, the child has a copy of every key.  Using
 * the copy would let a leaf be used twice, so on a copy every function that returns one of the results
 * below returns PPRF_ERR_FORKED and changes nothing, and the others return 0.  pprf_free accepts copies.
 * The child can make and use new keys, whatever the parent's other threads were doing when it forked.  A
 * daemon should make its keys after the fork that puts it in the background.
 *   To share a key with children, make it with PPRF_SHARED.  To move one, pprf_export it, fork,
 * pprf_import it in the child and pprf_free it in the parent, and wipe the encoding in both.
 *   A child that shares the parent's memory (by vfork, or by clone with CLONE_VM) has the same key, not
 * a copy, and uses it as the parent's other threads do.  A copy is recognized by a page that the kernel
 * clears at a fork (MADV_WIPEONFORK, Linux 4.14), or else by pthread_atfork, which sees fork but neither
 * _Fork nor a bare clone.
 */
#ifndef PPRF_H
#define PPRF_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A program that embeds the library may define this as nothing, and compile with -fvisibility=hidden. */
#ifndef PPRF_API
#ifdef __GNUC__
#define PPRF_API __attribute__((visibility("default")))
#else
#define PPRF_API
#endif
#endif

/** Major version of this header. */
#define PPRF_VERSION_MAJOR 0
/** Minor version. */
#define PPRF_VERSION_MINOR 3
/** Patch. */
#define PPRF_VERSION_PATCH 0
/** The version of this header; pprf_version gives the library's. */
#define PPRF_VERSION "0.3.0"

/** Bytes in a seed and in the value of a leaf (128 bits), in all suites but PPRF_MLS_SHA256. */
#define PPRF_SEED_BYTES 16
/** The largest size of a seed, and of the value of a leaf, in any suite (256 bits).  pprf_value_bytes gives
 * the size for one key. */
#define PPRF_VALUE_BYTES_MAX 32
/** Bytes in the salt of a key (128 bits).  It is public. */
#define PPRF_SALT_BYTES 16
/** Least depth of a tree. */
#define PPRF_DEPTH_MIN 1
/** Greatest depth of a tree. */
#define PPRF_DEPTH_MAX 63
/** Greatest depth of a tree whose seeds lie in pair slots, PPRF_STORE_SLOTS.  A deeper tree has a packed
 * store. */
#define PPRF_SLOTS_DEPTH_MAX 32

/** Stack that a call needs at most, in bytes. */
#define PPRF_STACK_BYTES 32768

/** Results of every function that returns int. */
enum {
  PPRF_OK = 0,            /**< done */
  PPRF_ERR_PUNCTURED = 1, /**< the leaf, or every leaf of the range, was punctured before */
  PPRF_ERR_RANGE = 2,     /**< depth not in 1..63, leaf >= 2^depth, first > last, or an option that
                               this library does not know */
  PPRF_ERR_NOMEM = 3,     /**< memory or address space is short */
  PPRF_ERR_CRYPTO = 4,    /**< the digest or the random generator failed */
  PPRF_ERR_FORMAT = 5,    /**< the bytes are not a key that pprf_export writes */
  PPRF_ERR_BUFFER = 6,    /**< the buffer is too short; *len is the length it needs */
  PPRF_ERR_NULL = 7,      /**< a pointer that must not be NULL is NULL */
  PPRF_ERR_FORKED = 8,    /**< the key is a copy that fork made: it belongs to the parent process */
  PPRF_ERR_SUITE = 9      /**< this library does not know the key's suite, or the function does not
                               accept it */
};

/** Suites: how the seeds of a node's children are derived from its own.  docs/suites.md says which to choose.
 * The id of a node (start, height) is 2 start + 2^height in 8 bytes, little-endian. */
enum {
  PPRF_SHA3_256 = 1,        /**< sha3-256: the halves of SHA3-256(seed); it has no salt */
  PPRF_SHA3_256_SALTED = 2, /**< sha3-256-salted: the halves of SHA3-256(seed || salt || id) */
  PPRF_AES_128 = 3,         /**< aes-128: of side b, 0 or 1, AES-128 under the seed of
                                 salt XOR (id || b in one byte || seven zero bytes) */
  PPRF_MLS_SHA256 = 4       /**< mls-sha256: the secret tree of MLS (RFC 9420) under SHA-256,
                                 ExpandWithLabel(seed, "tree", "left" or "right", 32).  Seeds and
                                 values have 32 bytes; it has no salt.  Only pprf_setup_with and
                                 pprf_import_with make such keys, so that a program that uses neither never
                                 gets more than 16 bytes a value */
};

/** The bit that stands for a suite in a set of suites. */
#define PPRF_SUITE_BIT(suite) (UINT64_C(1) << (suite))
/** The suites whose values have 16 bytes. */
#define PPRF_SUITES_16_BYTES \
  (PPRF_SUITE_BIT(PPRF_SHA3_256) | PPRF_SUITE_BIT(PPRF_SHA3_256_SALTED) | \
   PPRF_SUITE_BIT(PPRF_AES_128))
/** Those whose values have 32. */
#define PPRF_SUITES_32_BYTES PPRF_SUITE_BIT(PPRF_MLS_SHA256)

/** A punctured key: the seeds of the maximal subtrees without a punctured leaf. */
typedef struct pprf_key pprf_key;

/** Make a new key, with nothing punctured.  With a random root seed its suite is
 * PPRF_SHA3_256_SALTED with a random salt; with a given seed it is PPRF_SHA3_256, the thesis's
 * function.  Values have PPRF_SEED_BYTES bytes.
 * @param[out] key   the new key, to be given back with pprf_free; NULL on error.
 * @param[in]  depth tree levels below the root, 1..63: the key has 2^depth leaves.
 * @param[in]  seed  the root's seed, PPRF_SEED_BYTES bytes, of which the caller must wipe its own
 *                   copy; or NULL for a random seed.  Random seeds come from OpenSSL's
 *                   RAND_priv_bytes.  Without OpenSSL, and in a child of the process that loaded
 *                   the library, they come from getrandom, which needs no lock.
 * @retval PPRF_OK         *key is a key with one node, the root.
 * @retval PPRF_ERR_NULL   key is NULL.
 * @retval PPRF_ERR_RANGE  depth is not in 1..63.
 * @retval PPRF_ERR_NOMEM  no memory.
 * @retval PPRF_ERR_CRYPTO the random generator or the digest is not available. */
PPRF_API int pprf_setup(pprf_key **key, unsigned depth, const uint8_t seed[PPRF_SEED_BYTES]);

/** Flag of pprf_options: a process and its descendants share one key and see each other's changes.  The key
 * lies in shared memory, at one address.  The rules for threads hold among these processes: the callers
 * must keep the writer and the readers apart, for instance with a robust mutex in shared memory of their
 * own.  If a process dies while it writes, the key must no longer be used.  pprf_free releases the
 * key in the calling process only; the system wipes the memory once no process has the key. */
#define PPRF_SHARED 1u

/** Where a key keeps its seeds; the values, the encoding and the results are the same. */
enum {
  /** Packed, as PPRF_STORE_PACKED.  A key keeps its store. */
  PPRF_STORE_DEFAULT = 0,
  /** Pair slots, a mapping of the key's own, up to depth 32.  Fastest where punctures are dense, with 16 to 21
   * bytes a node; a few pages a node where punctures are few.  No puncture needs more memory. */
  PPRF_STORE_SLOTS = 1,
  /** Packed, for many keys, and for few punctures in a large tree: a kilobyte after the first puncture, 17 to 21
   * bytes a node from 64 nodes until half of the leaves are punctured at random.  Small keys share
   * pages.  (PPRF_MLS_SHA256 takes 16 bytes a node more, in either store.)  A puncture may need memory. */
  PPRF_STORE_PACKED = 2
};

/** What pprf_setup_with makes.  Later versions of the library add members at the end. */
struct pprf_options {
  size_t size;         /**< sizeof(struct pprf_options) */
  const uint8_t
    *seed;        /**< as for pprf_setup: PPRF_SEED_BYTES bytes, 32 for PPRF_MLS_SHA256; or NULL */
  unsigned depth;      /**< as for pprf_setup: 1..63 */
  unsigned flags;      /**< 0 or PPRF_SHARED */
  unsigned
    store; /**< one of PPRF_STORE_*; a packed store cannot be shared, nor a key deeper than 32 */
  unsigned suite;      /**< one of the suites above; 0: as for pprf_setup, PPRF_SHA3_256 with a
                            seed and PPRF_SHA3_256_SALTED without */
  const uint8_t *salt; /**< PPRF_SALT_BYTES bytes, or NULL for a random one; NULL for a suite
                            without a salt.  Use a new salt for each key.  Only copies of a key, and
                            keys that must compute the same function, have the same salt. */
};

/** Make a new key with options; a zero member selects pprf_setup's default.
 * @param[out] key     the new key, to be given back with pprf_free; NULL on error.
 * @param[in]  options options->size bytes of them.
 * @retval PPRF_ERR_RANGE depth is not in 1..63, a flag or the store is unknown, a packed store should be
 *                        shared, a key deeper than 32 should have pair slots or be shared, a salt is given
 *                        to a suite without one, size is that of no version, or size is greater than the
 *                        library's and a byte beyond is not zero.
 * @retval PPRF_ERR_SUITE the suite is unknown.
 * @retval PPRF_ERR_NULL  key or options is NULL.
 * @retval others         as pprf_setup. */
PPRF_API int pprf_setup_with(pprf_key **key, const struct pprf_options *options);

/** Evaluate the PPRF at a leaf.
 * @param[in]  key  the key.
 * @param[in]  leaf 0 <= leaf < 2^depth.
 * @param[out] out  one value: 32 bytes in the suite PPRF_MLS_SHA256, otherwise PPRF_SEED_BYTES, also
 *                  if key is NULL; zeroed on error.
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
 * pprf_eval followed by pprf_punct needs 2h.
 * @param[in,out] key  the key; as it was on error.
 * @param[in]     leaf 0 <= leaf < 2^depth.
 * @param[out]    out  as for pprf_eval: the value the leaf had; zeroed on error.
 * @retval as pprf_punct, and PPRF_ERR_NULL if out is NULL. */
PPRF_API int pprf_eval_punct(pprf_key *key, uint64_t leaf, uint8_t out[PPRF_SEED_BYTES]);

/** Puncture every leaf of a range, whatever its length, with at most 2 depth PRG calls.  Some leaves of
 * the range may be punctured already.
 * @param[in,out] key   the key; as it was on error.
 * @param[in]     first first leaf of the range.
 * @param[in]     last  last leaf of the range, first <= last < 2^depth.
 * @retval PPRF_OK            every leaf of the range is punctured, and at least one was not before.
 * @retval PPRF_ERR_PUNCTURED all of them were punctured before.
 * @retval PPRF_ERR_RANGE     first > last or last >= 2^depth.
 * @retval PPRF_ERR_NOMEM     no memory.
 * @retval PPRF_ERR_CRYPTO    the digest failed.
 * @retval PPRF_ERR_FORKED    the key is a copy that fork made.
 * @retval PPRF_ERR_NULL      key is NULL. */
PPRF_API int pprf_punct_range(pprf_key *key, uint64_t first, uint64_t last);

/** Make a key for a part of another's leaves: it has the same tree (depth, suite and salt), evaluates what
 * the other evaluates in the range, and nothing outside.  It is a key like any other, and belongs to the
 * process that made it, also if the other is shared: it can be punctured, exported for somebody else, or
 * delegated again.
 *   Punctures of one key made later do not reach the other.  Whoever has the new key sees the range and which
 * leaves of it were punctured, nothing else of the other key.  The range becomes one node for each node of the
 * other key that lies inside it, and at most 2 (depth - 1) more (1 at depth 1).
 *   opt gives the new key a packed store, whatever store the other has.  It takes at most 2 depth PRG calls,
 * and otherwise time for the nodes of the new key, not for those of the other one.
 * @param[in]  key   the other key; it does not change.
 * @param[in]  first first leaf of the range.
 * @param[in]  last  last leaf of the range, first <= last < 2^depth.
 * @param[out] sub   the new key, to be given back with pprf_free; NULL on error.
 * @retval PPRF_OK            exporting *sub gives the bytes that *key gives once every other leaf is punctured.
 * @retval PPRF_ERR_PUNCTURED every leaf of the range was punctured before.
 * @retval PPRF_ERR_RANGE     first > last or last >= 2^depth.
 * @retval PPRF_ERR_NOMEM     no memory.
 * @retval PPRF_ERR_CRYPTO    the digest failed.
 * @retval PPRF_ERR_FORKED    key is a copy that fork made.
 * @retval PPRF_ERR_NULL      key or sub is NULL. */
PPRF_API int pprf_delegate(const pprf_key *key, uint64_t first, uint64_t last, pprf_key **sub);

/** Evaluate at many leaves, in any order, repeats allowed.  The values are those of n calls of
 * pprf_eval, but independent PRG calls run side by side, and within each 1024 leaves, in the order
 * given, a node above several of them is derived only once.
 * @param[in]  key    the key.
 * @param[in]  leaf   n leaves, each 0 <= leaf[i] < 2^depth.
 * @param[in]  n      number of leaves, 0 allowed.
 * @param[out] out    n values, each as for pprf_eval, in the order of the leaves, zero for a punctured
 *                    leaf; all zero on error.
 * @param[out] result n results, or NULL: PPRF_OK or PPRF_ERR_PUNCTURED; on error the function's
 *                    own result everywhere.
 * @retval PPRF_OK         out and result are set; some of the leaves may be punctured.
 * @retval PPRF_ERR_RANGE  a leaf is >= 2^depth.
 * @retval PPRF_ERR_NOMEM  no memory; or n is greater than SIZE_MAX divided by the bytes of a value, and
 *                         then nothing is written.
 * @retval PPRF_ERR_CRYPTO the digest failed.
 * @retval PPRF_ERR_FORKED the key is a copy that fork made.
 * @retval PPRF_ERR_NULL   key is NULL, or leaf or out is NULL and n > 0. */
PPRF_API int pprf_eval_batch(const pprf_key *key, const uint64_t *leaf, size_t n, uint8_t *out,
                             int *result);

/** Puncture at many leaves, in any order, all or none.  The key is the one that n calls of pprf_punct leave,
 * with the same number of PRG calls, run side by side.  Memory while it runs: 76 bytes a leaf and 32 a new
 * node, 92 and 48 in the suite PPRF_MLS_SHA256.  A packed store takes 32 more a leaf, 1 a node that the key
 * has, and new pages of at most 4 kB for all nodes of the pages that hold one of the leaves.  In a packed
 * key of many million nodes, leaves that lie in very many pages take longer together than one by one.
 * @param[in,out] key    the key; as it was on error.
 * @param[in]     leaf   n leaves, each 0 <= leaf[i] < 2^depth.
 * @param[in]     n      number of leaves, 0 allowed.
 * @param[out]    result n results, or NULL: PPRF_OK, or PPRF_ERR_PUNCTURED if the leaf was punctured
 *                       before or occurs earlier in the batch; on error the function's own result
 *                       everywhere.
 * @retval PPRF_OK         the values of all these leaves are gone, every other leaf is as it was.
 * @retval PPRF_ERR_RANGE  a leaf is >= 2^depth.
 * @retval PPRF_ERR_NOMEM  no memory; or n, or the number of new nodes, is greater than 2^32 - 1; or n is
 *                         greater than SIZE_MAX divided by the bytes of a value, and then nothing is written.
 * @retval PPRF_ERR_CRYPTO the digest failed.
 * @retval PPRF_ERR_FORKED the key is a copy that fork made.
 * @retval PPRF_ERR_NULL   key is NULL, or leaf is NULL and n > 0. */
PPRF_API int pprf_punct_batch(pprf_key *key, const uint64_t *leaf, size_t n, int *result);

/** Receives the values of the live leaves leaf .. leaf + n - 1, n >= 1, and returns 0 to go on.  The
 * values, n times as many bytes as pprf_value_bytes gives, are valid until it returns and are wiped
 * later; copies are the caller's to wipe.  It may read the key but not change it.
 *   It may fork.  In the child its values read as zero from then on (with MADV_WIPEONFORK, Linux
 * 4.14), and when it returns 0 there, pprf_expand returns PPRF_ERR_FORKED.  A key made with
 * PPRF_SHARED gets this result too, but stays usable.
 *   It must not leave pprf_expand by longjmp or an exception.  The key would stay unchanged and
 * usable, but 45 kB with live seeds (62 kB in the suite PPRF_MLS_SHA256) would stay mapped, outside
 * core dumps, until the process ends. */
typedef int pprf_each(void *arg, uint64_t leaf, size_t n, const uint8_t *values);

/** Evaluate at every live leaf of a range and pass the values to each in leaf order, with one PRG call
 * for each inner node between the key's nodes and these leaves.
 * @param[in] key   the key.
 * @param[in] first first leaf of the range.
 * @param[in] last  last leaf of the range, first <= last < 2^depth.
 * @param[in] each  called with runs of consecutive live leaves, which do not overlap, never with a
 *                  punctured leaf; the length of a run is bounded and otherwise not specified.
 * @param[in] arg   passed to each.
 * @retval PPRF_OK         each received all live leaves of the range, perhaps none.
 * @retval PPRF_ERR_RANGE  first > last or last >= 2^depth.
 * @retval PPRF_ERR_NOMEM  no memory.
 * @retval PPRF_ERR_CRYPTO the digest failed; each may have received earlier leaves.
 * @retval PPRF_ERR_FORKED the key is a copy that fork made.
 * @retval PPRF_ERR_NULL   key or each is NULL.
 * @retval other           the first value other than 0 that each returned; it was not called again.  A
 *                         negative value differs from all results above. */
PPRF_API int pprf_expand(const pprf_key *key, uint64_t first, uint64_t last, pprf_each *each,
                         void *arg);

/** Pre-fault the memory of pair slots, PPRF_STORE_SLOTS, so that no later puncture waits for a page: a
 * seed for each pair of leaves, and a little more than a bit for each leaf.  It stays backed until the
 * key is freed; otherwise the memory of punctured blocks is given back, which makes single punctures
 * wait too.  Other keys, packed ones or ref's, have no memory but what they use: nothing happens, and a
 * puncture may need more.
 * @param[in,out] key the key; no leaf changes.
 * @retval PPRF_OK        every puncture of pair slots has the memory that it needs.
 * @retval PPRF_ERR_NOMEM the slots need more memory than the machine has, or the system refused; part of the
 *                        memory may be backed.
 * @retval PPRF_ERR_FORKED the key is a copy that fork made.
 * @retval PPRF_ERR_NULL  key is NULL. */
PPRF_API int pprf_prefault(pprf_key *key);

/** Name of the version of SHA3-256 in use, never NULL.  Versions differ only in speed.  "evp":
 * OpenSSL's; "builtin": its replacement in a library built without OpenSSL.  "scalar", "avx2",
 * "avx512": the library's own. */
PPRF_API const char *pprf_prg_name(void);

/** The same for AES-128: "aes-evp" or "aes-builtin"; "aes-bitsliced", "aes-ni", "aes-vaes",
 * "aes-armv8": the library's own. */
PPRF_API const char *pprf_aes_name(void);

/** The same for SHA-256: "sha256-evp" or "sha256-builtin"; "sha256-scalar", "sha256-ni", "sha256-armv8":
 * the library's own. */
PPRF_API const char *pprf_sha256_name(void);

/** Choose the version of SHA3-256, of AES-128 or of SHA-256 for the process.  Without a call it is the one
 * that the environment variable PPRF_PRG, PPRF_AES or PPRF_SHA256 names, or else the fastest that the processor
 * can run.  Other threads may use keys meanwhile.
 * @param[in] name one of the names above.
 * @retval PPRF_OK         it is in use from now on.
 * @retval PPRF_ERR_RANGE  no version has that name, the processor cannot run it, or it disagrees
 *                         with OpenSSL's; nothing changes.
 * @retval PPRF_ERR_CRYPTO OpenSSL's digest, with which it is compared, failed; nothing changes.
 * @retval PPRF_ERR_NULL   name is NULL. */
PPRF_API int pprf_prg_select(const char *name);

/** Number of nodes (stored seeds) of the key; 0 if key is NULL or a copy that fork made. */
PPRF_API size_t pprf_node_count(const pprf_key *key);

/** Bytes of memory the key actually holds: heap blocks with the allocator's overhead, and mapped
 * pages that are backed by memory.  For a packed store only the key's own blocks of the pages that
 * small keys share are counted.  0 if key is NULL or a copy that fork made. */
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

/** Whether the key's seeds are kept out of swap.  Seeds that a call derives are not locked until it wipes them:
 * they lie on the stack or, in pprf_eval_batch and pprf_punct_batch, in blocks of malloc; those of pprf_expand are
 * locked where the limit allows.
 * @retval 1 they are locked in memory.  For a key made with PPRF_SHARED this covers the seeds that this process
 *           derived or pprf_prefault touched, not those that another process derived.
 * @retval 0 the limit on locked memory (RLIMIT_MEMLOCK) forbade it, the implementation does not
 *           lock, or key is NULL or a copy that fork made; or the key was made with PPRF_SHARED in another
 *           process: a child does not inherit its parent's locks. */
PPRF_API int pprf_memory_locked(const pprf_key *key);

/** Write the key's canonical encoding (docs/key-file.md): equal keys give equal bytes, whatever
 * the order of punctures.  The bytes are as secret as the key.
 * @param[in]     key the key.
 * @param[out]    buf receives the bytes; if NULL, only the length is computed.
 * @param[in,out] len in: bytes that buf holds (not read when buf is NULL); out: bytes of the
 *                    encoding, also with PPRF_ERR_BUFFER.
 * @retval PPRF_OK         buf (if not NULL) holds the encoding.
 * @retval PPRF_ERR_BUFFER buf is too short; nothing was written to it.
 * @retval PPRF_ERR_NOMEM  no memory.
 * @retval PPRF_ERR_CRYPTO the digest failed; buf is zeroed.
 * @retval PPRF_ERR_FORKED the key is a copy that fork made.
 * @retval PPRF_ERR_NULL   key or len is NULL. */
PPRF_API int pprf_export(const pprf_key *key, uint8_t *buf, size_t *len);

/** Make a key from bytes that pprf_export wrote, of a suite whose values have 16 bytes.  The bytes
 * may come from an attacker: anything that pprf_export would not have written is rejected, and work
 * and memory are bounded by len and the depth that the bytes name.
 * @param[out] key the new key, to be given back with pprf_free; NULL on error.
 * @param[in]  buf the encoding.
 * @param[in]  len its length in bytes.
 * @retval PPRF_OK         exporting *key gives the same bytes.
 * @retval PPRF_ERR_FORMAT the bytes are not a canonical encoding.
 * @retval PPRF_ERR_SUITE  the bytes begin like those of a key whose suite this library does not know, or
 *                         whose values have 32 bytes: use pprf_import_with.
 * @retval PPRF_ERR_NOMEM  no memory.
 * @retval PPRF_ERR_CRYPTO the digest failed.
 * @retval PPRF_ERR_NULL   key or buf is NULL. */
PPRF_API int pprf_import(pprf_key **key, const uint8_t *buf, size_t len);

/** Which keys pprf_import_with accepts, and where they keep their seeds.  Later versions of the library add
 * members at the end. */
struct pprf_import_options {
  size_t size;     /**< sizeof(struct pprf_import_options) */
  uint64_t suites; /**< the set of suites accepted, PPRF_SUITE_BIT of each; 0: PPRF_SUITES_16_BYTES.
                        A caller that accepts one of 32 bytes sizes its buffers by pprf_value_bytes */
  unsigned store;  /**< one of PPRF_STORE_*, as for pprf_setup_with; the encoding does not say which
                        store the exported key had */
  unsigned flags;  /**< 0: there is none yet */
};

/** As pprf_import, for a key whose suite is one of those in the options.
 * @param[out] key     the new key, to be given back with pprf_free; NULL on error.
 * @param[in]  buf     the encoding.
 * @param[in]  len     its length in bytes.
 * @param[in]  options options->size bytes of them.
 * @retval PPRF_ERR_SUITE the suite is none of them, or unknown.
 * @retval PPRF_ERR_RANGE suites has the bit of no suite that this library knows, the store or a flag is
 *                        unknown, a key deeper than 32 should have pair slots, size is less than the first
 *                        version's, or size is greater than the library's and a byte beyond is not zero.
 * @retval PPRF_ERR_NULL  key, buf or options is NULL.
 * @retval others         as pprf_import. */
PPRF_API int pprf_import_with(pprf_key **key, const uint8_t *buf, size_t len,
                              const struct pprf_import_options *options);

/** Wipe the key and release its memory.  NULL is allowed.  For a copy that fork made, only the copy
 * is released. */
PPRF_API void pprf_free(pprf_key *key);

/** One line of English for a result, never NULL. */
PPRF_API const char *pprf_strerror(int err);

/** The version of the library in use, "MAJOR.MINOR.PATCH", never NULL. */
PPRF_API const char *pprf_version(void);

#ifdef __cplusplus
}
#endif
#endif
