/* SPDX-License-Identifier: Apache-2.0 */
/* Tickets: a server issues them to clients and accepts each once. */
#include <pprf_tickets.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(const char *what, int err)
{
  if (err == PPRF_OK)
    return;
  fprintf(stderr, "%s: %s\n", what, pprf_tls_strerror(err));
  exit(1);
}

int main(void)
{
  static const char session[] = "who the client is";
  const struct pprf_tickets_options options = {
    .size = sizeof options, .depth = 10, .lifetime = 600};
  uint8_t ticket[sizeof session + PPRF_TICKET_OVERHEAD], changed[sizeof ticket],
    content[sizeof ticket];
  size_t ticket_len = sizeof ticket, len = sizeof content;
  pprf_tickets *tickets;
  uint64_t number;
  check("new", pprf_tickets_new(&tickets, &options)); /* before any fork: processes share it */
  check("seal",
        pprf_tickets_seal(tickets, (const uint8_t *)session, sizeof session, ticket, &ticket_len));

  memcpy(changed, ticket, ticket_len); /* an attacker's bytes are refused */
  changed[ticket_len - 1] ^= 1;
  int err = pprf_tickets_open(tickets, changed, ticket_len, content, &len, &number);
  printf("a changed ticket: %s\n", err == PPRF_ERR_FORMAT ? "refused" : "opened");

  len = sizeof content; /* opening changes nothing: anyone who saw the ticket can send it */
  check("open", pprf_tickets_open(tickets, ticket, ticket_len, content, &len, &number));
  printf("the ticket says: %s\n", (const char *)content);

  err = pprf_tickets_redeem(tickets, number, 0); /* once the client has proved that it is its own */
  printf("first to redeem it: %s\n", err == PPRF_OK ? "yes" : "no");
  err = pprf_tickets_redeem(tickets, number, 0);
  printf("second to redeem it: %s\n", err == PPRF_OK ? "yes" : "no");
  len = sizeof content;
  err = pprf_tickets_open(tickets, ticket, ticket_len, content, &len, &number);
  printf("opened after that: %s\n", err == PPRF_OK ? "yes" : "no");
  pprf_tickets_free(tickets);
  return 0;
}
