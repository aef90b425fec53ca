/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded into a server under test: roots that the test knows, so that it can look for every seed of
 * a tree in the server's memory and files.  Root k is "known root seed" and the byte k. */
#include <stddef.h>
#include <string.h>

__attribute__((visibility("default"))) int RAND_priv_bytes(unsigned char *out, int n);
int RAND_priv_bytes(unsigned char *out, int n)
{
  static unsigned char k;
  memset(out, 0, (size_t)n);
  if (n == 16) {
    memcpy(out, "known root seed", 15);
    out[15] = k++;
  }
  return 1;
}
