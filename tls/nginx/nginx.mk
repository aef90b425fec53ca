# SPDX-License-Identifier: Apache-2.0
# The tickets in other projects' servers: the nginx module and the preload shim.
NGINX_SRC ?= /usr/share/nginx/src
NGINX_BUILD := $(abspath $(B))/tls/nginx
NGINX_MODULE := $(B)/tls/nginx/ngx_http_pprf_tickets_module.so
NGINX_CC_OPT := -O2 -g -fPIC -fstack-protector-strong $(CPPFLAGS) $(CFLAGS)

.PHONY: nginx-module
nginx-module: $(NGINX_MODULE) ## build the nginx module

# built by nginx's own configure and make: the module must match the nginx that loads it
$(NGINX_MODULE): tls/nginx/config tls/nginx/ngx_http_pprf_tickets_module.c tls/nginx/nginx.mk \
    tls/pprf_tls.h tls/pprf_tickets.h tls/pprf_fleet.h include/pprf.h $(B)/tls/libpprf_tls.a
	@[ -x $(NGINX_SRC)/configure ] || { \
	  echo "$@: $(NGINX_SRC)/configure is missing: install nginx-dev, or set NGINX_SRC" >&2; \
	  exit 1; }
	@mkdir -p $(NGINX_BUILD)
	$(call SAY,nginx,$@). $(NGINX_SRC)/conf_flags && cd $(NGINX_SRC) && \
	  PPRF_ROOT=$(CURDIR) PPRF_TLS_LIB=$(abspath $(B))/tls/libpprf_tls.a ./configure \
	  --with-cc=$(CC) --with-cc-opt="$(NGINX_CC_OPT)" --with-ld-opt="$(ALL_LDFLAGS)" \
	  "$${NGX_CONF_FLAGS[@]}" --add-dynamic-module=$(CURDIR)/tls/nginx \
	  --builddir=$(NGINX_BUILD) >$(NGINX_BUILD)/configure.log
	$(QUIET)$(MAKE) --no-print-directory -f $(NGINX_BUILD)/Makefile -C $(NGINX_SRC) modules \
	  >$(NGINX_BUILD)/make.log
	@touch $@

# Without nginx-dev, `make all` skips this and says so.
.PHONY: nginx-products
products: nginx-products
NGINX_TAP := tls/nginx/test_nginx.py tls/nginx/test_http2.py
# nginx's configure accepts no such path
NGINX_PLACE := $(word 2,$(CURDIR))$(findstring ',$(CURDIR))
ifneq ($(NGINX_PLACE),)
nginx-products:
	@echo "skipped: the nginx module (nginx's configure takes no path with a space or an apostrophe)"
else ifneq ($(wildcard $(NGINX_SRC)/configure),)
NGINX_MADE := $(NGINX_MODULE)
nginx-products: $(NGINX_MODULE)
$(NGINX_TAP): $(NGINX_MODULE)
else
nginx-products:
	@echo "skipped: the nginx module ($(NGINX_SRC)/configure is missing: package nginx-dev)"
endif

TLS_TAP += $(NGINX_TAP)
TAP_TESTS += $(NGINX_TAP)

# installed beside the libraries; nginx loads a module from any path
NGINX_MODULES = $(DESTDIR)$(LIBDIR)/nginx/modules
.PHONY: install-nginx uninstall-nginx
ifneq ($(wildcard $(NGINX_SRC)/configure),)
ifeq ($(NGINX_PLACE),)
install: install-nginx
endif
endif
install-nginx: $(NGINX_MODULE)
	install -d "$(NGINX_MODULES)"
	install -m 644 $(NGINX_MODULE) "$(NGINX_MODULES)/"
uninstall: uninstall-nginx
uninstall-nginx:
	rm -f "$(NGINX_MODULES)/$(notdir $(NGINX_MODULE))"

# the commands of docs/nginx.md and docs/tls.md in a clean system, as a Debian user types them: 10
# minutes
.PHONY: test-nginx-install
test-nginx-install: deps-root ## run the commands of docs/nginx.md and docs/tls.md in a clean Debian: SUITE=bookworm or trixie
	@tls/nginx/test-install.sh $(SUITE)

# ---- the preload shim ----
TLS_PRELOAD := $(B)/tls/libpprf_tls_preload.so
LIBS += $(TLS_PRELOAD)
$(TLS_PRELOAD): $(B)/tls/openssl/preload.o $(B)/tls/libpprf_tls.a
	$(call SAY,LINK,$@)$(LINK) -shared -Wl,-soname,libpprf_tls_preload.so,-z,defs \
	  -Wl,--exclude-libs,ALL -o $@ $^ -lhiredis -lssl $(ALL_LDLIBS)
tls/nginx/test_nginx.py tls/nginx/test_preload.py: $(TLS_PRELOAD)
TLS_TAP += tls/nginx/test_preload.py
TAP_TESTS += tls/nginx/test_preload.py

# ---- whole servers ----
tls/tests/test_matrix.py: $(TLS_PRELOAD) $(NGINX_MADE) $(B)/pprf-tls-server $(B)/valkey/pprf_known.so $(B)/tls/thief
tls/tests/test_recipes.py: tls/tests/test_matrix.py docs/nginx.md
$(B)/tls/thief: $(B)/tls/tests/thief.o $(filter %/tickets.o %/pool.o %/backend.o,$(TLS_OBJ)) $(OPT_OBJ)
	$(call LINKED,)
TLS_TAP += tls/tests/test_matrix.py tls/tests/test_recipes.py
TAP_TESTS += tls/tests/test_matrix.py tls/tests/test_recipes.py

# the shim of another version: its tickets have other keys
OTHER_VERSION := $(B)/tls/other_version.so
$(OTHER_VERSION): tls/openssl/attach.c $(B)/tls/openssl/preload.o $(TLS_OBJ) $(FLEET_OBJ) $(OPT_OBJ)
	@sed 's/"libpprf tls ticket, 2"/"libpprf tls ticket, X"/' $< > $@.c
	@! cmp -s $@.c $<
	$(call SAY,LINK,$@)$(LINK) $(ALL_CPPFLAGS) $(TLS_CPPFLAGS) -Itls/openssl -fPIC -shared -Wl,-Bsymbolic -o $@ $@.c \
	  $(filter-out $(B)/tls/openssl/attach.o,$(filter %.o,$^)) -lhiredis -lssl $(ALL_LDLIBS)
valkey/test_hosts.py: $(OTHER_VERSION)
.PHONY: test-matrix
test-matrix: deps-build deps-test ## test tickets in other servers: every program, setup, set of contexts and backend
	@$(MAKE) --no-print-directory tls/tests/test_matrix.py
	@ALL=1 $(TAP) tls/tests/test_matrix.py
test-full: test-matrix

.PHONY: install-preload uninstall-preload
install: install-preload
install-preload: $(TLS_PRELOAD)
	install -d "$(DESTDIR)$(LIBDIR)"
	install -m 755 $(TLS_PRELOAD) "$(DESTDIR)$(LIBDIR)/"
uninstall: uninstall-preload
uninstall-preload:
	rm -f "$(DESTDIR)$(LIBDIR)/$(notdir $(TLS_PRELOAD))"
