/* SPDX-License-Identifier: Apache-2.0 */
/* Single-use, forward-secret session tickets for nginx.
 *
 * The tickets' state is made by the master, and its mapping is shared with the workers.  A reload
 * that leaves depth, lifetime and rotation as they are keeps it, so that tickets outlive it. */
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>
#include <limits.h>
#include <pprf_tls.h>

/* Tickets, and how many cycles of this process use them. */
struct state {
  struct state *next;
  pprf_tickets *tickets;
  struct pprf_tickets_options options;
  unsigned cycles;
};

typedef struct {
  ngx_int_t depth; /* ngx_conf_set_num_slot wants this type */
  time_t lifetime;
  time_t rotation;
  struct state *state; /* NULL: no server has pprf_tickets on */
} main_conf_t;

typedef struct {
  ngx_flag_t enable;
} srv_conf_t;

static struct state *states; /* a reload that fails leaves those of the running cycle */
static ngx_event_t expiry;

ngx_module_t ngx_http_pprf_tickets_module;

static void release(void *data)
{
  struct state *state = data;
  if (--state->cycles > 0)
    return;
  struct state **p = &states;
  while (*p != state)
    p = &(*p)->next;
  *p = state->next;
  pprf_tickets_free(state->tickets);
  ngx_free(state);
}

static int same(const struct pprf_tickets_options *a, const struct pprf_tickets_options *b)
{
  return a->depth == b->depth && a->lifetime == b->lifetime && a->rotation == b->rotation;
}

/* What does not fit stays out of range, or as good as for ever. */
static unsigned to_unsigned(int64_t v)
{
  return v < 0 ? 0 : v > UINT_MAX ? UINT_MAX : (unsigned)v;
}

static struct pprf_tickets_options options_of(const main_conf_t *conf)
{
  return (struct pprf_tickets_options){.size = sizeof(struct pprf_tickets_options),
                                       .depth = to_unsigned(conf->depth),
                                       .lifetime = to_unsigned(conf->lifetime),
                                       .rotation = to_unsigned(conf->rotation)};
}

/* The tickets for a cycle: those of the cycle before if the options are the same. */
static struct state *state_for(ngx_conf_t *cf, const main_conf_t *conf)
{
  struct pprf_tickets_options options = options_of(conf);
  ngx_pool_cleanup_t *cleanup = ngx_pool_cleanup_add(cf->cycle->pool, 0);
  if (cleanup == NULL)
    return NULL;
  struct state *state = states;
  while (state != NULL && !same(&options, &state->options))
    state = state->next;
  if (state == NULL) {
    state = ngx_alloc(sizeof *state, cf->log);
    if (state == NULL)
      return NULL;
    *state = (struct state){.next = states, .options = options};
    int err = pprf_tickets_new(&state->tickets, &options);
    if (err != PPRF_OK) {
      ngx_log_error(NGX_LOG_EMERG, cf->log, 0, "\"pprf_tickets\": %s", pprf_tls_strerror(err));
      ngx_free(state);
      return NULL;
    }
    states = state;
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

/* What would make tickets that are not ours, or sessions beside them. */
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

/* After SNI a connection has the settings of another server, but OpenSSL makes and opens its
 * tickets as the address's default server says: they must agree. */
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
                    "share the address %V", first->file_name, first->line, server[i]->file_name,
                    server[i]->line, &addr->opt.addr_text);
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
  int err = pprf_tickets_attach(ssl->ssl.ctx, conf->state->tickets);
  if (err == PPRF_OK && !ssl->early_data && SSL_CTX_set_max_early_data(ssl->ssl.ctx, 0) != 1)
    err = PPRF_TLS_ERR_SSL;
  if (err != PPRF_OK) {
    ngx_ssl_error(NGX_LOG_EMERG, cf->log, 0, "\"pprf_tickets\" in the server at %s:%ui: %s",
                  server->file_name, server->line, pprf_tls_strerror(err));
    return NGX_ERROR;
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
  return NGX_OK;
}

/* ---- expiry and the log ---- */

/* Tickets must expire in an idle server too. */
static void expire(ngx_event_t *event)
{
  struct state *state = event->data;
  (void)pprf_tickets_expire(state->tickets);
  unsigned lifetime = state->options.lifetime != 0 ? state->options.lifetime : 7200;
  ngx_add_timer(event, lifetime < 64 ? 1000 : lifetime / 32 * 1000);
}

static ngx_int_t init_process(ngx_cycle_t *cycle)
{
  const ngx_http_conf_ctx_t *http = (void *)ngx_get_conf(cycle->conf_ctx, ngx_http_module);
  int serves = ngx_process == NGX_PROCESS_SINGLE ||
               (ngx_process == NGX_PROCESS_WORKER && ngx_worker == 0);
  if (http == NULL || !serves)
    return NGX_OK;
  const main_conf_t *conf = http->main_conf[ngx_http_pprf_tickets_module.ctx_index];
  if (conf->state == NULL)
    return NGX_OK;
  expiry = (ngx_event_t){
    .handler = expire, .data = conf->state, .log = cycle->log, .cancelable = 1};
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
                    "%uL, refused %uL, expired %uL, outstanding %uL, %uL bytes", s.issued,
                    s.resumed, s.early_accepted, s.early_rejected, s.refused, s.expired,
                    s.outstanding, s.memory_bytes);
}

/* ---- configuration ---- */

static void *create_main_conf(ngx_conf_t *cf)
{
  main_conf_t *conf = ngx_pcalloc(cf->pool, sizeof *conf);
  if (conf != NULL) {
    conf->depth = NGX_CONF_UNSET;
    conf->lifetime = NGX_CONF_UNSET;
    conf->rotation = NGX_CONF_UNSET;
  }
  return conf;
}

/* Zero is the library's default, and no value that a configuration may give. */
static char *init_main_conf(ngx_conf_t *cf, void *data)
{
  main_conf_t *conf = data;
  if (conf->depth == 0 || conf->lifetime == 0 || conf->rotation == 0) {
    ngx_log_error(NGX_LOG_EMERG, cf->log, 0, "\"pprf_tickets_%s\" must not be 0",
                  conf->depth == 0 ? "depth" : conf->lifetime == 0 ? "lifetime" : "rotation");
    return NGX_CONF_ERROR;
  }
  ngx_conf_init_value(conf->depth, 0);
  ngx_conf_init_value(conf->lifetime, 0);
  ngx_conf_init_value(conf->rotation, 0);
  struct pprf_tickets_options options = options_of(conf);
  const char *bad = pprf_tickets_bad_option(&options);
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

static ngx_command_t commands[] = {
  {ngx_string("pprf_tickets"), NGX_HTTP_MAIN_CONF | NGX_HTTP_SRV_CONF | NGX_CONF_FLAG,
   ngx_conf_set_flag_slot, NGX_HTTP_SRV_CONF_OFFSET, offsetof(srv_conf_t, enable), NULL},
  {ngx_string("pprf_tickets_depth"), NGX_HTTP_MAIN_CONF | NGX_CONF_TAKE1, ngx_conf_set_num_slot,
   NGX_HTTP_MAIN_CONF_OFFSET, offsetof(main_conf_t, depth), NULL},
  {ngx_string("pprf_tickets_lifetime"), NGX_HTTP_MAIN_CONF | NGX_CONF_TAKE1, ngx_conf_set_sec_slot,
   NGX_HTTP_MAIN_CONF_OFFSET, offsetof(main_conf_t, lifetime), NULL},
  {ngx_string("pprf_tickets_rotation"), NGX_HTTP_MAIN_CONF | NGX_CONF_TAKE1, ngx_conf_set_sec_slot,
   NGX_HTTP_MAIN_CONF_OFFSET, offsetof(main_conf_t, rotation), NULL},
  ngx_null_command};

static ngx_http_module_t context = {NULL,
                                    postconfiguration,
                                    create_main_conf,
                                    init_main_conf,
                                    create_srv_conf,
                                    merge_srv_conf,
                                    NULL,
                                    NULL};

ngx_module_t ngx_http_pprf_tickets_module = {NGX_MODULE_V1,
                                             &context,
                                             commands,
                                             NGX_HTTP_MODULE,
                                             NULL,
                                             NULL,
                                             init_process,
                                             NULL,
                                             NULL,
                                             NULL,
                                             exit_master,
                                             NGX_MODULE_V1_PADDING};
