/* SPDX-License-Identifier: Apache-2.0 */
/* The PRG and the digest through OpenSSL's EVP.  EVP_MD, EVP_CIPHER and EVP_KDF are fetched once
 * per process, and each thread keeps one EVP_MD_CTX, so that readers of one key do not share a
 * digest state. A cipher context lives for one call: freeing it wipes the round keys. */
#include "prg.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/rand.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "bytes.h"
#include "common/fork.h"
#include "pprf.h"
#include "wide.h"

/* The process that loaded the library: its number (fork.h), which no child has, and its pid,
 * which a child of vfork does not have.  A pid alone proves nothing: a descendant may have the
 * same one, in a pid namespace of its own or after reuse. libcrypto's generator checks only the
 * pid and would give such a descendant the loader's output. */
static uint64_t loader;
static pid_t loader_id;
static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int initialized;
static pthread_key_t ctx_key; /* frees a thread's context when the thread ends */
static _Atomic int have_key;
static int watched; /* whether OPENSSL_atexit is registered */
static EVP_MD *_Atomic sha3;    /* NULL: not fetched yet, or unavailable */
static EVP_CIPHER *_Atomic aes; /* the same */
static EVP_KDF *_Atomic hkdf;   /* the same */
/* In the static TLS block: an access is no call (choice.c). */
static _Thread_local __attribute__((tls_model("initial-exec"))) EVP_MD_CTX *thread_ctx;
static _Thread_local __attribute__((tls_model("initial-exec"))) uint64_t calls;

/* A thread ends.  A destructor of the program may still use the library in this thread, and exit
 * may run in it: both then find no context. */
static void free_ctx(void *ctx)
{
  thread_ctx = NULL;
  EVP_MD_CTX_free(ctx);
}

/* libcrypto is being cleaned up, at exit or earlier.  pthread destructors do not run for the
 * main thread. */
static void at_exit(void)
{
  if (have_key)
    (void)pthread_setspecific(ctx_key, NULL);
  EVP_MD_CTX_free(thread_ctx);
  thread_ctx = NULL;
  EVP_MD_free(sha3);
  sha3 = NULL;
  EVP_CIPHER_free(aes);
  aes = NULL;
  EVP_KDF_free(hkdf);
  hkdf = NULL;
}

/* Held across fork, so that no fork happens during a fetch: in the child the fetching thread
 * would be gone and libcrypto's locks held for ever. */
static void lock(void)
{
  (void)pthread_mutex_lock(&init_lock);
}

static void unlock(void)
{
  (void)pthread_mutex_unlock(&init_lock);
}

__attribute__((constructor)) static void at_load(void)
{
  loader_id = getpid();
  (void)pprf_process_claim(&loader); /* without memory it stays 0: then no process is the loader */
  (void)pthread_atfork(lock, unlock, unlock);
}

static void init(void)
{
  lock();
  if (atomic_load(&initialized)) {
    unlock();
    return;
  }
  /* what failed, perhaps for lack of memory, is tried again */
  have_key = have_key || pthread_key_create(&ctx_key, free_ctx) == 0;
  if (sha3 == NULL)
    sha3 = EVP_MD_fetch(NULL, "SHA3-256", NULL);
  if (aes == NULL)
    aes = EVP_CIPHER_fetch(NULL, "AES-128-ECB", NULL);
  if (hkdf == NULL)
    hkdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
  watched = watched || OPENSSL_atexit(at_exit) == 1;
  /* bind the functions of the error paths (prg/common/prepare.h) */
  EVP_MD_CTX_free(NULL);
  OPENSSL_cleanse(NULL, 0);
  atomic_store(&initialized, have_key && sha3 != NULL && aes != NULL && hkdf != NULL && watched);
  unlock();
}

/* The thread's context, or NULL with *err set. */
static EVP_MD_CTX *get_ctx(int *err)
{
  if (thread_ctx != NULL)
    return thread_ctx;
  if (!atomic_load(&initialized))
    init();
  if (!have_key || sha3 == NULL) {
    *err = PPRF_ERR_CRYPTO;
    return NULL;
  }
  EVP_MD_CTX *ctx = EVP_MD_CTX_new();
  if (ctx == NULL || pthread_setspecific(ctx_key, ctx) != 0) {
    EVP_MD_CTX_free(ctx);
    *err = PPRF_ERR_NOMEM;
    return NULL;
  }
  thread_ctx = ctx;
  return ctx;
}

/* Discard the context: the next use starts from a fresh one. */
static void drop_ctx(void)
{
  (void)pthread_setspecific(ctx_key, NULL);
  EVP_MD_CTX_free(thread_ctx);
  thread_ctx = NULL;
}

int prg_digest(const uint8_t *bytes, size_t len, uint8_t out[DIGEST_BYTES])
{
  static const uint8_t zero[136]; /* one block of SHA3-256: its rate in bytes */
  int err = PPRF_OK;
  unsigned size = 0;
  EVP_MD_CTX *ctx = get_ctx(&err);
  if (ctx != NULL) {
    if (EVP_DigestInit_ex(ctx, sha3, NULL) != 1 || EVP_DigestUpdate(ctx, bytes, len) != 1 ||
        EVP_DigestFinal_ex(ctx, out, &size) != 1 || size != DIGEST_BYTES)
      err = PPRF_ERR_CRYPTO;
    /* The state after the last permutation and the block buffer both reveal the message: a new
     * start clears the state, and zeros shorter than a block overwrite the buffer. */
    size_t tail = len < sizeof zero ? len : sizeof zero - 1;
    if (err != PPRF_OK || EVP_DigestInit_ex(ctx, sha3, NULL) != 1 ||
        EVP_DigestUpdate(ctx, zero, tail) != 1) {
      drop_ctx(); /* EVP_MD_CTX_free wipes it */
      err = PPRF_ERR_CRYPTO;
    }
  }
  if (err != PPRF_OK)
    OPENSSL_cleanse(out, DIGEST_BYTES);
  return err;
}

/* AES-128 of two blocks under a key. */
static int aes_blocks(const uint8_t key[PPRF_SEED_BYTES], const uint8_t in[2 * PPRF_SEED_BYTES],
                      uint8_t out[2 * PPRF_SEED_BYTES])
{
  int err = PPRF_OK, len = 0;
  if (!atomic_load(&initialized))
    init();
  if (aes == NULL)
    return PPRF_ERR_CRYPTO;
  EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
  if (ctx == NULL)
    return PPRF_ERR_NOMEM;
  if (EVP_EncryptInit_ex(ctx, aes, NULL, key, NULL) != 1 ||
      EVP_CIPHER_CTX_set_padding(ctx, 0) != 1 ||
      EVP_EncryptUpdate(ctx, out, &len, in, 2 * PPRF_SEED_BYTES) != 1 || len != 2 * PPRF_SEED_BYTES)
    err = PPRF_ERR_CRYPTO;
  EVP_CIPHER_CTX_free(ctx); /* wipes the round keys */
  if (err != PPRF_OK)
    OPENSSL_cleanse(out, 2 * PPRF_SEED_BYTES);
  return err;
}

/* Input of the suites' hash or cipher, as bytes. */
struct input {
  uint8_t seed[PPRF_SEED_BYTES], salt[16], id[8];
};

static int expand_aes(const struct input *in, uint8_t out[DIGEST_BYTES])
{
  uint8_t block[2 * PPRF_SEED_BYTES];
  for (unsigned i = 0; i < PPRF_SEED_BYTES; i++)
    block[i] = block[PPRF_SEED_BYTES + i] = in->salt[i] ^ (i < 8 ? in->id[i] : 0);
  block[PPRF_SEED_BYTES + 8] ^= 1; /* the right child's block */
  return aes_blocks(in->seed, block, out);
}

struct pprf_children prg_expand(struct pprf_family family, struct pprf_seed seed, uint64_t start,
                                unsigned height)
{
  struct input in;
  uint8_t out[DIGEST_BYTES] = {0};
  struct pprf_children c;
  calls++;
  ref_put_bytes(in.seed, 0, 8, seed.lo);
  ref_put_bytes(in.seed, 8, 8, seed.hi);
  ref_put_bytes(in.salt, 0, 8, family.salt_lo);
  ref_put_bytes(in.salt, 8, 8, family.salt_hi);
  ref_put_bytes(in.id, 0, 8, 2 * start + (UINT64_C(1) << height));
  if (family.suite == PRG_SHA3_256)
    c.err = prg_digest(in.seed, sizeof in.seed, out);
  else if (family.suite == PRG_SHA3_256_SALTED)
    c.err = prg_digest((const uint8_t *)&in, sizeof in, out); /* the struct has no padding */
  else if (family.suite == PRG_AES_128)
    c.err = expand_aes(&in, out);
  else
    c.err = PPRF_ERR_CRYPTO;
  c.left.lo = ref_get_bytes(out, 0, 8);
  c.left.hi = ref_get_bytes(out, 8, 8);
  c.right.lo = ref_get_bytes(out, 16, 8);
  c.right.hi = ref_get_bytes(out, 24, 8);
  explicit_bzero(&in, sizeof in);
  explicit_bzero(out, sizeof out);
  return c;
}

/* RFC 9420, 8 and 9: a struct KDFLabel with the length 32. */
#define LABEL(context) "\0\x20\x0cMLS 1.0 tree" context

/* HKDF-Expand with SHA-256 of 32 bytes. */
static int expand_label(EVP_KDF_CTX *ctx, uint8_t key[PRG_WIDE_BYTES], const char *label,
                        size_t len, uint8_t out[PRG_WIDE_BYTES])
{
  int mode = EVP_KDF_HKDF_MODE_EXPAND_ONLY;
  char digest[] = "SHA256", info[sizeof LABEL("\x05right")];
  memcpy(info, label, len);
  const OSSL_PARAM params[] = {
    OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode),
    OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
    OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, key, PRG_WIDE_BYTES),
    OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info, len), OSSL_PARAM_construct_end()};
  return EVP_KDF_derive(ctx, out, PRG_WIDE_BYTES, params) == 1 ? PPRF_OK : PPRF_ERR_CRYPTO;
}

static int expand_labels(uint8_t key[PRG_WIDE_BYTES], uint8_t out[2 * PRG_WIDE_BYTES])
{
  static const char left[] = LABEL("\x04left"), right[] = LABEL("\x05right");
  if (!atomic_load(&initialized))
    init();
  if (hkdf == NULL)
    return PPRF_ERR_CRYPTO;
  EVP_KDF_CTX *ctx = EVP_KDF_CTX_new(hkdf);
  if (ctx == NULL)
    return PPRF_ERR_NOMEM;
  int err = expand_label(ctx, key, left, sizeof left - 1, out);
  if (err == PPRF_OK)
    err = expand_label(ctx, key, right, sizeof right - 1, out + PRG_WIDE_BYTES);
  EVP_KDF_CTX_free(ctx); /* wipes its copy of the key */
  if (err != PPRF_OK)
    OPENSSL_cleanse(out, 2 * PRG_WIDE_BYTES);
  return err;
}

static void put_wide(uint8_t bytes[PRG_WIDE_BYTES], const struct pprf_wide_seed *seed)
{
  ref_put_bytes(bytes, 0, 8, seed->lo);
  ref_put_bytes(bytes, 8, 8, seed->hi);
  ref_put_bytes(bytes, 16, 8, seed->third);
  ref_put_bytes(bytes, 24, 8, seed->fourth);
}

static void get_wide(struct pprf_wide_seed *seed, const uint8_t bytes[PRG_WIDE_BYTES])
{
  seed->lo = ref_get_bytes(bytes, 0, 8);
  seed->hi = ref_get_bytes(bytes, 8, 8);
  seed->third = ref_get_bytes(bytes, 16, 8);
  seed->fourth = ref_get_bytes(bytes, 24, 8);
}

struct pprf_wide_children prg_expand_wide(struct pprf_family family, struct pprf_wide_seed seed,
                                          uint64_t start, unsigned height)
{
  uint8_t key[PRG_WIDE_BYTES], out[2 * PRG_WIDE_BYTES] = {0};
  struct pprf_wide_children c;
  (void)start;
  (void)height;
  calls++;
  put_wide(key, &seed);
  c.err = family.suite == PRG_MLS_SHA256 ? expand_labels(key, out) : PPRF_ERR_CRYPTO;
  get_wide(&c.left, out);
  get_wide(&c.right, out + PRG_WIDE_BYTES);
  explicit_bzero(key, sizeof key);
  explicit_bzero(out, sizeof out);
  return c;
}

static int draw(uint8_t *bytes, size_t len)
{
  /* in a child, another thread of the parent may have held the lock of OpenSSL's generator */
  int own = loader != 0 && pprf_process() == loader && getpid() == loader_id;
  int drawn =
    own ? RAND_priv_bytes(bytes, (int)len) == 1 : getrandom(bytes, len, 0) == (ssize_t)len;
  return drawn ? PPRF_OK : PPRF_ERR_CRYPTO;
}

int prg_random(struct pprf_seed *seed)
{
  uint8_t bytes[PPRF_SEED_BYTES];
  int err = draw(bytes, sizeof bytes);
  seed->lo = err == PPRF_OK ? ref_get_bytes(bytes, 0, 8) : 0;
  seed->hi = err == PPRF_OK ? ref_get_bytes(bytes, 8, 8) : 0;
  explicit_bzero(bytes, sizeof bytes);
  return err;
}

int prg_random_wide(struct pprf_wide_seed *seed)
{
  uint8_t bytes[PRG_WIDE_BYTES];
  int err = draw(bytes, sizeof bytes);
  *seed = (struct pprf_wide_seed){0, 0, 0, 0};
  if (err == PPRF_OK)
    get_wide(seed, bytes);
  explicit_bzero(bytes, sizeof bytes);
  return err;
}

uint64_t prg_wipe_plan(unsigned own)
{
  return prg_wipe_flags() | (PRG_LIBCRYPTO_STACK + own);
}

uint64_t prg_calls(void)
{
  return calls;
}
