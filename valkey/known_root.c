/* SPDX-License-Identifier: Apache-2.0 */
/* Linked into the module in place of libcrypto's: roots that the tests know, so that they can look for
 * every seed of a tree in the server's memory and files.  (Preloading it would do for Redis; Valkey binds a
 * module's names to its own libraries first.)  Root k is KNOWN_ROOT, 14 bytes of the environment, and k
 * in two bytes, neither of them zero: the environment's own copies end in zeros. */
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
