/* SPDX-License-Identifier: Apache-2.0 */
/* The program that opens first_use.c as a plugin: first_use_host PLUGIN OPERATION SUITE STORE. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
  int (*first_use)(const char *, const char *, const char *);
  void *plugin = argc == 5 ? dlopen(argv[1], RTLD_LAZY) : NULL;
  void *found = plugin == NULL ? NULL : dlsym(plugin, "first_use");
  if (found == NULL) {
    fprintf(stderr, "%s\n", argc == 5 ? dlerror() : "four arguments");
    return 2;
  }
  memcpy(&first_use, &found, sizeof found);
  return first_use(argv[2], argv[3], argv[4]);
}
