/* SPDX-License-Identifier: Apache-2.0 */
/** @file cause.h
 * Why a server of the fleet cannot be used, as one word that processes can share. */
#ifndef PPRF_TLS_CAUSE_H
#define PPRF_TLS_CAUSE_H

#include <hiredis/hiredis.h>

enum cause {
  CAUSE_NONE,
  CAUSE_NAME,        /* its host has no address */
  CAUSE_NO_SOCKET,
  CAUSE_SOCKET_RIGHT,
  CAUSE_CLOSED,      /* nothing listens */
  CAUSE_UNREACHABLE,
  CAUSE_SILENT,      /* no answer in time */
  CAUSE_ENDED,       /* it closed the connection */
  CAUSE_NO_TLS,
  CAUSE_CERTIFICATE, /* its own */
  CAUSE_ALERT,       /* it refuses our certificate */
  CAUSE_PASSWORD,
  CAUSE_NO_PASSWORD, /* it wants one */
  CAUSE_KEYS,        /* no right to the trees' keys */
  CAUSE_MODULE,      /* it does not have the module */
  CAUSE_NODE,        /* of a cluster: another has the keys */
  CAUSE_PROTECTED,
  CAUSE_CLIENTS,
  CAUSE_LOADING,
  CAUSE_REPLICA,
  CAUSE_MEMORY,
  CAUSE_POLICY,      /* maxmemory-policy */
  CAUSE_KEY_TAKEN,   /* a key of ours holds something else */
  CAUSE_ANSWER,      /* not what the module answers */
  CAUSE_RIGHT        /* no right to the command of this number; a further number for each */
};

/** A command of the module: the part of its name after "PPRF."; NULL: there are no more. */
const char *cause_command(unsigned number);

/** The cause of an error reply to a command, whose name is not among the commands above for AUTH. */
enum cause cause_of(const redisReply *error, const char *command);

/** In words. */
const char *cause_text(enum cause cause);

#endif
