/* SPDX-License-Identifier: Apache-2.0 */
/* replay FILE|HEX: run a sequence of operations (ops.h) and print every step. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "ops.h"

int main(int argc, char **argv)
{
  static uint8_t bytes[1 << 16];
  size_t len = 0;
  if (argc != 2) {
    fprintf(stderr, "usage: replay FILE|HEX\n  runs a sequence of operations (ops.h) on ref, opt "
                    "and the model; exit 1 if they differ\n");
    return 2;
  }
  FILE *f = fopen(argv[1], "rb");
  if (f != NULL) {
    len = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
  } else {
    const char *p = argv[1];
    unsigned v;
    for (; isxdigit((unsigned char)p[0]) && isxdigit((unsigned char)p[1]) && len < sizeof bytes;
         p += 2)
      bytes[len++] = sscanf(p, "%2x", &v) == 1 ? (uint8_t)v : 0;
    if (*p != '\0') {
      fprintf(stderr, "replay: %s is neither a readable file nor a hex string\n", argv[1]);
      return 2;
    }
  }
  struct ops_result result;
  ops_run(bytes, len, &result, stdout);
  printf("%s\n", result.failed ? result.text : "ref, opt and the model agree");
  return result.failed;
}
