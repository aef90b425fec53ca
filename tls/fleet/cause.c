/* SPDX-License-Identifier: Apache-2.0 */
#include "cause.h"

#include <string.h>

static const struct {
  const char *command, *text;
} right[] = {
#define RIGHT(name) {"PPRF." name, "its user may not use PPRF." name}
  RIGHT("HELLO"), RIGHT("NAMEKEY"), RIGHT("INFO"),   RIGHT("CREATE"),
  RIGHT("ISSUE"), RIGHT("CLAIM"),   RIGHT("COMMIT"), RIGHT("RELEASE"),
  RIGHT("PUNCT"), RIGHT("RETURN")
#undef RIGHT
};

enum { RIGHTS = sizeof right / sizeof *right };

static const char *const text[CAUSE_RIGHT] = {
  [CAUSE_NONE] = "",
  [CAUSE_NAME] = "its host name has no address",
  [CAUSE_NO_SOCKET] = "there is no such socket",
  [CAUSE_SOCKET_RIGHT] = "no permission to use its socket (unixsocketperm)",
  [CAUSE_CLOSED] = "nothing listens there",
  [CAUSE_UNREACHABLE] = "it cannot be reached",
  [CAUSE_SILENT] = "it does not answer in time",
  [CAUSE_ENDED] = "it ends connections at once: a port with TLS, or none of Valkey or Redis",
  [CAUSE_NO_TLS] = "it does not speak TLS at this port",
  [CAUSE_CERTIFICATE] = "its certificate is not valid: not its name, expired, or not of this ca",
  [CAUSE_ALERT] = "it refuses the client certificate, or wants one",
  [CAUSE_PASSWORD] = "wrong user or password",
  [CAUSE_NO_PASSWORD] = "it wants a password",
  [CAUSE_KEYS] = "its user may not use these keys",
  [CAUSE_MODULE] = "it has no module pprf, or an older one",
  [CAUSE_NODE] = "the keys belong to another node of its cluster",
  [CAUSE_PROTECTED] = "it is in protected mode",
  [CAUSE_CLIENTS] = "it takes no more connections (maxclients)",
  [CAUSE_LOADING] = "it is loading its data",
  [CAUSE_REPLICA] = "it is a replica",
  [CAUSE_MEMORY] = "it has no memory left (maxmemory)",
  [CAUSE_POLICY] = "its maxmemory-policy is not noeviction",
  [CAUSE_KEY_TAKEN] = "all keys of these trees hold something else",
  [CAUSE_ANSWER] = "its answers are not the module's"};

static const struct {
  const char *begins;
  enum cause cause;
} known[] = {{"WRONGPASS", CAUSE_PASSWORD},
             {"ERR AUTH", CAUSE_PASSWORD}, /* it has no password */
             {"NOAUTH", CAUSE_NO_PASSWORD},
             {"ERR unknown command", CAUSE_MODULE},
             {"MOVED", CAUSE_NODE},
             {"ASK", CAUSE_NODE},
             {"CLUSTERDOWN", CAUSE_NODE},
             {"DENIED", CAUSE_PROTECTED},
             {"ERR max number of clients", CAUSE_CLIENTS},
             {"LOADING", CAUSE_LOADING},
             {"READONLY", CAUSE_REPLICA},
             {"OOM", CAUSE_MEMORY},
             {"ERR not enough memory", CAUSE_MEMORY},
             {"ERR maxmemory-policy", CAUSE_POLICY},
             {"WRONGTYPE", CAUSE_KEY_TAKEN}};

const char *cause_command(unsigned number)
{
  return number < RIGHTS ? right[number].command : NULL;
}

enum cause cause_of(const redisReply *error, const char *command)
{
  if (error == NULL || error->type != REDIS_REPLY_ERROR)
    return CAUSE_ANSWER;
  if (strncmp(error->str, "NOPERM", 6) == 0) {
    for (unsigned i = 0; i < RIGHTS && strstr(error->str, " key") == NULL; i++)
      if (strcmp(command, right[i].command) == 0)
        return CAUSE_RIGHT + i;
    return CAUSE_KEYS;
  }
  for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
    if (strncmp(error->str, known[i].begins, strlen(known[i].begins)) == 0)
      return known[i].cause;
  return CAUSE_ANSWER;
}

const char *cause_text(enum cause cause)
{
  return (unsigned)cause < CAUSE_RIGHT            ? text[cause]
         : (unsigned)cause - CAUSE_RIGHT < RIGHTS ? right[cause - CAUSE_RIGHT].text
                                                  : "";
}
