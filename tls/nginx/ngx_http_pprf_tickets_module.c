/* SPDX-License-Identifier: Apache-2.0 */
/* Single-use, forward-secret session tickets for nginx.
 *
 * The master makes the tickets' state and shares its mapping with the workers.  A reload that does
 * not change the options keeps the state, so tickets stay valid.  On a binary upgrade (USR2) the
 * old master executes the new binary as its child, which gets the number of the state's descriptor
 * in its environment. */
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>
#include <limits.h>
#include <sys/mman.h>
#include <pprf_fleet.h>
#include <pprf_tls.h>

/* Tickets, with the number of this process's cycles that use them. */
struct state {
  struct state *next;
  pprf_tickets *tickets;
  struct pprf_tickets_options options;
  char *servers; /* their URLs, a space after each; "": keys on this machine */
  unsigned cycles;
  int fd;       /* to hand to a new binary (master only); -1: none */
  pid_t parent; /* the old master that shares the tickets; 0: none */
  struct told *told;
};

/* What the log has, in memory shared by the workers of all cycles: a new worker does not repeat it. */
struct told {
  uint64_t dropped, kept, unanswered, not_issued, imported;
  time_t dropped_at, servers_at, locked_at;
  int not_locked;
};

/* Environment variable that tells a new binary the descriptor's number. */
#define HANDED "PPRF_TICKETS_STATE"

typedef struct {
  ngx_int_t depth; /* ngx_conf_set_num_slot wants this type */
  time_t lifetime;
  time_t rotation;
  ngx_int_t rate;
  off_t memory;
  ngx_flag_t tls12;
  unsigned suite; /* 0: the default */
  ngx_array_t *servers; /* of ngx_str_t; NULL: keys on this machine */
  struct state *state; /* NULL: no server has pprf_tickets on */
} main_conf_t;

typedef struct {
  ngx_flag_t enable;
} srv_conf_t;

typedef struct {
  unsigned format; /* 0: no status here */
} loc_conf_t;

static struct state *states; /* a failed reload leaves those of the running cycle */
static ngx_event_t expiry;

/* Seconds between two checks for expired tickets and dropped keys, and between two log lines about
 * them. */
#define INTERVAL 10
#define LINES_INTERVAL 60

#define NOT_FOUND                                                            \
  "secrets of used tickets stay in open connections: OpenSSL's memory is not " \
  "malloc's, or its layout is unknown"

ngx_module_t ngx_http_pprf_tickets_module;

static void close_fd(struct state *state)
{
  if (state->fd >= 0)
    (void)close(state->fd);
  state->fd = -1;
}

/* Whether a program has taken the tickets over from this one. */
static int is_imported(const struct state *state)
{
  struct pprf_tickets_stats s = {.size = sizeof s};
  return pprf_tickets_stats(state->tickets, &s) != PPRF_OK || s.imported > state->told->imported;
}

/* What happened before need not be told. */
static struct told *new_told(pprf_tickets *tickets)
{
  struct pprf_tickets_stats s = {.size = sizeof s};
  struct told *told =
    mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (told == MAP_FAILED)
    return NULL;
  if (pprf_tickets_stats(tickets, &s) == PPRF_OK)
    *told = (struct told){s.dropped, s.kept, s.unanswered, s.not_issued, s.imported, 0, 0, 0, 0};
  return told;
}

static void release(void *data)
{
  struct state *state = data;
  if (--state->cycles > 0)
    return;
  struct state **p = &states;
  while (*p != state)
    p = &(*p)->next;
  *p = state->next;
  /* The process that made the tickets may have ended when the master became a daemon, so adopt
   * them.  Keep them if the old or a new binary still uses them. */
  if (ngx_process != NGX_PROCESS_WORKER && ngx_process != NGX_PROCESS_HELPER &&
      !(ngx_new_binary != 0 && is_imported(state)) &&
      (state->parent == 0 || state->parent != getppid()))
    (void)pprf_tickets_adopt(state->tickets);
  pprf_tickets_free(state->tickets);
  (void)munmap(state->told, sizeof *state->told);
  close_fd(state);
  ngx_explicit_memzero(state->servers, ngx_strlen(state->servers)); /* URLs may contain passwords */
  ngx_free(state->servers);
  ngx_free(state);
}

static int same(const struct pprf_tickets_options *a, const struct pprf_tickets_options *b)
{
  return a->depth == b->depth && a->lifetime == b->lifetime && a->rotation == b->rotation &&
         a->rate == b->rate && a->memory == b->memory && a->no_tls_1_2 == b->no_tls_1_2 &&
         a->suite == b->suite;
}

/* Clamp: a value that does not fit stays out of range, or is practically infinite. */
static unsigned to_unsigned(int64_t v)
{
  return v < 0 ? 0 : v > UINT_MAX ? UINT_MAX : (unsigned)v;
}

static struct pprf_tickets_options options_of(const main_conf_t *conf)
{
  return (struct pprf_tickets_options){.size = sizeof(struct pprf_tickets_options),
                                       .depth = to_unsigned(conf->depth),
                                       .lifetime = to_unsigned(conf->lifetime),
                                       .rotation = to_unsigned(conf->rotation),
                                       .rate = to_unsigned(conf->rate),
                                       .memory = (uint64_t)conf->memory,
                                       .no_tls_1_2 = !conf->tls12,
                                       .suite = conf->suite};
}

/* The descriptor that the old binary left open for this one, once: later its number may be another's.
 * -1: there is none. */
static int handed(void)
{
  static int done;
  const char *number = done ? NULL : getenv(HANDED);
  done = 1;
  return number != NULL ? (int)ngx_atoi((u_char *)(uintptr_t)number, strlen(number)) : -1;
}

/* Close it, or workers and what they execute would have it.  A file is another's with its number. */
static void close_handed(int fd)
{
  int seals = fcntl(fd, F_GET_SEALS);
  if (seals >= 0 && (seals & F_SEAL_SHRINK) != 0)
    (void)close(fd);
}

/* Take over the old binary's tickets in an upgrade.  0: there are none, or their options differ. */
static int take_over(struct state *state, ngx_log_t *log)
{
  int fd = handed();
  if (fd < 0)
    return 0;
  int err = pprf_tickets_import(&state->tickets, fd, &state->options);
  close_handed(fd);
  if (err == PPRF_OK)
    state->parent = getppid();
  else
    ngx_log_error(NGX_LOG_NOTICE, log, 0,
                  "pprf_tickets: new tickets, those of the previous binary end: %s",
                  pprf_tls_strerror(err));
  return err == PPRF_OK;
}

/* The configuration's servers as one string, which the caller frees.  NULL: no memory. */
static char *servers_of(ngx_conf_t *cf, const main_conf_t *conf)
{
  size_t n = 1;
  const ngx_str_t *url = conf->servers != NULL ? conf->servers->elts : NULL;
  for (ngx_uint_t i = 0; url != NULL && i < conf->servers->nelts; i++)
    n += url[i].len + 1;
  char *text = ngx_alloc(n, cf->log), *at = text;
  if (text == NULL)
    return NULL;
  for (ngx_uint_t i = 0; url != NULL && i < conf->servers->nelts; i++) {
    at = (char *)ngx_cpymem(at, url[i].data, url[i].len);
    *at++ = ' ';
  }
  *at = '\0';
  return text;
}

/* Fill a new state: take over the old binary's tickets, or make new ones. */
static int make_tickets(struct state *state, const main_conf_t *conf, ngx_log_t *log)
{
  const char *url[PPRF_FLEET_SERVERS_MAX];
  if (conf->servers == NULL)
    return take_over(state, log) ? PPRF_OK : pprf_tickets_new(&state->tickets, &state->options);
  const ngx_str_t *given = conf->servers->elts; /* nginx terminates each with a zero */
  for (ngx_uint_t i = 0; i < conf->servers->nelts; i++)
    url[i] = (const char *)given[i].data;
  return pprf_tickets_new_fleet(&state->tickets, &state->options, url, conf->servers->nelts);
}

/* Pass the tickets' descriptor to a new binary in its environment. */
static ngx_int_t hand_over(ngx_conf_t *cf, const struct state *state)
{
  ngx_core_conf_t *core = (void *)ngx_get_conf(cf->cycle->conf_ctx, ngx_core_module);
  if (state->fd < 0)
    return NGX_OK;
  ngx_str_t *named = ngx_array_push(&core->env);
  if (named == NULL)
    return NGX_ERROR;
  named->len = sizeof HANDED - 1;
  named->data = ngx_pnalloc(cf->cycle->pool, sizeof HANDED + 1 + NGX_INT_T_LEN);
  if (named->data == NULL)
    return NGX_ERROR;
  (void)ngx_sprintf(named->data, HANDED "=%d%Z", state->fd);
  return NGX_OK;
}

/* The state for a cycle: that of the previous cycle if the options are the same; its servers'
 * passwords and certificates are read again. */
static struct state *state_for(ngx_conf_t *cf, const main_conf_t *conf)
{
  struct pprf_tickets_options options = options_of(conf);
  ngx_pool_cleanup_t *cleanup = ngx_pool_cleanup_add(cf->cycle->pool, 0);
  if (cleanup == NULL)
    return NULL;
  char *servers = servers_of(cf, conf);
  if (servers == NULL)
    return NULL;
  struct state *state = states;
  while (state != NULL &&
         (!same(&options, &state->options) || ngx_strcmp(servers, state->servers) != 0))
    state = state->next;
  if (state != NULL) {
    ngx_free(servers);
    int err = pprf_tickets_renew(state->tickets);
    if (err != PPRF_OK) {
      ngx_log_error(NGX_LOG_EMERG, cf->log, 0, "\"pprf_tickets_backend\": %s",
                    pprf_tls_strerror(err));
      return NULL;
    }
  } else {
    state = ngx_alloc(sizeof *state, cf->log);
    if (state == NULL) {
      ngx_free(servers);
      return NULL;
    }
    *state = (struct state){.next = states, .options = options, .servers = servers, .fd = -1};
    int err = make_tickets(state, conf, cf->log);
    if (err == PPRF_OK && (state->told = new_told(state->tickets)) == NULL) {
      pprf_tickets_free(state->tickets);
      err = PPRF_ERR_NOMEM;
    }
    if (err != PPRF_OK) {
      ngx_log_error(NGX_LOG_EMERG, cf->log, 0, "\"pprf_tickets\": %s", pprf_tls_strerror(err));
      ngx_free(servers);
      ngx_free(state);
      return NULL;
    }
    states = state;
    /* with servers, a new binary connects to them itself */
    err = conf->servers != NULL ? PPRF_OK : pprf_tickets_export(state->tickets, &state->fd);
    if (err != PPRF_OK)
      ngx_log_error(NGX_LOG_WARN, cf->log, 0, "pprf_tickets: an upgrade will end the tickets: %s",
                    pprf_tls_strerror(err));
  }
  state->cycles++;
  cleanup->handler = release;
  cleanup->data = state;
  return state;
}

static const srv_conf_t *own_conf(const ngx_http_core_srv_conf_t *server)
{
  return server->ctx->srv_conf[ngx_http_pprf_tickets_module.ctx_index];
}

static ngx_http_ssl_srv_conf_t *ssl_conf(const ngx_http_core_srv_conf_t *server)
{
  return server->ctx->srv_conf[ngx_http_ssl_module.ctx_index];
}

/* `ssl on` made all of a server's ports speak TLS; nginx 1.25.1 removed it. */
static int ssl_on(const ngx_http_core_srv_conf_t *server)
{
#if nginx_version < 1025001
  return ssl_conf(server)->enable;
#else
  (void)server;
  return 0;
#endif
}

/* A setting that would make other tickets or sessions beside ours, or NULL. */
static const char *conflict(const ngx_http_ssl_srv_conf_t *ssl)
{
  if (ssl->shm_zone != NULL || ssl->builtin_session_cache != NGX_SSL_NONE_SCACHE)
    return "ssl_session_cache\" other than \"none";
  if (!ssl->session_tickets)
    return "ssl_session_tickets off";
  if (ssl->session_ticket_keys != NULL)
    return "ssl_session_ticket_key";
  return NULL;
}

/* SNI may give a connection another server's settings, but OpenSSL makes and opens tickets as the
 * address's default server says, so the two must agree. */
static int agree(ngx_conf_t *cf, const ngx_http_conf_addr_t *addr)
{
  const ngx_http_core_srv_conf_t *first = addr->default_server;
  ngx_http_core_srv_conf_t **server = addr->servers.elts;
  if (!addr->opt.ssl && !ssl_on(first))
    return 1;
  for (ngx_uint_t i = 0; i < addr->servers.nelts; i++)
    if (ssl_conf(server[i])->ssl.ctx != NULL &&
        own_conf(server[i])->enable != own_conf(first)->enable) {
      ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                    "\"pprf_tickets\" differs between the servers at %s:%ui and %s:%ui, which "
                    "share the address %V",
                    first->file_name, first->line, server[i]->file_name, server[i]->line,
                    &addr->opt.addr_text);
      return 0;
    }
  return 1;
}

static ngx_int_t attach(ngx_conf_t *cf, main_conf_t *conf, const ngx_http_core_srv_conf_t *server)
{
  ngx_http_ssl_srv_conf_t *ssl = ssl_conf(server);
  const char *taken = conflict(ssl);
  if (taken != NULL) {
    ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                  "\"pprf_tickets\" and \"%s\" exclude each other in the server at %s:%ui", taken,
                  server->file_name, server->line);
    return NGX_ERROR;
  }
  if (conf->state == NULL)
    conf->state = state_for(cf, conf);
  if (conf->state == NULL)
    return NGX_ERROR;
  int err = ssl->early_data ? pprf_tickets_attach(ssl->ssl.ctx, conf->state->tickets)
                            : pprf_tickets_attach_early(ssl->ssl.ctx, conf->state->tickets, 0);
  if (err != PPRF_OK) {
    ngx_ssl_error(NGX_LOG_EMERG, cf->log, 0, "\"pprf_tickets\" in the server at %s:%ui: %s",
                  server->file_name, server->line, pprf_tls_strerror(err));
    return NGX_ERROR;
  }
  return NGX_OK;
}

/* Environment variables that make freed memory be wiped. */
static const struct {
  ngx_str_t name;
  const char *what;
} variable[] = {{ngx_string("LD_PRELOAD"), "libpprf_tls_preload"},
                {ngx_string("GLIBC_TUNABLES"), "glibc.malloc.perturb"}};

static int wipes(size_t i)
{
  const char *value = getenv((const char *)variable[i].name.data);
  return value != NULL && strstr(value, variable[i].what) != NULL;
}

/* A binary upgrade (USR2) passes only the environment variables that `env` names, so add these. */
static ngx_int_t keep_wiping(ngx_conf_t *cf)
{
  ngx_core_conf_t *core = (void *)ngx_get_conf(cf->cycle->conf_ctx, ngx_core_module);
  for (size_t i = 0; i < sizeof variable / sizeof *variable; i++) {
    if (!wipes(i))
      continue;
    ngx_str_t *named = core->env.elts;
    ngx_uint_t k = 0;
    while (k < core->env.nelts &&
           !(named[k].len == variable[i].name.len &&
             ngx_strncmp(named[k].data, variable[i].name.data, named[k].len) == 0))
      k++;
    if (k < core->env.nelts)
      continue;
    named = ngx_array_push(&core->env);
    if (named == NULL)
      return NGX_ERROR;
    *named = variable[i].name;
  }
  return NGX_OK;
}

static ngx_int_t postconfiguration(ngx_conf_t *cf)
{
  main_conf_t *conf = ngx_http_conf_get_module_main_conf(cf, ngx_http_pprf_tickets_module);
  ngx_http_core_main_conf_t *core = ngx_http_conf_get_module_main_conf(cf, ngx_http_core_module);
  ngx_http_core_srv_conf_t **server = core->servers.elts;
  ngx_http_conf_port_t *port = core->ports != NULL ? core->ports->elts : NULL;
  for (ngx_uint_t i = 0; port != NULL && i < core->ports->nelts; i++) {
    ngx_http_conf_addr_t *addr = port[i].addrs.elts;
    for (ngx_uint_t k = 0; k < port[i].addrs.nelts; k++)
      if (!agree(cf, &addr[k]))
        return NGX_ERROR;
  }
  for (ngx_uint_t i = 0; i < core->servers.nelts; i++)
    if (own_conf(server[i])->enable && ssl_conf(server[i])->ssl.ctx != NULL &&
        attach(cf, conf, server[i]) != NGX_OK)
      return NGX_ERROR;
  if (conf->state == NULL)
    return NGX_OK;
  return keep_wiping(cf) == NGX_OK ? hand_over(cf, conf->state) : NGX_ERROR;
}

/* ---- expiry and the log ---- */

/* Log when keys begin to be dropped, which otherwise shows only as clients' full handshakes. */
static void watch(ngx_log_t *log, const struct state *state)
{
  struct pprf_tickets_stats s = {.size = sizeof s};
  struct told *told = state->told;
  if (pprf_tickets_stats(state->tickets, &s) != PPRF_OK)
    return;
  if (s.dropped > told->dropped && ngx_time() - told->dropped_at >= LINES_INTERVAL) {
    ngx_log_error(NGX_LOG_WARN, log, 0,
                  "pprf_tickets: %uL keys dropped before their tickets had expired, %uL since the "
                  "last such line: more tickets are issued than %uL keys of depth %uL hold for a "
                  "lifetime",
                  s.dropped, s.dropped - told->dropped, s.keys_max, s.depth);
    told->dropped = s.dropped;
    told->dropped_at = ngx_time();
  }
  if (s.kept > 0 && told->kept == 0)
    ngx_log_error(NGX_LOG_WARN, log, 0, "pprf_tickets: " NOT_FOUND);
  told->kept = s.kept;
  uint64_t locked, not_locked;
  if (!told->not_locked && ngx_time() - told->locked_at >= INTERVAL &&
      pprf_tickets_locked(state->tickets, &locked, &not_locked) == PPRF_OK) {
    told->locked_at = ngx_time();
    told->not_locked = not_locked > 0;
    if (not_locked > 0)
      ngx_log_error(NGX_LOG_WARN, log, 0,
                    "pprf_tickets: %uL bytes of the tickets' memory are not locked and may be "
                    "swapped: raise RLIMIT_MEMLOCK (LimitMEMLOCK of systemd)",
                    not_locked);
  }
  char failure[512];
  while (pprf_tickets_failure(state->tickets, failure, sizeof failure))
    ngx_log_error(NGX_LOG_WARN, log, 0, "pprf_tickets: %s", failure);
  if (*state->servers != '\0' && ngx_time() - told->servers_at >= INTERVAL &&
      (s.unanswered > told->unanswered || s.not_issued > told->not_issued)) {
    ngx_log_error(
      NGX_LOG_WARN, log, 0,
      "pprf_tickets: the servers did not answer about %uL tickets and gave no leaves for %uL",
      s.unanswered - told->unanswered, s.not_issued - told->not_issued);
    told->unanswered = s.unanswered;
    told->not_issued = s.not_issued;
    told->servers_at = ngx_time();
  }
}

/* Tickets must also expire in an idle server, and in old workers after a reload makes new ones. */
static void expire(ngx_event_t *event)
{
  struct state *state = event->data;
  (void)pprf_tickets_expire(state->tickets);
  if (ngx_process == NGX_PROCESS_SINGLE || (ngx_worker == 0 && !ngx_exiting))
    watch(event->log, state);
  unsigned lifetime = state->options.lifetime != 0 ? state->options.lifetime : 7200;
  ngx_msec_t seconds = lifetime / 32 > INTERVAL ? INTERVAL : lifetime / 32;
  if (*state->servers != '\0')
    seconds = 1; /* failures of servers go to the log soon */
  ngx_add_timer(event, seconds > 0 ? seconds * 1000 : 1000);
}

static const main_conf_t *conf_of(const ngx_cycle_t *cycle)
{
  const ngx_http_conf_ctx_t *http = (void *)ngx_get_conf(cycle->conf_ctx, ngx_http_module);
  return http != NULL ? http->main_conf[ngx_http_pprf_tickets_module.ctx_index] : NULL;
}

static ngx_int_t init_module(ngx_cycle_t *cycle)
{
  const main_conf_t *conf = conf_of(cycle);
  int unused = handed();
  if (unused >= 0)
    ngx_log_error(NGX_LOG_NOTICE, cycle->log, 0,
                  "pprf_tickets: those of the previous binary end: this configuration has none, or "
                  "has them on servers");
  close_handed(unused);
  if (conf == NULL || conf->state == NULL)
    return NGX_OK;
  unsigned wiping = pprf_tickets_wiping(conf->state->tickets);
  if (!(wiping & PPRF_WIPING_FREED))
    ngx_log_error(NGX_LOG_NOTICE, cycle->log, 0,
                  "pprf_tickets: neither LD_PRELOAD=libpprf_tls_preload.so nor GLIBC_TUNABLES "
                  "wipes freed memory: a used ticket's secret may stay in it");
  if (!(wiping & PPRF_WIPING_USED))
    ngx_log_error(NGX_LOG_WARN, cycle->log, 0, "pprf_tickets: " NOT_FOUND);
  return NGX_OK;
}

static ngx_int_t init_process(ngx_cycle_t *cycle)
{
  for (struct state *state = states; state != NULL; state = state->next)
    close_fd(state); /* only masters execute a new binary */
  const main_conf_t *conf = conf_of(cycle);
  int serves = ngx_process == NGX_PROCESS_SINGLE || ngx_process == NGX_PROCESS_WORKER;
  if (conf == NULL || conf->state == NULL || !serves)
    return NGX_OK;
  expiry =
    (ngx_event_t){.handler = expire, .data = conf->state, .log = cycle->log, .cancelable = 1};
  expire(&expiry);
  return NGX_OK;
}

/* One line for the log when a master or a single process ends. */
static void exit_master(ngx_cycle_t *cycle)
{
  struct pprf_tickets_stats s = {.size = sizeof s};
  for (const struct state *state = states; state != NULL; state = state->next)
    if (pprf_tickets_stats(state->tickets, &s) == PPRF_OK)
      ngx_log_error(NGX_LOG_NOTICE, cycle->log, 0,
                    "pprf_tickets: issued %uL, resumed %uL, early data accepted %uL and rejected "
                    "%uL, refused %uL, foreign %uL, not issued %uL, expired %uL, dropped %uL, "
                    "outstanding %uL, %uL bytes",
                    s.issued, s.resumed, s.early_accepted, s.early_rejected, s.refused, s.foreign,
                    s.not_issued, s.expired, s.dropped, s.outstanding, s.memory_bytes);
}

/* ---- the status ---- */

enum format { PLAIN = 1, JSON, PROMETHEUS };

#define NAMED(name) #name, sizeof #name - 1
#define FIELD(name) NAMED(name), offsetof(struct shown, stats.name)

struct shown {
  struct pprf_tickets_stats stats;
  uint64_t wiping; /* of the process that renders it; index into levels */
  uint64_t locked, not_locked; /* of the same process */
};

/* Metrics show the index. */
static const char *const levels[] = {"none", "partial", "full"};

/* Names of the variables, status lines and metrics, described in the header's words. */
static const struct field {
  const char *name;
  size_t len, offset;
  int counts; /* a counter, else a gauge */
  const char *help;
} fields[] = {
  {FIELD(issued), 1, "tickets issued"},
  {FIELD(resumed), 1, "tickets redeemed without early data"},
  {FIELD(early_accepted), 1, "tickets redeemed with early data"},
  {FIELD(early_rejected), 1,
   "early data rejected although the ticket was valid when it was offered"},
  {FIELD(refused), 1, "tickets offered that were used or expired, or whose key is gone"},
  {FIELD(foreign), 1, "offered bytes that are not one of these tickets"},
  {FIELD(not_issued), 1, "tickets that could not be made"},
  {FIELD(expired), 1, "tickets past their lifetime"},
  {FIELD(dropped), 1, "keys dropped before their last ticket had expired"},
  {FIELD(kept), 1, "connections in which OpenSSL keeps the secrets of tickets"},
  {FIELD(unanswered), 1,
   "tickets about which a pprf_tickets_backend server did not answer in time"},
  {FIELD(connected), 1, "connections made to pprf_tickets_backend servers"},
  {FIELD(remembered), 1, "used tickets refused without asking a pprf_tickets_backend server"},
  {FIELD(over_budget), 1,
   "tickets refused because the worker had waited for pprf_tickets_backend servers for too long"},
  {FIELD(outstanding), 0, "tickets neither redeemed nor expired"},
  {FIELD(nodes), 0, "seeds held"},
  {FIELD(memory_bytes), 0, "memory held"},
  {FIELD(depth), 0, "a key holds 2^depth tickets"},
  {FIELD(keys), 0, "keys held, the current one and those whose tickets have not expired"},
  {FIELD(keys_max), 0, "keys that can be held before the oldest is dropped"},
  {FIELD(suite), 0, "suite of the keys: 1 sha3-256, 2 sha3-256-salted, 3 aes-128"},
  {FIELD(current), 0, "leaves of the current key that are issued, of 2^depth"},
  {FIELD(imported), 1, "programs that took the tickets over in an upgrade"},
  {NAMED(locked_bytes), offsetof(struct shown, locked), 0,
   "the tickets' memory that is locked in RAM, as one worker sees it"},
  {NAMED(unlocked_bytes), offsetof(struct shown, not_locked), 0,
   "the tickets' memory that may be swapped, as one worker sees it"},
  {NAMED(wiping), offsetof(struct shown, wiping), 0,
   "2: freed memory is wiped, and secrets of used tickets are found and wiped; 1: one of the two; 0: neither"}};

#define WIPING (FIELDS - 1)
#define FIELDS (sizeof fields / sizeof *fields)
#define LINE_MAX_BYTES 320 /* of one field, in the longest format */

static const struct state *state_of(ngx_http_request_t *r)
{
  const main_conf_t *conf = ngx_http_get_module_main_conf(r, ngx_http_pprf_tickets_module);
  return conf->state;
}

/* memory: of the locked bytes too, which takes longer. */
static ngx_int_t ask(const struct state *state, struct shown *shown, int memory)
{
  shown->stats.size = sizeof shown->stats;
  if (state == NULL || pprf_tickets_stats(state->tickets, &shown->stats) != PPRF_OK)
    return NGX_ERROR;
  unsigned wiping = pprf_tickets_wiping(state->tickets);
  shown->wiping = wiping == PPRF_WIPING_FULL ? 2 : wiping != 0;
  shown->locked = shown->not_locked = 0;
  if (memory)
    (void)pprf_tickets_locked(state->tickets, &shown->locked, &shown->not_locked);
  return NGX_OK;
}

static uint64_t value_of(const struct shown *shown, size_t i)
{
  uint64_t value;
  ngx_memcpy(&value, (const u_char *)shown + fields[i].offset, sizeof value);
  return value;
}

static ngx_int_t get_variable(ngx_http_request_t *r, ngx_http_variable_value_t *v, uintptr_t index)
{
  struct shown shown;
  u_char *text = ngx_pnalloc(r->pool, NGX_INT64_LEN);
  if (text == NULL)
    return NGX_ERROR;
  if (ask(state_of(r), &shown, index >= WIPING - 2) != NGX_OK) {
    v->not_found = 1;
    return NGX_OK;
  }
  v->data = text;
  uint64_t value = value_of(&shown, index);
  v->len = (unsigned)((index == WIPING ? ngx_sprintf(text, "%s", levels[value])
                                       : ngx_sprintf(text, "%uL", value)) -
                      text);
  v->valid = 1;
  v->no_cacheable = 1;
  v->not_found = 0;
  return NGX_OK;
}

static ngx_int_t add_variables(ngx_conf_t *cf)
{
  for (size_t i = 0; i < FIELDS; i++) {
    ngx_str_t name;
    name.len = sizeof "pprf_tickets_" - 1 + fields[i].len;
    name.data = ngx_pnalloc(cf->pool, name.len);
    if (name.data == NULL)
      return NGX_ERROR;
    (void)ngx_sprintf(name.data, "pprf_tickets_%s", fields[i].name);
    ngx_http_variable_t *v = ngx_http_add_variable(cf, &name, NGX_HTTP_VAR_NOCACHEABLE);
    if (v == NULL)
      return NGX_ERROR;
    v->get_handler = get_variable;
    v->data = i;
  }
  return NGX_OK;
}

static u_char *write_field(u_char *at, enum format format, size_t i, uint64_t value)
{
  const struct field *f = &fields[i];
  if (i == WIPING && format != PROMETHEUS)
    return ngx_sprintf(at, format == PLAIN ? "%s %s\n" : ", \"%s\": \"%s\"", f->name,
                       levels[value]);
  if (format == PLAIN)
    return ngx_sprintf(at, "%s %uL\n", f->name, value);
  if (format == JSON)
    return ngx_sprintf(at, "%s\"%s\": %uL", i == 0 ? "{" : ", ", f->name, value);
  const char *suffix = f->counts ? "_total" : "";
  return ngx_sprintf(at,
                     "# HELP pprf_tickets_%s%s %s\n# TYPE pprf_tickets_%s%s %s\n"
                     "pprf_tickets_%s%s %uL\n",
                     f->name, suffix, f->help, f->name, suffix, f->counts ? "counter" : "gauge",
                     f->name, suffix, value);
}

#define SERVER_MAX_BYTES 4096 /* of one server, in the longest format */

/* Of a server, in the header's words. */
static const struct {
  const char *name, *metric, *help;
  size_t offset;
} server_fields[] = {
#define SERVER(name, metric, help) {#name, metric, help, offsetof(struct pprf_tickets_server, name)}
  SERVER(up, "up", "1: a process of this host is connected"),
  SERVER(round_trip_us, "round_trip_microseconds", "the last claim's"),
  SERVER(trees, "trees", "trees that live, of 16"),
  SERVER(leaves_left, "leaves_left", "leaves before the oldest tree gives way"),
  SERVER(seconds_left, "seconds_left", "how long they last at the rate of the last minute"),
#undef SERVER
};

#define SERVER_FIELDS (sizeof server_fields / sizeof *server_fields)

/* A field's value; what lasts for ever is infinite, or null in JSON. */
static u_char *write_server_value(u_char *at, enum format format, size_t k,
                                  const struct pprf_tickets_server *s)
{
  uint64_t value;
  ngx_memcpy(&value, (const u_char *)s + server_fields[k].offset, sizeof value);
  if (value == UINT64_MAX)
    return ngx_sprintf(at, format == PLAIN ? "never" : format == JSON ? "null" : "+Inf");
  return ngx_sprintf(at, "%uL", value);
}

static u_char *write_server(u_char *at, enum format format, ngx_uint_t i,
                            const struct pprf_tickets_server *s)
{
  const char *failure = s->failure != NULL ? s->failure : "";
  if (format == PLAIN)
    at = ngx_sprintf(at, "server_%ui %s\n", i, s->place);
  else
    at = ngx_sprintf(at, "%s{\"server\": \"%s\"", i == 1 ? ", \"servers\": [" : ", ", s->place);
  for (size_t k = 0; k < SERVER_FIELDS; k++) {
    if (format == PLAIN)
      at = ngx_sprintf(at, "server_%ui_%s ", i, server_fields[k].name);
    else
      at = ngx_sprintf(at, ", \"%s\": ", server_fields[k].name);
    at = write_server_value(at, format, k, s);
    if (format == PLAIN)
      *at++ = '\n';
  }
  return format == PLAIN
           ? ngx_sprintf(at, "server_%ui_failure %s\n", i, *failure != '\0' ? failure : "none")
           : ngx_sprintf(at, ", \"failure\": \"%s\"}", failure);
}

/* A metric's lines follow each other. */
static u_char *write_server_metrics(u_char *at, const struct pprf_tickets_server *s, unsigned n)
{
  for (size_t k = 0; k < SERVER_FIELDS && n > 0; k++) {
    const char *metric = server_fields[k].metric;
    at = ngx_sprintf(at, "# HELP pprf_tickets_server_%s %s\n# TYPE pprf_tickets_server_%s gauge\n",
                     metric, server_fields[k].help, metric);
    for (unsigned i = 0; i < n; i++) {
      at = ngx_sprintf(at, "pprf_tickets_server_%s{server=\"%s\"} ", metric, s[i].place);
      at = write_server_value(at, PROMETHEUS, k, &s[i]);
      *at++ = '\n';
    }
  }
  if (n > 0)
    at = ngx_sprintf(at, "# HELP pprf_tickets_server_failure why it cannot be used\n"
                         "# TYPE pprf_tickets_server_failure gauge\n");
  for (unsigned i = 0; i < n; i++)
    if (s[i].failure != NULL)
      at = ngx_sprintf(at, "pprf_tickets_server_failure{server=\"%s\",failure=\"%s\"} 1\n",
                       s[i].place, s[i].failure);
  return at;
}

/* The servers of pprf_tickets_backend, if there are any, and the end. */
static u_char *write_servers(u_char *at, enum format format, const struct state *state)
{
  struct pprf_tickets_server s[PPRF_FLEET_SERVERS_MAX];
  unsigned n = 0;
  for (; n < PPRF_FLEET_SERVERS_MAX; n++) {
    s[n].size = sizeof s[n];
    if (pprf_tickets_server(state->tickets, n, &s[n]) != PPRF_OK)
      break;
  }
  if (format == PROMETHEUS)
    return write_server_metrics(at, s, n);
  for (unsigned i = 0; i < n; i++)
    at = write_server(at, format, i + 1, &s[i]);
  return format == JSON ? ngx_sprintf(at, n > 0 ? "]}\n" : "}\n") : at;
}

static ngx_int_t show_status(ngx_http_request_t *r)
{
  static const ngx_str_t type[] = {ngx_null_string, ngx_string("text/plain"),
                                   ngx_string("application/json"),
                                   ngx_string("text/plain; version=0.0.4")};
  const loc_conf_t *conf = ngx_http_get_module_loc_conf(r, ngx_http_pprf_tickets_module);
  struct shown shown;
  if (!(r->method & (NGX_HTTP_GET | NGX_HTTP_HEAD)))
    return NGX_HTTP_NOT_ALLOWED;
  ngx_int_t rc = ngx_http_discard_request_body(r);
  if (rc != NGX_OK)
    return rc;
  if (ask(state_of(r), &shown, 1) != NGX_OK)
    return NGX_HTTP_NOT_FOUND;
  ngx_buf_t *b = ngx_create_temp_buf(r->pool, FIELDS * LINE_MAX_BYTES +
                                                PPRF_FLEET_SERVERS_MAX * SERVER_MAX_BYTES);
  if (b == NULL)
    return NGX_HTTP_INTERNAL_SERVER_ERROR;
  for (size_t i = 0; i < FIELDS; i++)
    b->last = write_field(b->last, (enum format)conf->format, i, value_of(&shown, i));
  b->last = write_servers(b->last, (enum format)conf->format, state_of(r));
  b->last_buf = r == r->main;
  b->last_in_chain = 1;
  r->headers_out.status = NGX_HTTP_OK;
  r->headers_out.content_type = type[conf->format];
  r->headers_out.content_type_len = type[conf->format].len;
  r->headers_out.content_length_n = b->last - b->pos;
  rc = ngx_http_send_header(r);
  ngx_chain_t out = {.buf = b, .next = NULL};
  return rc == NGX_ERROR || rc > NGX_OK || r->header_only ? rc : ngx_http_output_filter(r, &out);
}

/* ---- control ---- */

/* POST with the argument rotate or revoke.  Not in early data, which may be a copy. */
static ngx_int_t control(ngx_http_request_t *r)
{
  static const struct {
    ngx_str_t argument;
    int (*act)(pprf_tickets *tickets);
  } action[] = {{ngx_string("rotate"), pprf_tickets_rotate},
                {ngx_string("revoke"), pprf_tickets_revoke}};
  const struct state *state = state_of(r);
  if (r->method != NGX_HTTP_POST)
    return NGX_HTTP_NOT_ALLOWED;
  ngx_int_t rc = ngx_http_discard_request_body(r);
  if (rc != NGX_OK)
    return rc;
  if (state == NULL)
    return NGX_HTTP_NOT_FOUND;
  if (r->connection->ssl != NULL && !SSL_is_init_finished(r->connection->ssl->connection))
    return 425; /* Too Early */
  size_t i = 0;
  while (i < 2 && (r->args.len != action[i].argument.len ||
                   ngx_strncmp(r->args.data, action[i].argument.data, r->args.len) != 0))
    i++;
  if (i == 2)
    return NGX_HTTP_BAD_REQUEST;
  int err = action[i].act(state->tickets);
  ngx_uint_t level = err == PPRF_OK ? NGX_LOG_NOTICE : NGX_LOG_ERR;
  ngx_log_error(level, r->connection->log, 0, "pprf_tickets: %V: %s", &action[i].argument,
                err == PPRF_OK                ? "done"
                : err == PPRF_TLS_ERR_BACKEND ? "not done at every server of pprf_tickets_backend"
                                              : pprf_tls_strerror(err));
  if (err != PPRF_OK)
    return err == PPRF_TLS_ERR_BACKEND ? NGX_HTTP_BAD_GATEWAY : NGX_HTTP_INTERNAL_SERVER_ERROR;
  r->headers_out.status = NGX_HTTP_NO_CONTENT;
  r->header_only = 1;
  return ngx_http_send_header(r);
}

static char *set_control(ngx_conf_t *cf, ngx_command_t *command, void *data)
{
  ngx_http_core_loc_conf_t *core = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);
  (void)command;
  (void)data;
  if (core->handler == control)
    return "is duplicate";
  core->handler = control;
  return NGX_CONF_OK;
}

static char *set_status(ngx_conf_t *cf, ngx_command_t *command, void *data)
{
  static const char *const name[] = {"plain", "json", "prometheus"};
  loc_conf_t *conf = data;
  const ngx_str_t *argument = cf->args->elts;
  (void)command;
  if (conf->format != 0)
    return "is duplicate";
  conf->format = cf->args->nelts == 1 ? PLAIN : 0;
  for (unsigned i = 0; i < 3 && cf->args->nelts > 1; i++)
    if (ngx_strcmp(argument[1].data, name[i]) == 0)
      conf->format = PLAIN + i;
  if (conf->format == 0) {
    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "\"pprf_tickets_status\": \"%V\" is not \"plain\", \"json\" or "
                       "\"prometheus\"",
                       &argument[1]);
    return NGX_CONF_ERROR;
  }
  ngx_http_core_loc_conf_t *core = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);
  core->handler = show_status;
  return NGX_CONF_OK;
}

/* ---- configuration ---- */

static char *set_servers(ngx_conf_t *cf, ngx_command_t *command, void *data)
{
  main_conf_t *conf = data;
  const ngx_str_t *argument = cf->args->elts;
  (void)command;
  if (conf->servers != NULL)
    return "is duplicate";
  conf->servers = ngx_array_create(cf->pool, cf->args->nelts - 1, sizeof(ngx_str_t));
  if (conf->servers == NULL)
    return NGX_CONF_ERROR;
  if (cf->args->nelts - 1 > PPRF_FLEET_SERVERS_MAX)
    return "has more than 8 servers";
  for (ngx_uint_t i = 1; i < cf->args->nelts; i++) {
    const char *wrong = pprf_tickets_bad_server((const char *)argument[i].data);
    if (wrong != NULL) {
      /* do not log the URL: it may contain a password */
      ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "server %ui of \"pprf_tickets_backend\": %s", i,
                         wrong);
      return NGX_CONF_ERROR;
    }
    ngx_str_t *url = ngx_array_push(conf->servers);
    if (url == NULL)
      return NGX_CONF_ERROR;
    *url = argument[i];
  }
  return NGX_CONF_OK;
}

static char *set_suite(ngx_conf_t *cf, ngx_command_t *command, void *data)
{
  main_conf_t *conf = data;
  const ngx_str_t *argument = cf->args->elts;
  (void)command;
  if (conf->suite != 0)
    return "is duplicate";
  conf->suite = pprf_tickets_suite((const char *)argument[1].data);
  if (conf->suite != 0)
    return NGX_CONF_OK;
  ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                     "\"pprf_tickets_suite\": \"%V\" is not \"sha3-256\", \"sha3-256-salted\" or "
                     "\"aes-128\"",
                     &argument[1]);
  return NGX_CONF_ERROR;
}

static void *create_main_conf(ngx_conf_t *cf)
{
  main_conf_t *conf = ngx_pcalloc(cf->pool, sizeof *conf);
  if (conf != NULL) {
    conf->depth = NGX_CONF_UNSET;
    conf->lifetime = NGX_CONF_UNSET;
    conf->rotation = NGX_CONF_UNSET;
    conf->rate = NGX_CONF_UNSET;
    conf->memory = NGX_CONF_UNSET;
    conf->tls12 = NGX_CONF_UNSET;
  }
  return conf;
}

/* Zero selects the library's default; a configuration cannot give it. */
static char *init_main_conf(ngx_conf_t *cf, void *data)
{
  main_conf_t *conf = data;
  if (conf->depth == 0 || conf->lifetime == 0 || conf->rotation == 0 || conf->rate == 0 ||
      conf->memory == 0) {
    ngx_log_error(NGX_LOG_EMERG, cf->log, 0, "\"pprf_tickets_%s\" must not be 0",
                  conf->depth == 0      ? "depth"
                  : conf->lifetime == 0 ? "lifetime"
                  : conf->rotation == 0 ? "rotation"
                  : conf->rate == 0     ? "rate"
                                        : "memory");
    return NGX_CONF_ERROR;
  }
  ngx_conf_init_value(conf->depth, 0);
  ngx_conf_init_value(conf->lifetime, 0);
  ngx_conf_init_value(conf->rotation, 0);
  ngx_conf_init_value(conf->rate, 0);
  ngx_conf_init_value(conf->memory, 0);
  ngx_conf_init_value(conf->tls12, 1);
  struct pprf_tickets_options options = options_of(conf);
  const char *bad = pprf_tickets_bad_option(&options);
  if (conf->servers != NULL && bad == NULL)
    bad = conf->rotation != 0       ? "rotation: not with pprf_tickets_backend"
          : conf->memory != 0       ? "memory: not with pprf_tickets_backend"
          : conf->suite != 0        ? "suite: not with pprf_tickets_backend"
          : conf->lifetime > 432000 ? "lifetime: 1..432000 seconds with pprf_tickets_backend"
                                    : NULL;
  if (bad != NULL) {
    ngx_log_error(NGX_LOG_EMERG, cf->log, 0, "value out of range: pprf_tickets_%s", bad);
    return NGX_CONF_ERROR;
  }
  return NGX_CONF_OK;
}

static void *create_srv_conf(ngx_conf_t *cf)
{
  srv_conf_t *conf = ngx_pcalloc(cf->pool, sizeof *conf);
  if (conf != NULL)
    conf->enable = NGX_CONF_UNSET;
  return conf;
}

static char *merge_srv_conf(ngx_conf_t *cf, void *parent, void *child)
{
  (void)cf;
  srv_conf_t *prev = parent, *conf = child;
  ngx_conf_merge_value(conf->enable, prev->enable, 0);
  return NGX_CONF_OK;
}

static void *create_loc_conf(ngx_conf_t *cf)
{
  return ngx_pcalloc(cf->pool, sizeof(loc_conf_t));
}

static ngx_command_t commands[] = {
  {ngx_string("pprf_tickets"), NGX_HTTP_MAIN_CONF | NGX_HTTP_SRV_CONF | NGX_CONF_FLAG,
   ngx_conf_set_flag_slot, NGX_HTTP_SRV_CONF_OFFSET, offsetof(srv_conf_t, enable), NULL},
  {ngx_string("pprf_tickets_depth"), NGX_HTTP_MAIN_CONF | NGX_CONF_TAKE1, ngx_conf_set_num_slot,
   NGX_HTTP_MAIN_CONF_OFFSET, offsetof(main_conf_t, depth), NULL},
  {ngx_string("pprf_tickets_lifetime"), NGX_HTTP_MAIN_CONF | NGX_CONF_TAKE1, ngx_conf_set_sec_slot,
   NGX_HTTP_MAIN_CONF_OFFSET, offsetof(main_conf_t, lifetime), NULL},
  {ngx_string("pprf_tickets_rotation"), NGX_HTTP_MAIN_CONF | NGX_CONF_TAKE1, ngx_conf_set_sec_slot,
   NGX_HTTP_MAIN_CONF_OFFSET, offsetof(main_conf_t, rotation), NULL},
  {ngx_string("pprf_tickets_rate"), NGX_HTTP_MAIN_CONF | NGX_CONF_TAKE1, ngx_conf_set_num_slot,
   NGX_HTTP_MAIN_CONF_OFFSET, offsetof(main_conf_t, rate), NULL},
  {ngx_string("pprf_tickets_memory"), NGX_HTTP_MAIN_CONF | NGX_CONF_TAKE1, ngx_conf_set_off_slot,
   NGX_HTTP_MAIN_CONF_OFFSET, offsetof(main_conf_t, memory), NULL},
  {ngx_string("pprf_tickets_tls12"), NGX_HTTP_MAIN_CONF | NGX_CONF_FLAG, ngx_conf_set_flag_slot,
   NGX_HTTP_MAIN_CONF_OFFSET, offsetof(main_conf_t, tls12), NULL},
  {ngx_string("pprf_tickets_suite"), NGX_HTTP_MAIN_CONF | NGX_CONF_TAKE1, set_suite,
   NGX_HTTP_MAIN_CONF_OFFSET, 0, NULL},
  {ngx_string("pprf_tickets_backend"), NGX_HTTP_MAIN_CONF | NGX_CONF_1MORE, set_servers,
   NGX_HTTP_MAIN_CONF_OFFSET, 0, NULL},
  {ngx_string("pprf_tickets_status"), NGX_HTTP_LOC_CONF | NGX_CONF_NOARGS | NGX_CONF_TAKE1,
   set_status, NGX_HTTP_LOC_CONF_OFFSET, 0, NULL},
  {ngx_string("pprf_tickets_control"), NGX_HTTP_LOC_CONF | NGX_CONF_NOARGS, set_control,
   NGX_HTTP_LOC_CONF_OFFSET, 0, NULL},
  ngx_null_command};

static ngx_http_module_t context = {
  add_variables,   postconfiguration, create_main_conf, init_main_conf,
  create_srv_conf, merge_srv_conf,    create_loc_conf,  NULL,
};

ngx_module_t ngx_http_pprf_tickets_module = {
  NGX_MODULE_V1, &context,    commands,     NGX_HTTP_MODULE,
  NULL,          init_module, init_process, NULL,
  NULL,          NULL,        exit_master,  NGX_MODULE_V1_PADDING,
};
