/* SPDX-License-Identifier: Apache-2.0 */
/* The pprf process: set-up and tear-down around a command (command.c). */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

/* The process holds keys: no core dump, no reading of its memory by the user's other programs.
 * A write beyond a limit or to a closed pipe is an error to report, not the end of the program. */
static void harden(void)
{
  struct rlimit none = {0, 0};
  (void)setrlimit(RLIMIT_CORE, &none);
  (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  (void)signal(SIGXFSZ, SIG_IGN);
  (void)signal(SIGPIPE, SIG_IGN);
}

/* Whether messages would go into a key file, as in pprf info key 2>> key. */
static bool standard_error_is_a_key(void)
{
  static const char magic[7] = {'P', 'P', 'R', 'F', 'K', 'E', 'Y'};
  char begin[sizeof magic] = {0};
  struct stat s;
  int fd = fstat(STDERR_FILENO, &s) == 0 && S_ISREG(s.st_mode) && s.st_size > 0
             ? open("/proc/self/fd/2", O_RDONLY | O_CLOEXEC)
             : -1;
  if (fd < 0)
    return false;
  bool is_key =
    pread(fd, begin, sizeof begin, 0) == sizeof begin && memcmp(begin, magic, sizeof magic) == 0;
  (void)close(fd);
  return is_key;
}

/* Output through stdio, such as --help, must have reached standard output too. */
static void close_stdout(void)
{
  if (fclose(stdout) != 0)
    _exit(complain(STATUS_FAILED, "standard output: %s", strerror(errno)));
}

/* Length of the prefix before a hyphen, which all version names of one variable share. */
static size_t kind(const char *name)
{
  const char *hyphen = strchr(name, '-');
  return hyphen == NULL ? 0 : (size_t)(hyphen - name);
}

/* The library would silently use another PRG version; report the one it cannot use. */
static int check_version(const char *variable, const char *names)
{
  const char *name = secure_getenv(variable);
  int err = name == NULL ? PPRF_OK : pprf_prg_select(name);
  if (err == PPRF_OK && name != NULL &&
      (kind(name) != kind(names) || strncmp(name, names, kind(names)) != 0))
    err = PPRF_ERR_RANGE; /* it belongs to another variable */
  if (err == PPRF_ERR_RANGE)
    return complain(STATUS_USAGE, "%s '%s': not %s, or the processor cannot run it", variable, name,
                    names);
  return err == PPRF_OK
           ? STATUS_DONE
           : complain(STATUS_FAILED, "%s '%s': %s", variable, name, pprf_strerror(err));
}

static int check_prg(void)
{
  int status = check_version("PPRF_PRG", "evp, scalar, avx2 or avx512");
  if (status == STATUS_DONE)
    status = check_version("PPRF_AES", "aes-evp, aes-bitsliced, aes-ni, aes-vaes or aes-armv8");
  if (status == STATUS_DONE)
    status = check_version("PPRF_SHA256", "sha256-evp, sha256-scalar, sha256-ni or sha256-armv8");
  return status;
}

int main(int argc, char **argv)
{
  if (!keep_standard_numbers())
    return STATUS_FAILED;
  if (standard_error_is_a_key())
    return STATUS_FILE; /* without a word */
  harden();
  if (atexit(close_stdout) != 0)
    return complain(STATUS_FAILED, "atexit: %s", strerror(errno));
  int status = check_prg();
  if (status != STATUS_DONE)
    return status;
  return command_run(argc, argv);
}
