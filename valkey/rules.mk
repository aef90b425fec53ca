# SPDX-License-Identifier: Apache-2.0
# valkey/: the module for Valkey and Redis, which holds the fleet's trees.
VALKEY_SRC := valkey/pprf_module.c valkey/tree.c valkey/channel.c valkey/chain.c
VALKEY_OBJ := $(VALKEY_SRC:valkey/%.c=$(B)/valkey/%.o)

LIBS += $(B)/valkey/pprf.so

$(B)/valkey/%.o: valkey/%.c $(B)/flags
	$(call COMPILE,,-fPIC)

$(B)/valkey/pprf_module.o: ALL_CPPFLAGS += -isystem valkey/redismodule # another project's header
$(B)/valkey/pprf_module.o: valkey/redismodule/redismodule.h

# contains a copy of the library; provides the two functions that the server looks up
$(B)/valkey/pprf.so: $(VALKEY_OBJ) $(B)/opt/libpprf.a
	$(call SAY,LINK,$@)$(LINK) -shared -Wl,-z,defs,--exclude-libs,ALL -o $@ $^ $(ALL_LDLIBS)

.PHONY: install-valkey uninstall-valkey
uninstall: uninstall-valkey
install-valkey: $(B)/valkey/pprf.so ## install the module for Valkey and Redis (PREFIX, DESTDIR)
	install -d "$(DESTDIR)$(LIBDIR)/pprf"
	install -m 755 $(B)/valkey/pprf.so "$(DESTDIR)$(LIBDIR)/pprf/"
uninstall-valkey:
	rm -f "$(DESTDIR)$(LIBDIR)/pprf/pprf.so"

# the same with roots that the tests know
$(B)/valkey/pprf_known.so: $(VALKEY_OBJ) $(B)/valkey/known_root.o $(OPT_OBJ)
	$(call SAY,LINK,$@)$(LINK) -shared -Wl,-z,defs -o $@ $^ $(ALL_LDLIBS)

VALKEY_WRAP := $(foreach f,clock_gettime pprf_punct malloc,-Wl,--wrap=$(f))
$(B)/valkey/test_tree: $(B)/valkey/test_tree.o $(B)/valkey/tree.o $(OPT_OBJ)
	$(call LINKED,,$(VALKEY_WRAP))

# tests
TAP_TESTS += $(B)/valkey/test_tree valkey/test_valkey.py valkey/test_partition.py
valkey/test_valkey.py valkey/test_partition.py: $(B)/valkey/pprf.so $(B)/valkey/pprf_known.so

# hosts without TLS
HOST_SRC := valkey/host.c tls/tests/loop.c $(FLEET_SRC)
HOST_WRAP := -Wl,--wrap=clock_gettime,--wrap=getaddrinfo
$(B)/valkey/host.o: ALL_CPPFLAGS += -Itls
$(B)/valkey/host: $(B)/valkey/host.o $(B)/tls/tests/loop.o $(FLEET_OBJ) $(TLS_OBJ) $(OPT_OBJ)
	$(call LINKED,-lhiredis -lssl,$(HOST_WRAP))
$(B)/valkey/host_checked: $(HOST_SRC) $(wildcard tls/*.h tls/*/*.h valkey/*.h) $(TLS_OBJ) $(OPT_OBJ)
	$(call SAY,LINK,$@)$(CC) $(ALL_CPPFLAGS) $(TLS_CPPFLAGS) $(ALL_CFLAGS) $(SANITIZE) $(ALL_LDFLAGS) $(HOST_WRAP) -o $@ $(HOST_SRC) $(TLS_OBJ) $(OPT_OBJ) \
	  -lhiredis -lssl $(ALL_LDLIBS)
TAP_TESTS += valkey/test_host.py
valkey/test_host.py: $(B)/valkey/host $(B)/valkey/host_checked $(B)/valkey/pprf_known.so

# two TLS hosts: nginx with the library
TAP_TESTS += valkey/test_hosts.py
valkey/test_hosts.py: $(B)/valkey/pprf.so $(B)/valkey/flights $(B)/pprf-tls-server $(TLS_PRELOAD) $(NGINX_MADE) tls/nginx/alerts.yml
$(B)/valkey/flights: $(B)/valkey/flights.o
	$(call LINKED,-lssl)

TAP_TESTS += $(B)/valkey/planted
$(B)/valkey/planted: $(PLANTING) valkey/planted.py valkey/planted.txt $(B)/valkey/test_tree $(B)/valkey/pprf_known.so $(B)/valkey/host
	$(call PLANTED,valkey/planted.py --quick --sample 3)

.PHONY: test-fleet
test-fleet: deps-build deps-test $(B)/valkey/pprf.so $(B)/valkey/pprf_known.so $(B)/valkey/test_tree $(B)/valkey/planted $(B)/valkey/flights $(B)/valkey/host $(B)/valkey/host_checked $(B)/pprf-tls-server $(TLS_PRELOAD) $(NGINX_MADE) ## test the fleet, with minutes of cut links and killed servers
	@valkey/test_partition.py --seconds 180
	@valkey/test_cut_hosts.py --seconds 60
	@valkey/test_hosts.py --flights 10000
	@ALL=1 $(TAP) $(B)/valkey/test_tree valkey/test_valkey.py valkey/test_host.py $(B)/valkey/planted

VALKEY_BENCH := $(addprefix $(B)/valkey/bench/,tickets resume latency)
$(VALKEY_BENCH:=.o): ALL_CPPFLAGS += -Itls
$(B)/valkey/bench/tickets: $(B)/valkey/bench/tickets.o
$(B)/valkey/bench/resume $(B)/valkey/bench/latency: $(B)/valkey/bench/%: $(B)/valkey/bench/%.o $(B)/tls/tests/loop.o $(B)/tls/libpprf_tls.a
$(VALKEY_BENCH):
	$(call LINKED,-lhiredis -lssl)
.PHONY: bench-fleet
bench-fleet: deps-build deps-test deps-bench ## measure tickets in a Valkey or Redis server (six minutes)
	@$(MAKE) --no-print-directory $(B)/valkey/pprf.so $(VALKEY_BENCH)
	@valkey/bench/bench.py
