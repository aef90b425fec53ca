# SPDX-License-Identifier: Apache-2.0
# tls/: session tickets for OpenSSL servers. It uses only pprf.h and pprf_shared.h; libpprf_tls
# contains its own copy of the library.
TLS_OBJ := $(TLS_SRC:tls/%.c=$(B)/tls/%.o)
FLEET_OBJ := $(FLEET_SRC:%.c=$(B)/%.o)
TLS_CPPFLAGS := -Itls -Ivalkey

LIBS += $(B)/tls/libpprf_tls.a $(B)/tls/libpprf_tls.so $(B)/tls/pprf_tls.pc
PROGRAMS += $(B)/pprf-tls-server

$(B)/tls/%.o: tls/%.c $(B)/flags
	$(call COMPILE,$(TLS_CPPFLAGS),-fPIC)

# Three members. A program that uses only pprf_tickets.h takes the first and needs no libssl;
# pprf_tls.h is the second, pprf_fleet.h the third. Names of the first that the others use are
# renamed, and so is the copy of opt: a program may also link libpprf.a of another version.
TLS_WHOLE := $(CC) $(ALL_CFLAGS) $(NOT_LTO) -nostdlib -r -Wl,--force-group-allocation
TLS_MEMBERS := pprf_tickets pprf_tls pprf_fleet
TLS_SSL := $(B)/tls/openssl/attach.o $(B)/tls/openssl/clients.o
$(B)/tls/libpprf_tls.a: $(TLS_OBJ) $(FLEET_OBJ) $(OPT_OBJ) $(B)/flags
	@rm -rf $@ $(B)/tls/members && mkdir $(B)/tls/members
	$(QUIET)$(TLS_WHOLE) -o $(B)/tls/members/pprf_tickets.o $(filter-out $(TLS_SSL),$(TLS_OBJ)) $(OPT_OBJ)
	$(QUIET)$(TLS_WHOLE) -o $(B)/tls/members/pprf_tls.o $(TLS_SSL)
	$(QUIET)$(TLS_WHOLE) -o $(B)/tls/members/pprf_fleet.o $(FLEET_OBJ)
	$(QUIET)cd $(B)/tls/members && { $(NM) -g --defined-only pprf_tickets.o; { $(NM) -u pprf_tls.o; $(NM) -u pprf_fleet.o; } | sort -u; } | \
	  awk '$$NF !~ /^pprf_t/ { print $$NF }' | sort | uniq -d | sed 's/.*/& pprf_tls_&/' > shared
	$(QUIET)for i in $(TLS_MEMBERS); do $(OBJCOPY) --redefine-syms=$(B)/tls/members/shared --wildcard \
	  --keep-global-symbol='pprf_tickets_*' --keep-global-symbol='pprf_tls_*' $(B)/tls/members/$$i.o || exit 1; done
	$(call SAY,AR,$@)$(AR) rcsD $@ $(TLS_MEMBERS:%=$(B)/tls/members/%.o)
	@rm -r $(B)/tls/members

$(B)/tls/libpprf_tls.so.0: $(TLS_OBJ) $(FLEET_OBJ) $(OPT_OBJ) tls/libpprf_tls.map
	$(call SHARED,-lhiredis -lssl)

$(B)/pprf-tls-server: $(B)/tls/server/server.o $(B)/cli/options.o $(B)/cli/message.o $(B)/tls/libpprf_tls.a
	$(call LINKED,-lhiredis -lssl)

# tls uses only public functions; failures inside opt are injected by opt's tests
INJECT_WRAP := prg_expand opt_descend opt_slots_puncture
$(B)/tls/inject.o: equivalence-tests/failures/inject.c $(B)/flags
	$(call COMPILE,-Iopt)
$(B)/tls/tests/test_pool.o: TLS_CPPFLAGS += -Iequivalence-tests

TLS_WRAP := RAND_priv_bytes pprf_punct pprf_punct_range pprf_shared_start pprf_shared_clear pthread_mutex_unlock \
  pthread_mutex_trylock calloc $(INJECT_WRAP)
$(B)/tls/test_pool: $(B)/tls/tests/test_pool.o $(B)/tls/inject.o $(B)/tls/tickets/pool.o $(OPT_OBJ)
	$(call LINKED,,$(TLS_WRAP:%=-Wl,--wrap=%))

TLS_TICKETS_WRAP := pprf_eval pprf_punct RAND_priv_bytes EVP_CIPHER_fetch EVP_MAC_fetch \
  EVP_MD_fetch EVP_CIPHER_CTX_new EVP_MAC_CTX_new EVP_MD_CTX_new EVP_DigestInit_ex2 EVP_DigestUpdate EVP_DigestFinal_ex EVP_CipherInit_ex2 \
  EVP_CipherUpdate EVP_CipherFinal_ex \
  EVP_MAC_CTX_set_params EVP_MAC_init EVP_MAC_update EVP_MAC_final
$(B)/tls/test_tickets: $(B)/tls/tests/test_tickets.o $(B)/tls/tickets/tickets.o $(B)/tls/tickets/pool.o \
    $(B)/tls/tickets/backend.o $(OPT_OBJ)
	$(call LINKED,,$(TLS_TICKETS_WRAP:%=-Wl,--wrap=%))

TLS_ATTACH_WRAP := pprf_eval pprf_punct ticket_hmac malloc free malloc_usable_size \
  SSL_CTX_set_max_early_data SSL_CTX_set_recv_max_early_data X509_digest
$(B)/tls/test_attach: $(B)/tls/tests/test_attach.o $(B)/tls/tests/loop.o $(TLS_OBJ) $(OPT_OBJ)
	$(call LINKED,-lssl,$(TLS_ATTACH_WRAP:%=-Wl,--wrap=%))

# a second copy of the library, for processes that load two
$(B)/tls/copy.so: $(TLS_OBJ) $(OPT_OBJ)
	$(call SAY,LINK,$@)$(LINK) -shared -Wl,-Bsymbolic,-z,defs -o $@ $^ -lssl $(ALL_LDLIBS)
$(B)/tls/test_attach: | $(B)/tls/copy.so

$(B)/tls/planted: $(PLANTING) tls/tests/planted.py tls/tests/planted.txt $(B)/tls/test_pool $(B)/tls/test_tickets $(B)/tls/test_attach
	$(call PLANTED,$(PYTHON) tls/tests/planted.py --quick --sample 1/10)

TLS_TAP := $(B)/tls/test_pool $(B)/tls/test_tickets $(B)/tls/test_attach $(B)/tls/planted tls/tests/test_tls.py \
  tls/tests/test_libraries.py tls/tests/test_api.py
TAP_TESTS += $(TLS_TAP)
tls/tests/test_tls.py: $(B)/pprf-tls-server
tls/tests/test_libraries.py: $(B)/tls/libpprf_tls.a $(B)/tls/libpprf_tls.so
tls/tests/test_api.py: $(B)/tls/libpprf_tls.so
.PHONY: test-tls
test-tls: deps-build deps-test ## test the session tickets, including end to end
	@$(MAKE) --no-print-directory $(B)/pprf-tls-server $(TLS_TAP)
	@$(TAP) $(TLS_TAP)

$(B)/tls/bench_tls: $(B)/tls/tests/bench_tls.o $(B)/tls/tests/loop.o $(TLS_OBJ) $(OPT_OBJ)
	$(call SAY,LINK,$@)$(LINK) -Wl,--wrap=pthread_mutex_trylock,--wrap=pthread_mutex_lock,--wrap=pthread_mutex_unlock -o $@ $^ -lssl $(ALL_LDLIBS)
.PHONY: bench-tls
bench-tls: deps-build ## measure the session tickets (2 minutes): build/bench/tls.json, tls.txt
	@$(MAKE) --no-print-directory $(B)/tls/bench_tls
	@mkdir -p $(B)/bench
	@$(B)/tls/bench_tls $(BENCH_TLS_FLAGS) $(B)/bench/tls.json | tee $(B)/bench/tls.txt

# hostile tickets and hostile servers: seconds in TAP_TESTS, longer in test-full
TLS_FUZZ := $(CLANG) $(ALL_CPPFLAGS) $(TLS_CPPFLAGS) -O1 -g $(SANITIZE) $(ENGINE) $(ALL_LDFLAGS)
TLS_FUZZED := $(filter-out tls/openssl/%,$(TLS_SRC)) $(wildcard tls/*.h tls/*/*.h)
$(B)/tls/fuzz_tickets: tls/tests/fuzz_tickets.c $(TLS_FUZZED) $(OPT_OBJ)
	@mkdir -p $(@D)
	$(TLS_FUZZ) $(filter-out %.h,$^) $(ALL_LDLIBS) -o $@
$(B)/tls/planted_fuzz_tickets: tls/tests/fuzz_tickets.c $(TLS_FUZZED) $(OPT_OBJ)
	@mkdir -p $(@D)
	$(TLS_FUZZ) -DKEYS=3 $(filter-out %.h,$^) $(ALL_LDLIBS) -o $@
$(B)/tls/fuzz_wire: tls/tests/fuzz_wire.c tls/fleet/wire.c tls/fleet/cause.c valkey/chain.c $(wildcard tls/*.h tls/*/*.h valkey/*.h)
	@mkdir -p $(@D)
	$(TLS_FUZZ) $(filter-out %.h,$^) -lhiredis -lssl $(ALL_LDLIBS) -o $@
$(B)/tls/fuzz_target: tls/tests/fuzz_target.c tls/fleet/target.c tls/fleet/target.h
	@mkdir -p $(@D)
	$(TLS_FUZZ) $(filter-out %.h,$^) -lssl $(ALL_LDLIBS) -o $@
$(B)/tls/planted_fuzz_target_at: PLANTED := s/strrchr(text,/strchr(text,/
$(B)/tls/planted_fuzz_target_digit: PLANTED := s/high << 4 | low/high << 4 | high/
$(B)/tls/planted_fuzz_target_digit: TLS_FUZZ += -DNO_TABLE
$(B)/tls/planted_fuzz_target_%: tls/tests/fuzz_target.c tls/fleet/target.c tls/fleet/target.h
	@mkdir -p $(@D)
	@sed '$(PLANTED)' tls/fleet/target.c > $@.c
	@! cmp -s $@.c tls/fleet/target.c
	$(TLS_FUZZ) -Itls/fleet $< $@.c -lssl $(ALL_LDLIBS) -o $@
$(B)/tls/planted_fuzz_wire_lost: PLANTED := s/Feed(w->reader, bytes, (size_t)n)/Feed(w->reader, bytes, (size_t)n - (n > 16))/
$(B)/tls/planted_fuzz_wire_long: PLANTED := s/n <= ELEMENTS_MAX ?/n <= 100 ?/
$(B)/tls/planted_fuzz_wire_first: PLANTED := s/^    close_socket(w);/    wire_close(w);/
$(B)/tls/planted_fuzz_wire_%: tls/tests/fuzz_wire.c tls/fleet/wire.c tls/fleet/cause.c valkey/chain.c $(wildcard tls/*.h tls/*/*.h valkey/*.h)
	@mkdir -p $(@D)
	@sed '$(PLANTED)' tls/fleet/wire.c > $@.c
	@! cmp -s $@.c tls/fleet/wire.c
	$(TLS_FUZZ) -Itls/fleet tls/tests/fuzz_wire.c $@.c tls/fleet/cause.c valkey/chain.c -lhiredis -lssl $(ALL_LDLIBS) -o $@
$(B)/tls/fuzz: tls/tests/fuzz.sh $(B)/tls/fuzz_tickets $(B)/tls/planted_fuzz_tickets $(B)/tls/fuzz_wire \
    $(B)/tls/planted_fuzz_wire_lost $(B)/tls/planted_fuzz_wire_long $(B)/tls/planted_fuzz_wire_first \
    $(B)/tls/fuzz_target $(B)/tls/planted_fuzz_target_at $(B)/tls/planted_fuzz_target_digit
	@printf '#!/bin/sh\nFUZZERS="%s" exec tls/tests/fuzz.sh\n' '$(@D)' > $@
	@chmod +x $@
TAP_TESTS += $(B)/tls/fuzz
.PHONY: fuzz-tls
fuzz-tls: deps-fuzz ## fuzz the session tickets, the fleet's replies and its URLs, FUZZ_SECONDS each
	@$(MAKE) --no-print-directory $(B)/tls/fuzz_tickets $(B)/tls/fuzz_wire $(B)/tls/fuzz_target
	@mkdir -p $(B)/tls/kept/tickets $(B)/tls/kept/wire $(B)/tls/kept/target
	$(B)/tls/fuzz_target -max_total_time=$(FUZZ_SECONDS) -max_len=512 -print_final_stats=1 \
	  -artifact_prefix=$(B)/tls/kept/ $(B)/tls/kept/target
	$(B)/tls/fuzz_tickets -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -print_final_stats=1 \
	  -artifact_prefix=$(B)/tls/kept/ $(B)/tls/kept/tickets
	$(B)/tls/fuzz_wire -max_total_time=$(FUZZ_SECONDS) -max_len=2048 -print_final_stats=1 \
	  -artifact_prefix=$(B)/tls/kept/ $(B)/tls/kept/wire
test-full: fuzz-tls

.PHONY: demo
demo: deps-build ## show the life of a ticket: full handshake, 0-RTT, replay, renewed ticket
	@DEPS=$(DEPS) tools/deps.sh test
	@$(MAKE) --no-print-directory $(B)/pprf-tls-server
	@tls/server/demo.sh $(B)

.PHONY: install-tls uninstall-tls
install: install-tls
uninstall: uninstall-tls
install-tls: $(B)/tls/libpprf_tls.a $(B)/tls/libpprf_tls.so $(B)/pprf-tls-server
	$(call INSTALL_ABOVE,tls,tls/pprf_tls.h tls/pprf_tickets.h tls/pprf_fleet.h,pprf-tls-server,tls/server/pprf-tls-server.1,tls/pprf_tls.3)
uninstall-tls:
	$(call UNINSTALL_ABOVE,tls,tls/pprf_tls.h tls/pprf_tickets.h tls/pprf_fleet.h,pprf-tls-server,tls/server/pprf-tls-server.1,tls/pprf_tls.3)
include tls/nginx/nginx.mk
