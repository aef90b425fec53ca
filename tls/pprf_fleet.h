/* SPDX-License-Identifier: Apache-2.0 */
/** @file pprf_fleet.h
 * The tickets of pprf_tickets.h for several machines: the keys are in Valkey or Redis servers that have this
 * project's module, and a ticket issued by any machine is redeemed once, at whichever.  docs/fleet.md says
 * what holds and what each failure costs.
 *
 * Every process has a thread for each server, which connects, reconnects, and fetches leaves ahead.
 * It hands unused leaves back when pprf_tickets_free is called or the process ends by exit.
 * So sealing a ticket never waits.  Opening one asks its server and waits for the answer, at most
 * for the server's timeout; without an answer there is no early data and no resumption.  While
 * there is no connection, nothing waits. */
#ifndef PPRF_FLEET_H
#define PPRF_FLEET_H

#include <pprf_tickets.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Servers of one pprf_tickets, at most. */
#define PPRF_FLEET_SERVERS_MAX 8
/** Bytes of a server's place, as pprf_tickets_server gives it. */
#define PPRF_FLEET_PLACE_MAX 256

/** Make a state whose keys are on servers.  Each server is a URL:
 *   valkey://[user[:password]@]host[:port][/name][?option=value[&option=value...]]
 * with valkeys:// for TLS; redis:// and rediss:// mean the same.  unix:///path[?...] is a Unix socket.
 * port: 6379.  name: of the keys on the server, default pprf; machines with the same name share tickets.
 * user and password may have %XX.  Options:
 *   timeout=N       milliseconds that opening a ticket waits for the server at most, and the end of a
 *                   TLS 1.2 handshake: 1..1000, default 20
 *   budget=N        percent of its time that a thread may wait for servers, 1..100, default 25: a
 *                   thread that has waited more does not ask this server, and its tickets cost a
 *                   full handshake.  After a pause it may use the budget of 1/8 s more.  100: no bound
 *   passfile=PATH   a file with the password on its first line
 *   name=NAME       as above, for a Unix socket
 *   ca=PATH         certificates that the server's must be signed by; default: the system's
 *   cert=PATH, key=PATH   the client's certificate and its key
 * Files are read here, and again by pprf_tickets_renew.  The threads look host names up, each time that
 * they connect.  Tickets are issued from the servers in
 * turn, and redeemed at the server they came from.
 *
 * pprf_tickets_open leases the ticket: redeem it or release it within ten seconds, in the same process, or it
 * ends punctured.  pprf_tickets_redeem does not wait for the server's answer: only this process has
 * the lease, which can only end in a puncture.  A ticket's keys are gone from the server when it is
 * redeemed, or at the latest a quarter of a lifetime after it has expired.  The counters are those of
 * all processes forked after this call.
 *
 * pprf_tickets_rotate starts a new tree on every server.  This process issues from it at once, all
 * others of all hosts within ten seconds.  pprf_tickets_revoke ends all trees of the name: tickets
 * issued before are good at no host; those that another process makes in the ten seconds after it
 * may cost a full handshake.  Both wait for the servers, two seconds at most, and return
 * PPRF_TLS_ERR_BACKEND if one of them is not connected or has not answered, or refused; the others
 * have done it then.  pprf_tickets_export is refused with PPRF_TLS_ERR_BACKEND.
 * @param[out] tickets to be given back with pprf_tickets_free; NULL on error.
 * @param[in]  options as for pprf_tickets_new, the same on all machines: no rotation, no memory and no suite
 *                     (the servers' trees are of PPRF_SHA3_256), and a lifetime of at most 432000 seconds.  depth: of a tree, which is issued from for a
 *                     quarter of a lifetime, at least 10 seconds; by default by rate.
 * @param[in]  server  the URLs.
 * @param[in]  servers their number, 1..PPRF_FLEET_SERVERS_MAX.
 * @retval PPRF_OK              *tickets can be used, by processes forked from now on too, though no server
 *                              need have answered yet: tickets cannot be made until one has.
 * @retval PPRF_ERR_NULL        a pointer is NULL.
 * @retval PPRF_ERR_NOMEM       no memory.
 * @retval PPRF_ERR_CRYPTO      OpenSSL lacks an algorithm.
 * @retval PPRF_TLS_ERR_OPTION  an option or a URL is wrong (pprf_tickets_bad_option,
 *                              pprf_tickets_bad_server say what), or there are too many servers.
 * @retval PPRF_TLS_ERR_BACKEND a file cannot be read, or does not hold what it should. */
PPRF_API int pprf_tickets_new_fleet(pprf_tickets **tickets,
                                    const struct pprf_tickets_options *options,
                                    const char *const *server, size_t servers);

/** A short description of what is wrong with a server's URL; NULL: nothing. */
PPRF_API const char *pprf_tickets_bad_server(const char *server);

/** Read the servers' files again: passwords and certificates.  Connections made from now on use them, of
 * this process and of those it forks; existing connections stay.
 * @retval PPRF_OK              done, or there is nothing to read: the keys are on this machine.
 * @retval PPRF_ERR_NULL        tickets is NULL.
 * @retval PPRF_TLS_ERR_BACKEND a file cannot be read, or does not hold what it should: nothing has changed. */
PPRF_API int pprf_tickets_renew(pprf_tickets *tickets);

/** A server, as the processes of this host see it. */
struct pprf_tickets_server {
  size_t size;                      /**< sizeof(struct pprf_tickets_server) */
  uint64_t up;                      /**< 1: a process is connected */
  uint64_t round_trip_us;           /**< of the last claim, or of a connection's first commands */
  uint64_t trees;                   /**< that live, of 16 at most; as all that follows, seen within the
                                         last ten seconds in which a process was connected */
  uint64_t leaves_left;             /**< that can be issued before the oldest tree gives way */
  uint64_t seconds_left;            /**< for which they last at the rate of all hosts in the last
                                         minute; UINT64_MAX: for ever, or it is not known yet */
  const char *failure;              /**< why it cannot be used, or not fully; NULL: it can */
  char place[PPRF_FLEET_PLACE_MAX]; /**< its URL, without user, password and options */
};

/** Look at a server.
 * @param[in]     tickets the state.
 * @param[in]     server  its number in the call of pprf_tickets_new_fleet, from 0 on.
 * @param[in,out] out     size is set by the caller.
 * @retval PPRF_OK             *out is filled in.
 * @retval PPRF_ERR_NULL       a pointer is NULL.
 * @retval PPRF_ERR_RANGE      there is no such server.
 * @retval PPRF_TLS_ERR_OPTION size is smaller than that of this version. */
PPRF_API int pprf_tickets_server(pprf_tickets *tickets, unsigned server,
                                 struct pprf_tickets_server *out);

/** A failure for the log: which server, and why it cannot be used.  Of all processes one gets it, once;
 * again only when the server has had another failure, or none, since.
 * @param[in]  tickets the state.
 * @param[out] line    a string.
 * @param[in]  bytes   room at line: 384 are enough.
 * @return the line's length; 0: there is no failure that was not told. */
PPRF_API unsigned pprf_tickets_failure(pprf_tickets *tickets, char *line, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
