# SPDX-License-Identifier: Apache-2.0
# bench/: measurements and the report.
#   bench         Google Benchmark, every implementation in one run
#   bench-nohash  the same with prg_none.c as the PRG: the cost without hashing
#   series        one scenario, operation by operation; sparse sets in large domains
#   heap          the paper's list alone, for valgrind's massif
#   stores        opt's two stores compared with each other and with others
#   suites        the suites compared, in every version that the processor supports
#   weakprf       a weak PRF as an experiment: its forms, and trees with it as PRG (wprf/)
#   redact.py     documents that can be redacted beside SD-JWT and a Merkle tree
#   vault         a vault beside a table of keys and a key file; its rules are in vault/rules.mk
#   coversize     nodes of a key under normally distributed punctures: simulated and predicted
# Results are build/bench/*.json and *.csv; report/report.py makes build/report/ of those that exist.

BENCH_IMPL := $(B)/bench/baselines.o $(B)/bench/workload.o $(B)/cli/impls/list.o \
  $(IMPL_OBJ) $(B)/opt/libpprf_opt.a $(B)/ref/libpprf_ref_ns.a
ABSEIL = $(shell $(PKG_CONFIG) --libs absl_flat_hash_map)
BENCH_PRG := $(B)/prg/libprg_keccak.a # the PRG that ships
BENCH_PROGRAMS := $(addprefix $(B)/bench/,bench bench-nohash series heap coversize stores suites weakprf)

$(B)/bench/%.o: bench/%.cc
	@mkdir -p $(@D)
	$(call SAY,CXX,$<)$(CXX) $(ALL_CPPFLAGS) -Ibench $(ALL_CXXFLAGS) $(DEPFLAGS) -c -o $@ $<
$(B)/bench/bench-nohash.o: bench/bench.cc
	@mkdir -p $(@D)
	$(call SAY,CXX,$<)$(CXX) $(ALL_CPPFLAGS) -Ibench $(ALL_CXXFLAGS) -DNO_HASHING $(DEPFLAGS) -c -o $@ $<
$(B)/bench/heap.o $(B)/bench/coversize.o $(B)/bench/prg_none.o: $(B)/bench/%.o: bench/%.c
	$(call COMPILE,-Ibench)

$(B)/bench/bench: $(B)/bench/bench.o $(BENCH_IMPL) $(BENCH_PRG)
	$(call LINKED,-lbenchmark $(ABSEIL),,$(LINK_CXX))
$(B)/bench/prg_none_expand.o: bench/prg_none.c
	$(call COMPILE,-DKEEP_THE_REST)
$(B)/bench/choice_rest.o: prg/choice.c
	$(call COMPILE,-Dprg_expand=hashing_expand -Dopt_descend=hashing_descend -Dprg_calls=hashing_calls)
$(B)/bench/bench-nohash: $(B)/bench/bench-nohash.o $(BENCH_IMPL) $(B)/bench/prg_none_expand.o \
  $(B)/bench/choice_rest.o $(B)/prg/keccak.o $(B)/prg/aes.o $(B)/prg/aes_instructions.o $(B)/prg/sha256.o $(B)/prg/sha256_instructions.o \
  $(B)/prg/libcrypto_evp.o $(B)/prg/wipe.o
	$(call LINKED,-lbenchmark $(ABSEIL),,$(LINK_CXX))
$(B)/bench/series: $(B)/bench/series.o $(BENCH_IMPL) $(BENCH_PRG)
	$(call LINKED,$(ABSEIL),,$(LINK_CXX))
$(B)/bench/heap: $(B)/bench/heap.o $(B)/cli/impls/list.o $(B)/bench/prg_none.o $(B)/prg/wipe.o
	$(call LINKED)
$(B)/bench/stores.o: bench/stores.c
	$(call COMPILE,-Iopt)
$(B)/bench/stores: $(B)/bench/stores.o $(BENCH_IMPL) $(BENCH_PRG)
	$(call LINKED,$(ABSEIL) -ldl,,$(LINK_CXX))
$(B)/bench/suites.o: bench/suites.c
	$(call COMPILE,-Iopt)
$(B)/bench/suites: $(B)/bench/suites.o $(B)/opt/libpprf_opt.a $(BENCH_PRG)
	$(call LINKED)
$(B)/bench/coversize: $(B)/bench/coversize.o
	$(call LINKED,-lm)

# in no library
$(B)/bench/wprf/%.o: bench/wprf/%.c $(B)/flags
	$(call COMPILE,-Ibench -Itools,-fPIC -fvisibility=default)
$(B)/bench/weakprf: $(B)/bench/wprf/measure.o $(B)/bench/wprf/wprf.o $(B)/prg/common/fork.o $(BENCH_PRG)
	$(call LINKED,-lsodium)
$(B)/bench/wprf/test_wprf: $(B)/bench/wprf/test_wprf.o $(B)/bench/wprf/wprf.o
	$(call LINKED)

TAP_TESTS += $(B)/bench/wprf/test_wprf bench/wprf/model.py
bench/wprf/model.py: $(B)/bench/wprf/wprf.so
$(B)/bench/wprf/wprf.so: $(B)/bench/wprf/wprf.o
	$(call LINKED,,-shared)
TAP_TESTS += $(B)/bench/test_baselines bench/report/test_report.py bench/stops_test.sh
bench/stops_test.sh: $(B)/bench/stores
$(B)/bench/test_baselines: $(B)/bench/test_baselines.o $(BENCH_IMPL) $(BENCH_PRG)
	$(call LINKED,$(ABSEIL),,$(LINK_CXX))
# make test must detect a benchmark that does not link
bench/report/test_report.py: $(BENCH_PROGRAMS) $(B)/redact/libpprf_redact.so

.PHONY: bench bench-quick report peers
# the cases used by bench/report/peers.py
PEERS_CASES := BM_(Punct/.*/(worst|random|normal)/d:16|Punct/.*/best/d:15|EvalPunct/.*/tls/d:16|Range/.*/ranges/d:16|Setup/.*/d:16|Eval/.*/random/d:15)$$
.PHONY: stores
stores: deps-bench ## compare opt's two stores with each other and with others (10 minutes)
	@$(MAKE) --no-print-directory $(B)/bench/stores
	@bench/openmls/build.sh $(B)/bench/openmls
	@$(B)/bench/stores 5 $(B)/bench/stores.json.part $(B)/bench/openmls/libopenmls_pprf.so
	@mv $(B)/bench/stores.json.part $(B)/bench/stores.json
.PHONY: suites
suites: deps-bench ## compare the suites and their versions (1 minute)
	@$(MAKE) --no-print-directory $(B)/bench/suites
	@$(B)/bench/suites 11 $(B)/bench/suites.json.part
	@mv $(B)/bench/suites.json.part $(B)/bench/suites.json
.PHONY: bench-wprf
bench-wprf: deps-bench ## measure the weak PRF of docs/wprf.md and trees with it (seconds)
	@$(MAKE) --no-print-directory $(B)/bench/weakprf
	@$(B)/bench/weakprf 11 $(B)/bench/wprf.json.part
	@mv $(B)/bench/wprf.json.part $(B)/bench/wprf.json
	@bench/report/tables.py wprf $(B)
.PHONY: bench-redact
SD_JWT := sd-jwt==0.10.4 jwcrypto==1.5.6 typing-extensions==4.12.2
bench-redact: deps-bench ## compare documents that can be redacted with SD-JWT, which it downloads, and a Merkle tree (3 minutes)
	@$(MAKE) --no-print-directory $(B)/redact/libpprf_redact.so
	@mkdir -p $(B)/bench/sd-jwt
	@/usr/bin/python3 -m pip install -q --no-deps --target $(B)/bench/sd-jwt --upgrade $(SD_JWT) || echo "no SD-JWT"
	@LD_LIBRARY_PATH=$(B)/opt bench/redact.py $(B)/redact/libpprf_redact.so $(B)/bench/sd-jwt $(B)/bench/redact.json.part
	@mv $(B)/bench/redact.json.part $(B)/bench/redact.json
	@bench/report/tables.py redact $(B)
peers: deps-bench ## measure the README's figure (4 minutes) and draw it: docs/pictures/peers.svg
	@$(MAKE) --no-print-directory $(B)/bench/bench
	@$(B)/bench/bench --set=core '--benchmark_filter=$(PEERS_CASES)' --benchmark_out=$(B)/bench/peers.json
	@bench/report/peers.py measured $(B)/bench/peers.json
	@bench/report/peers.py draw
bench: deps-bench ## measure everything (25 minutes; it downloads and compiles OpenMLS) and write build/report/
	@$(MAKE) --no-print-directory $(BENCH_PROGRAMS) $(B)/pprf
	@$(SOURCE) $(B)/bench/bench.json
	@bench/run.sh full $(B)/bench
	@$(MAKE) --no-print-directory report
bench-quick: deps-bench ## measure the essentials (5 minutes; PEERS=1 adds OpenMLS, 8 more) and write build/report/
	@$(MAKE) --no-print-directory $(BENCH_PROGRAMS) $(B)/pprf
	@$(SOURCE) $(B)/bench/bench.json
	@PEERS=$(PEERS) bench/run.sh quick $(B)/bench
	@$(MAKE) --no-print-directory report
report: deps-bench ## write build/report/ from the results of proofs, fuzzing, tests and benchmarks
	@bench/report/report.py $(B)  # by its shebang: Debian's python3, which has python3-matplotlib
