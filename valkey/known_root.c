/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces libcrypto's random generator in the module, so that the tests know each root and can
 * search the server's memory and files for every seed.  (Preloading would work for Redis, but
 * Valkey binds a module's names to its own libraries first.)  Root k is KNOWN_ROOT, 14 bytes of the
 * environment, and k in two bytes, neither of them zero: the environment's own copies end in
 * zeros. */
#include <stdlib.h>
#include <string.h>

int RAND_priv_bytes(unsigned char *out, int n);
int RAND_priv_bytes(unsigned char *out, int n)
{
  static unsigned k = 257;
  const char *prefix = getenv("KNOWN_ROOT");
  memset(out, 0, (size_t)n);
  if (n != 16 || prefix == NULL || strlen(prefix) != 14)
    return 0;
  memcpy(out, prefix, 14);
  out[14] = (unsigned char)(k >> 8);
  out[15] = (unsigned char)k++;
  return 1;
}
