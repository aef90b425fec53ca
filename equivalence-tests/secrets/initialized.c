/* SPDX-License-Identifier: Apache-2.0 */
/* TAP: under MemorySanitizer, ref and opt branch on, output and digest only initialized bytes, in
 * random sequences of operations that compare every output byte. libcrypto is not instrumented: its
 * inputs are checked here, and its outputs are declared initialized. Each of its functions that
 * reads or writes our memory is wrapped (--wrap). */
#include <inttypes.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/rand.h>
#include <sanitizer/msan_interface.h>
#include <stddef.h>

#include "differential/ops.h"
#include "../../tools/tap.h"

#define WRAP(type, name, ...)      \
  type __real_##name(__VA_ARGS__); \
  type __wrap_##name(__VA_ARGS__); \
  type __wrap_##name(__VA_ARGS__)

/* libcrypto reads its own output, so the interceptors of libc's functions must not check it. */
#define UNSEEN(type, call)                    \
  __msan_scoped_disable_interceptor_checks(); \
  type = call;                                \
  __msan_scoped_enable_interceptor_checks()

WRAP(EVP_MD *, EVP_MD_fetch, OSSL_LIB_CTX *lib, const char *name, const char *query)
{
  UNSEEN(EVP_MD *md, __real_EVP_MD_fetch(lib, name, query));
  return md;
}

WRAP(int, EVP_DigestInit_ex, EVP_MD_CTX *ctx, const EVP_MD *md, ENGINE *engine)
{
  UNSEEN(int ok, __real_EVP_DigestInit_ex(ctx, md, engine));
  return ok;
}

WRAP(int, EVP_DigestUpdate, EVP_MD_CTX *ctx, const void *bytes, size_t len)
{
  __msan_check_mem_is_initialized(bytes, len);
  UNSEEN(int ok, __real_EVP_DigestUpdate(ctx, bytes, len));
  return ok;
}

WRAP(int, EVP_DigestFinal_ex, EVP_MD_CTX *ctx, unsigned char *out, unsigned *len)
{
  UNSEEN(int ok, __real_EVP_DigestFinal_ex(ctx, out, len));
  if (ok == 1) {
    __msan_unpoison(len, sizeof *len);
    __msan_unpoison(out, *len);
  }
  return ok;
}

WRAP(int, RAND_priv_bytes, unsigned char *out, int len)
{
  UNSEEN(int ok, __real_RAND_priv_bytes(out, len));
  if (ok == 1)
    __msan_unpoison(out, (size_t)len);
  return ok;
}

WRAP(int, EVP_KDF_derive, EVP_KDF_CTX *ctx, unsigned char *out, size_t len,
     const OSSL_PARAM params[])
{
  for (const OSSL_PARAM *p = params;; p++) {
    __msan_unpoison(p, sizeof *p); /* written by libcrypto */
    if (p->key == NULL)
      break;
    __msan_check_mem_is_initialized(p->data, p->data_size);
  }
  UNSEEN(int ok, __real_EVP_KDF_derive(ctx, out, len, params));
  if (ok == 1)
    __msan_unpoison(out, len);
  return ok;
}

WRAP(void, OPENSSL_cleanse, void *out, size_t len)
{
  __real_OPENSSL_cleanse(out, len);
  __msan_unpoison(out, len);
}

int main(void)
{
  static uint8_t bytes[8192];
  uint64_t seed = tap_seed(), state = seed, ops = 0, faults = 0;
  int ok = 1;
  tap_note("seed=0x%" PRIx64 " (SEED=0x%" PRIx64 " repeats this run)", seed, seed);
  for (unsigned depth = 1; depth <= 32; depth++)
    for (unsigned i = 0; i < 13; i++) {
      struct ops_result result;
      /* the last ones with SHA3, the others with the labelled toy */
      size_t len = ops_random(&state, depth, i < 12, 1u << (2 + i % 6), bytes, sizeof bytes);
      ops_run(bytes, len, &result, NULL);
      ops += result.ops;
      faults += result.faults;
      ok &= !result.failed;
    }
  tap_note("%" PRIu64 " operations, %" PRIu64 " PRG failures", ops, faults);
  tap_ok(ok, "every_byte_read_is_initialized");
  return tap_end();
}
