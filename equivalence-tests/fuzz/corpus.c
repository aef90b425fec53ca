/* SPDX-License-Identifier: Apache-2.0 */
/* corpus-TARGET: runs the committed inputs of a fuzz target, which make has unpacked, once, as TAP;
 * or the files named as arguments. A failing input ends the program, which names the input. */
#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>

#include "fuzz.h"
#include "../../tools/tap.h"

static char current[700];

/* from the sanitizers */
__attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)(void));

static void blame(void)
{
  if (write(2, "input: ", 7) + write(2, current, strlen(current)) + write(2, "\n", 1) < 0)
    _exit(1);
}

static void on_abort(int number)
{
  blame();
  (void)signal(number, SIG_DFL);
  (void)raise(number);
}

static int run(const char *path)
{
  struct stat s;
  FILE *f = fopen(path, "rb");
  snprintf(current, sizeof current, "%s", path);
  if (f == NULL || fstat(fileno(f), &s) != 0)
    return 0;
  size_t len = (size_t)s.st_size;
  uint8_t *bytes = malloc(len > 0 ? len : 1); /* exact size, for the sanitizer */
  int ok = bytes != NULL && fread(bytes, 1, len, f) == len;
  fclose(f);
  if (ok)
    (void)LLVMFuzzerTestOneInput(bytes, len);
  free(bytes);
  return ok;
}

int main(int argc, char **argv)
{
  const char *target = strrchr(argv[0], '-');
  char path[700];
  unsigned inputs = 0, unread = 0;
  /* the target may redirect standard output */
  int out = dup(1);
  signal(SIGABRT, on_abort);
  if (__sanitizer_set_death_callback != NULL)
    __sanitizer_set_death_callback(blame);
  for (int i = 1; i < argc; i++)
    if (argv[i][0] != '-')
      unread += !run(argv[i]), inputs++;
  if (inputs == 0) {
    snprintf(path, sizeof path, "build/equivalence-tests/inputs/fuzz_%s",
             target == NULL ? "" : target + 1);
    DIR *d = opendir(path);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
      if (e->d_name[0] != '.') {
        snprintf(path, sizeof path, "build/equivalence-tests/inputs/fuzz_%s/%.255s", target + 1,
                 e->d_name);
        unread += !run(path);
        inputs++;
      }
    if (d != NULL)
      closedir(d);
  }
  fflush(stdout);
  if (dup2(out, 1) != 1)
    return 1;
  tap_ok(inputs > 0 && unread == 0, "all_%u_inputs_keep_what_fuzz_%s_requires", inputs,
         target == NULL ? "" : target + 1);
  return tap_end();
}
