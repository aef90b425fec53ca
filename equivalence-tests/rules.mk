# SPDX-License-Identifier: Apache-2.0
# equivalence-tests/: compares ref, opt and a naive model; hostile input.
#
# Each variant compiles ref, opt and the tests with its own compiler and flags into
# build/equivalence-tests/VARIANT/:
#   plain  compiler and flags of the libraries      asan  clang, ASan and UBSan
#   fuzz   asan with libFuzzer's coverage               tsan  clang, ThreadSanitizer
#   fast   libFuzzer's coverage alone
#   afl    asan with AFL++'s coverage                   cov   clang, coverage of lines and branches
#   cov-threads  the same for threaded tests: counters are atomic
# The user's CPPFLAGS and LDFLAGS apply to all of them, CFLAGS only to plain: the other variants
# need the flags of their tools.
EQ := equivalence-tests
EQB := $(B)/$(EQ)
EQ_CFLAGS := -std=c11 -g $(WARN) -I$(EQ)
# without the user's link-time optimization: each compiler needs its own linker plugin
EQ_LDFLAGS := $(filter-out -flto%,$(ALL_LDFLAGS))
EQ_CLI := command options message cli setup key filesystem leftovers keyfile replace simulate
EQ_CLI_FLAGS := -Icli -D_FILE_OFFSET_BITS=64 \
  -D'EVAL_LEAVES_MAX=UINT64_C(1024)' -D'EVAL_LINES_MAX=UINT64_C(1024)' -DDRAWS_MAX=1024
# the real PRG is renamed, so that the test PRG can call it
EQ_RENAME := $(foreach f,expand expand_wide digest random random_wide wipe_plan calls,-Dprg_$(f)=sha3_prg_$(f))

# $(1) variant, $(2) compiler, $(3) flags
define EQ_VARIANT
$(EQB)/$(1)/ref/prg/common/%.o: prg/common/%.c ref/names.h $(B)/flags
	@mkdir -p $$(@D)
	$$(call SAY,$(2),$$@)$(2) $(ALL_CPPFLAGS) -include ref/names.h $(EQ_CFLAGS) $(3) $$(DEPFLAGS) -c -o $$@ $$<
$(EQB)/$(1)/ref/%.o: ref/%.c ref/names.h $(B)/flags
	@mkdir -p $$(@D)
	$$(call SAY,$(2),$$@)$(2) $(ALL_CPPFLAGS) -include ref/names.h $(EQ_CFLAGS) $(3) $$(DEPFLAGS) -c -o $$@ $$<
$(EQB)/$(1)/opt/%.o: opt/%.c $(B)/flags
	@mkdir -p $$(@D)
	$$(call SAY,$(2),$$@)$(2) $(ALL_CPPFLAGS) $(EQ_CFLAGS) $(3) $$(DEPFLAGS) -c -o $$@ $$<
$(EQB)/$(1)/prg/%.o: prg/%.c $(B)/flags
	@mkdir -p $$(@D)
	$$(call SAY,$(2),$$@)$(2) $(ALL_CPPFLAGS) $(EQ_CFLAGS) $(3) $$(DEPFLAGS) -c -o $$@ $$<
$(EQB)/$(1)/prg/libcrypto_sha3.o: prg/libcrypto.c $(B)/flags
	@mkdir -p $$(@D)
	$$(call SAY,$(2),$$@)$(2) $(ALL_CPPFLAGS) $(EQ_CFLAGS) $(3) $(EQ_RENAME) $$(DEPFLAGS) -c -o $$@ $$<
$(EQB)/$(1)/cli/impls/impl_ref.o: cli/impls/impl.c ref/names.h $(B)/flags
	@mkdir -p $$(@D)
	$$(call SAY,$(2),$$@)$(2) $(ALL_CPPFLAGS) -include ref/names.h -DIMPL=impl_ref -DIMPL_NAME='"ref"' $(EQ_CFLAGS) $(3) \
	  $$(DEPFLAGS) -c -o $$@ $$<
$(EQB)/$(1)/cli/impls/impl_opt.o: cli/impls/impl.c $(B)/flags
	@mkdir -p $$(@D)
	$$(call SAY,$(2),$$@)$(2) $(ALL_CPPFLAGS) -DIMPL=impl_opt -DIMPL_NAME='"opt"' $(EQ_CFLAGS) $(3) \
	  $$(DEPFLAGS) -c -o $$@ $$<
$(EQB)/$(1)/%.o: $(EQ)/%.c $(B)/flags
	@mkdir -p $$(@D)
	$$(call SAY,$(2),$$@)$(2) $(ALL_CPPFLAGS) $(EQ_CFLAGS) $(3) $$(EQ_TEST_FLAGS) $$(DEPFLAGS) -c -o $$@ $$<
$(EQB)/$(1)/cli/%.o: cli/%.c $(B)/flags
	@mkdir -p $$(@D)
	$$(call SAY,$(2),$$@)$(2) $(ALL_CPPFLAGS) $(EQ_CLI_FLAGS) $(EQ_CFLAGS) $(3) $$(DEPFLAGS) -c -o $$@ $$<
# opt, and both implementations: without a PRG; with the real one; with the test PRG; then the
# sequences
EQ_$(1)_OPT := $(OPT_ALL:%.c=$(EQB)/$(1)/%.o)
EQ_$(1)_KEYS := $(REF_SRC:%.c=$(EQB)/$(1)/%.o) $(COMMON_SRC:%.c=$(EQB)/$(1)/ref/%.o) $$(EQ_$(1)_OPT) \
  $(EQB)/$(1)/cli/impls/impl_ref.o $(EQB)/$(1)/cli/impls/impl_opt.o
EQ_$(1)_SHA3 := $$(EQ_$(1)_KEYS) $(PRG_LIBCRYPTO_SRC:%.c=$(EQB)/$(1)/%.o)
EQ_$(1)_TOY := $$(EQ_$(1)_KEYS) $(EQB)/$(1)/differential/test_prg.o \
  $(EQB)/$(1)/prg/libcrypto_sha3.o $(EQB)/$(1)/prg/wipe.o
EQ_$(1)_OPS := $$(EQ_$(1)_TOY) $(EQB)/$(1)/differential/ops.o $(EQB)/$(1)/differential/model.o \
  $(EQB)/$(1)/differential/oracle.o
# what a fuzz target needs; the command line's target also has the program
EQ_$(1)_FUZZ_CLI := $(EQ_CLI:%=$(EQB)/$(1)/cli/%.o) $(EQB)/$(1)/cli/impls/list.o
endef
EQ_SANITIZE_CLANG := $(SANITIZE) -fno-optimize-sibling-calls
EQ_plain_FLAGS := -O2 -fstack-protector-strong -fvisibility=hidden $(CFLAGS)
$(eval $(call EQ_VARIANT,plain,$(CC),$(EQ_plain_FLAGS)))
$(eval $(call EQ_VARIANT,asan,$(CLANG),-O1 $(EQ_SANITIZE_CLANG)))
$(eval $(call EQ_VARIANT,fuzz,$(CLANG),-O2 $(EQ_SANITIZE_CLANG) -fsanitize=fuzzer-no-link))
$(eval $(call EQ_VARIANT,fast,$(CLANG),-O2 -fsanitize=fuzzer-no-link -fno-sanitize-coverage=trace-cmp))
$(eval $(call EQ_VARIANT,afl,AFL_QUIET=1 afl-clang-fast,-O2 $(EQ_SANITIZE_CLANG)))
$(eval $(call EQ_VARIANT,cov,$(CLANG),$$(EQ_COV_FLAGS)))
$(eval $(call EQ_VARIANT,cov-threads,$(CLANG),$$(EQ_COV_FLAGS) -fprofile-update=atomic))
$(eval $(call EQ_VARIANT,tsan,$(CLANG),-O1 -fsanitize=thread))

# ---- the tests

EQ_TAP := vectors vectors-asan random three-way api
TAP_TESTS += $(EQ_TAP:%=$(EQB)/%) $(EQB)/vectors-regenerated

# the vectors, from an independent implementation
$(EQB)/vectors-regenerated: $(EQ)/vectors/gen_vectors.py
	@mkdir -p $(@D)
	printf '#!/bin/sh\nexec $(PYTHON) $(EQ)/vectors/gen_vectors.py --check\n' > $@
	chmod +x $@
.PHONY: vectors
vectors: ## write the known-answer vectors again
	$(PYTHON) $(EQ)/vectors/gen_vectors.py
$(EQB)/vectors: $(EQ_plain_SHA3) $(EQB)/plain/vectors/vectors.o
	$(call LINKED,-ljansson)

$(EQB)/vectors-asan: $(EQ_asan_SHA3) $(EQB)/asan/vectors/vectors.o
	$(call LINKED,-ljansson,,$(CLANG) $(EQ_SANITIZE_CLANG) $(EQ_LDFLAGS))
$(EQB)/api: $(EQ_plain_SHA3) $(EQB)/plain/differential/api.o
	$(call LINKED)
$(EQB)/random $(EQB)/replay: $(EQB)/%: $(EQB)/plain/differential/%.o $(EQ_plain_OPS)
	$(call LINKED)
# a third party: the extracted Coq model
$(EQB)/three-way: $(EQB)/random $(B)/oracle
	cp $< $@

# ---- fuzzing

# coverage of ref and opt guides the fuzzer, not the test's own branches
$(EQB)/fuzz/% $(EQB)/fast/%: EQ_TEST_FLAGS := -fno-sanitize=fuzzer-no-link

EQ_FUZZ := fuzz_ops fuzz_import fuzz_cli
# The fuzzer runs sequences without sanitizers, several times as fast; the inputs that it keeps then
# run with them. No sequence depends on bytes that comparisons would have to reveal.
$(EQB)/fuzz_ops: $(EQB)/fast/fuzz/fuzz_ops.o $(EQ_fast_OPS)
	$(call LINKED,,,$(CLANG) $(ENGINE) $(EQ_LDFLAGS))
$(EQB)/fuzz_import $(EQB)/fuzz_cli: $(EQB)/%: $(EQB)/fuzz/fuzz/%.o $(EQ_fuzz_OPS)
	$(call LINKED,$(EQ_LIBS),,$(CLANG) $(EQ_SANITIZE_CLANG) $(ENGINE) $(EQ_LDFLAGS))
$(EQ_FUZZ:%=$(EQB)/afl/%): $(EQB)/afl/%: $(EQB)/afl/fuzz/%.o $(EQ_afl_OPS)
	AFL_QUIET=1 afl-clang-fast $(EQ_SANITIZE_CLANG) -fsanitize=fuzzer $(EQ_LDFLAGS) -o $@ $^ $(EQ_LIBS) $(ALL_LDLIBS)
$(EQB)/fuzz_cli: $(EQ_fuzz_FUZZ_CLI)
$(EQB)/afl/fuzz_cli: $(EQ_afl_FUZZ_CLI)
$(EQB)/fuzz_cli $(EQB)/afl/fuzz_cli $(EQB)/corpus-cli $(EQB)/covered/corpus-cli: EQ_LIBS := -ljansson -lm
# every run of the tests executes the committed inputs once
EQ_CORPUS := $(EQ_FUZZ:fuzz_%=corpus-%)
EQ_INPUTS := $(EQ_FUZZ:%=$(EQB)/inputs/%)
$(EQ_INPUTS): $(EQB)/inputs/%: $(EQ)/fuzz/corpus/%.tar.gz
	@rm -rf $@ $@.new
	@mkdir -p $@.new
	$(call SAY,UNPACK,$@)tar --extract --gzip --touch --no-same-owner --file $< --directory $@.new
	@mv $@.new $@
$(foreach t,$(EQ_FUZZ:fuzz_%=%),$(eval $(EQB)/corpus-$(t) $(EQB)/covered/corpus-$(t) $(EQB)/fuzz_$(t) $(EQB)/afl/fuzz_$(t): | $(EQB)/inputs/fuzz_$(t)))
TAP_TESTS += $(EQ_CORPUS:%=$(EQB)/%)
$(EQ_CORPUS:%=$(EQB)/%): $(EQB)/corpus-%: $(EQB)/asan/fuzz/fuzz_%.o $(EQB)/asan/fuzz/corpus.o $(EQ_asan_OPS)
	$(call LINKED,$(EQ_LIBS),,$(CLANG) $(EQ_SANITIZE_CLANG) $(EQ_LDFLAGS))
$(EQB)/corpus-cli: $(EQ_asan_FUZZ_CLI)
$(EQB)/corpus-ops $(EQB)/fuzz_ops $(EQB)/afl/fuzz_ops: | $(B)/oracle
$(EQB)/make_corpus: $(EQB)/plain/fuzz/make_corpus.o $(EQ_plain_OPS)
	$(call LINKED)
.PHONY: corpus-pack
corpus-pack: deps-fuzz $(EQ_FUZZ:%=$(EQB)/%) $(EQB)/make_corpus ## choose each fuzz target's committed inputs again, from the old ones and those that `make fuzz` kept
	@mkdir -p $(EQB)/first
	@$(EQB)/make_corpus $(EQB)/first
	@for target in $(EQ_FUZZ); do $(PYTHON) $(EQ)/fuzz/pack.py $(EQB)/$$target $(EQ)/fuzz/corpus/$$target.tar.gz \
	  $(EQB)/inputs/$$target $(EQB)/first/$$target $(EQB)/corpus/$$target || exit 1; done
.PHONY: fuzz fuzz-afl
fuzz: deps-fuzz deps-prove $(EQ_FUZZ:%=$(EQB)/%) $(EQB)/corpus-ops ## fuzz ref against opt, key files and the program for FUZZ_SECONDS
	@$(SOURCE) $(EQB)/fuzz.json
	@$(PYTHON) $(EQ)/fuzz/fuzz.py $(EQB) $(FUZZ_SECONDS) $(EQ_FUZZ:fuzz_ops=fuzz_ops:corpus-ops)
fuzz-afl: deps-fuzz deps-fuzz-afl deps-prove ## make fuzz with AFL++
	@$(MAKE) --no-print-directory $(EQ_FUZZ:%=$(EQB)/afl/%)
	@$(PYTHON) $(EQ)/fuzz/fuzz.py --afl $(EQB) $(FUZZ_SECONDS) $(EQ_FUZZ)

# ---- injected failures

TAP_TESTS += $(EQB)/faults $(EQB)/faults-asan
EQ_WRAP := malloc calloc realloc posix_memalign aligned_alloc free mmap64 munmap madvise mlock mlock2 \
  EVP_MD_fetch EVP_MD_CTX_new EVP_MD_CTX_free EVP_DigestInit_ex EVP_DigestUpdate EVP_DigestFinal_ex \
  EVP_CIPHER_CTX_new EVP_EncryptInit_ex EVP_CIPHER_CTX_set_padding EVP_EncryptUpdate \
  EVP_KDF_CTX_new EVP_KDF_derive RAND_priv_bytes pthread_setspecific pthread_key_create prg_expand \
  prg_expand_wide
EQ_WRAP_FLAGS := $(EQ_WRAP:%=-Wl,--wrap=%)
$(EQB)/faults: $(EQB)/plain/failures/faults.o $(EQ_plain_SHA3)
	$(call LINKED,,$(EQ_WRAP_FLAGS))
$(EQB)/faults-asan: $(EQB)/asan/failures/faults.o $(EQ_asan_SHA3)
	$(call LINKED,,,$(CLANG) $(EQ_SANITIZE_CLANG) $(EQ_LDFLAGS) $(EQ_WRAP_FLAGS))

# ---- callers who break the rules, and memory that changes

TAP_TESTS += $(EQB)/hostile $(EQB)/hostile-asan
EQ_ARENA_WRAP := $(foreach f,opt_arena_take opt_arena_give,-Wl,--wrap=$(f))
$(EQB)/hostile: $(EQB)/plain/failures/hostile.o $(EQ_plain_SHA3)
	$(call LINKED,,$(EQ_ARENA_WRAP))
$(EQB)/hostile-asan: $(EQB)/asan/failures/hostile.o $(EQ_asan_SHA3)
	$(call LINKED,,,$(CLANG) $(EQ_SANITIZE_CLANG) $(EQ_LDFLAGS) $(EQ_ARENA_WRAP))

# ---- contents of freed blocks, returned pages and used stacks; memory figures that the key reports

TAP_TESTS += $(EQB)/memory
EQ_MEMORY_WRAP := $(foreach f,malloc calloc free munmap madvise mlock2 prg_expand opt_expand_many \
  prg_digest prg_random,-Wl,--wrap=$(f))
$(EQB)/memory: $(EQB)/plain/secrets/memory.o $(EQ_plain_SHA3)
	$(call LINKED,,$(EQ_MEMORY_WRAP))

# ---- erased data is gone, in the libraries as they are built

CLEAN_TESTS += $(EQB)/residue
TAP_TESTS += $(EQB)/residue
$(EQB)/residue: $(EQB)/plain/secrets/residue.o $(EQB)/plain/cli/impls/impl_ref.o $(EQB)/plain/cli/impls/impl_opt.o \
  $(B)/ref/libpprf_ref_ns.a $(B)/opt/libpprf_opt.a $(B)/prg/libprg_libcrypto.a
	$(call SAY,LINK,$@)$(LINK) -Wl,--wrap=prg_wipe -o $@ $^ $(ALL_LDLIBS)

# with 32-byte seeds
CLEAN_TESTS += $(EQB)/residue-mls
TAP_TESTS += $(EQB)/residue-mls
$(EQB)/residue-mls: $(EQB)/residue
	cp $< $@

# Also as others build them: each compiler and set of flags is a target residue-CELL; two run in
# `make test`.
EQ_MATRIX := $(foreach c,gcc clang,$(addprefix $(c),-O0 -O1 -O2 -O3 -Os -O3-march=native -O2-flto))
EQ_MATRIX_OBJ := $(EQB)/plain/secrets/residue.o $(EQB)/plain/secrets/wide_prg.o $(EQB)/plain/cli/impls/impl_ref.o $(EQB)/plain/cli/impls/impl_opt.o
TAP_TESTS += $(EQB)/residue-matrix
$(EQB)/residue-matrix: $(EQ)/secrets/residue-matrix.sh $(EQ_MATRIX_OBJ)
	@{ printf '#!/bin/sh\nexport B="%s" CPPFLAGS="%s" LDLIBS="%s"\n' \
	  '$(B)' '$(ALL_CPPFLAGS)' '$(ALL_LDFLAGS) $(ALL_LDLIBS)'; \
	  printf 'export REF_SRC="%s" OPT_SRC="%s"\n' '$(REF_SRC)' '$(OPT_SRC)'; \
	  printf 'export BOTH_SRC="%s" PRG_SRC="%s" OPT_PRG_SRC="%s"\n' '$(COMMON_SRC)' \
	  '$(PRG_LIBCRYPTO_SRC)' '$(PRG_KECCAK_SRC)'; \
	  echo '[ $$# -gt 0 ] || set -- --quick gcc-O3 gcc-O3-march=native'; echo 'exec $(EQ)/secrets/residue-matrix.sh "$$@"'; } > $@
	@chmod +x $@
.PHONY: residue-matrix $(EQ_MATRIX:%=residue-%)
residue-matrix: $(EQB)/residue-matrix ## search for residues of the libraries under 14 compilers and flags
	@prove --verbose --timer $< :: $(EQ_MATRIX)
$(EQ_MATRIX:%=residue-%): residue-%: $(EQB)/residue-matrix
	@$< $*

# ---- the first call of each function in a process with lazy binding, which only this test has: it is
# built without ALL_LDFLAGS

TAP_TESTS += $(EQB)/first_use
$(EQB)/first_use: $(EQ)/secrets/first_use.py $(wildcard $(EQ)/secrets/first_use*.*) $(EQ)/vectors/gen_vectors.py $(B)/opt/libpprf.a \
  $(B)/opt/libpprf.so.0 $(B)/amalgamation/pprf.c
	@mkdir -p $(@D)
	@printf '#!/bin/sh\nB="%s" CPPFLAGS="%s" LDLIBS="%s" exec $(PYTHON) $(EQ)/secrets/first_use.py "$$@"\n' \
	  '$(B)' '$(ALL_CPPFLAGS)' '$(ALL_LDLIBS)' > $@
	@chmod +x $@
.PHONY: first-use
first-use: $(EQB)/first_use bindings/go/pprf.c bindings/rust/pprf-sys/c/pprf.c ## search for residues of first calls in 182 programs: 2 compilers, 11 flags, plugins, Go, Rust, Python
	@prove --verbose --timer $< :: --full
test-full: first-use

# ---- keys and forks

TAP_TESTS += $(EQB)/forks
EQ_FORKS_WRAP := $(foreach f,madvise malloc calloc free munmap EVP_MD_fetch RAND_priv_bytes,-Wl,--wrap=$(f))
$(EQB)/forks: $(EQB)/plain/failures/forks.o $(EQ_plain_SHA3)
	$(call LINKED,,$(EQ_FORKS_WRAP))

# ---- the stack that a call needs

TAP_TESTS += $(EQB)/stack
$(EQB)/stack: $(EQ)/failures/stack.sh $(EQ)/failures/stack.c $(B)/opt/libpprf.a $(B)/amalgamation/pprf.c
	@mkdir -p $(@D)
	@printf '#!/bin/sh\nB="%s" CPPFLAGS="%s" LDLIBS="%s" exec $(EQ)/failures/stack.sh "$$@"\n' \
	  '$(B)' '$(ALL_CPPFLAGS)' '$(ALL_LDLIBS)' > $@
	@chmod +x $@
.PHONY: stack
stack: $(EQB)/stack ## measure the stack that each function needs, under 30 compilers and flags
	@prove --verbose --timer $< :: --full
test-full: stack

# ---- the key file, when calls fail and processes die

TAP_TESTS += $(EQB)/crash
# crash_preload.c defines both open and open64, which a 64-bit off_t would make one
$(EQB)/crash_preload.so: $(EQ)/failures/crash_preload.c
	@mkdir -p $(@D)
	$(call SAY,LINK,$@)$(CC) $(ALL_CPPFLAGS) -U_FILE_OFFSET_BITS $(EQ_CFLAGS) $(CFLAGS) $(ALL_LDFLAGS) -fPIC -shared -o $@ $< -ldl $(ALL_LDLIBS)
$(EQB)/crash: $(EQ)/failures/crash.py $(EQB)/crash_preload.so $(B)/pprf
	cp $< $@

# ---- all small trees

TAP_TESTS += $(EQB)/exhaustive
$(EQB)/exhaustive: $(EQB)/plain/differential/exhaustive.o $(EQ_plain_OPS)
	$(call LINKED)

# ---- planted bugs test the tests

EQ_SUITES := vectors vectors-asan random exhaustive faults faults-asan residue residue-mls first_use memory api prg_choice wide_prg wide_prg-libcrypto wipe hostile forks stack \
  corpus-ops corpus-import corpus-cli
TAP_TESTS += $(EQB)/planted
$(EQB)/planted: $(PLANTING) $(EQ)/gates/planted.py $(EQ)/gates/planted.txt $(EQ_SUITES:%=$(EQB)/%)
	$(call PLANTED,$(PYTHON) $(EQ)/gates/planted.py --quick)
EQ_JOBS := $(CORES)
.PHONY: planted
planted: $(LIBS) $(PROGRAMS) $(EQ_SUITES:%=$(EQB)/%) $(EQB)/crash $(EQB)/three-way $(EQB)/secret-flow $(EQB)/threads ## plant every bug of gates/planted.txt; a test must detect each
	@$(SOURCE) $(EQB)/planted.json
	@$(PYTHON) $(EQ)/gates/planted.py --jobs $(EQ_JOBS) --json $(EQB)/planted.json

# for make test: a random tenth
.PHONY: planted-sample
planted-sample: $(LIBS) $(PROGRAMS) $(EQ_SUITES:%=$(EQB)/%) $(EQB)/crash $(EQB)/three-way $(EQB)/secret-flow $(EQB)/threads
	@$(PYTHON) $(EQ)/gates/planted.py --sample 25 --clock 50 --jobs $(EQ_JOBS)

# Bugs that nobody chose: COUNT random changes, which SEED repeats.
COUNT ?= 400
.PHONY: random-bugs
random-bugs: $(LIBS) $(PROGRAMS) $(EQ_SUITES:%=$(EQB)/%) $(EQB)/crash $(EQB)/secret-flow $(EQB)/threads $(EQB)/shipped-prg \
  $(B)/ref/smoke $(B)/opt/selftest $(TLS_TAP) ## plant random bugs in the C code (SEED=.. COUNT=..) and list those that no test detects
	@$(PYTHON) $(EQ)/gates/random_bugs.py --seed "$(SEED)" --count $(COUNT) --jobs $(EQ_JOBS) $(if $(SECONDS),--seconds $(SECONDS))

# ---- the same with each version of the PRG that opt ships with

TAP_TESTS += $(EQB)/shipped-prg
$(EQB)/vectors-shipped: $(EQB)/plain/vectors/vectors.o
$(EQB)/residue-shipped: $(EQB)/plain/secrets/residue.o
$(EQB)/vectors-shipped $(EQB)/residue-shipped: \
  $(EQB)/plain/cli/impls/impl_ref.o $(EQB)/plain/cli/impls/impl_opt.o $(B)/ref/libpprf_ref_ns.a \
  $(B)/opt/libpprf_opt.a $(B)/prg/libprg_keccak.a
	$(call SAY,LINK,$@)$(LINK) $(EQ_WIPE_WRAP) -o $@ $(filter %.o,$^) $(filter %.a,$^) -ljansson $(ALL_LDLIBS)
$(EQB)/residue-shipped: EQ_WIPE_WRAP := -Wl,--wrap=prg_wipe
$(EQB)/shipped-prg: $(EQ)/differential/shipped-prg.sh $(EQB)/vectors-shipped $(EQB)/residue-shipped
	cp $< $@

TAP_TESTS += $(EQB)/prg_choice
EQ_PRG_WRAP := $(foreach f,$(foreach v,scalar avx2 avx512 avx2_x4 avx512_x4 avx512_x8 avx512_descend,opt_keccak_$(v) opt_salted_$(v)) \
  opt_aes_bitsliced opt_aes_ni opt_aes_ni_x4 opt_aes_ni_descend opt_aes_vaes_x4 opt_aes_vaes_x8 \
  opt_aes_armv8 opt_aes_armv8_x4 opt_aes_armv8_descend opt_sha256_scalar opt_sha256_ni opt_sha256_armv8 \
  getauxval prg_expand_evp prg_expand_wide_evp,-Wl,--wrap=$(f))
$(EQB)/prg_choice: $(EQB)/plain/differential/prg_choice.o $(B)/prg/libprg_keccak.a
	$(call LINKED,,$(EQ_PRG_WRAP))

# ---- the PRG with 32-byte seeds: residues and errors, of the library and of the reference

TAP_TESTS += $(EQB)/wide_prg $(EQB)/wide_prg-libcrypto
EQ_WIDE_WRAP := $(foreach f,EVP_KDF_CTX_new EVP_KDF_derive RAND_priv_bytes,-Wl,--wrap=$(f))
$(EQB)/wide_prg: $(EQB)/plain/secrets/wide_prg.o $(B)/prg/libprg_keccak.a
	$(call LINKED,,$(EQ_WIDE_WRAP))
$(EQB)/wide_prg-libcrypto: $(EQB)/plain/secrets/wide_prg.o $(B)/prg/lanes.o $(B)/prg/libprg_libcrypto.a
	$(call LINKED,,$(EQ_WIDE_WRAP))

# ---- prg_wipe alone, and the plans that choice.c makes for it

TAP_TESTS += $(EQB)/wipe
$(EQB)/wipe: $(EQB)/plain/secrets/wipe.o $(B)/prg/libprg_keccak.a
	$(call LINKED)

# ---- branches and addresses do not depend on secrets: memcheck treats seeds as undefined, in the
# libraries as they are built

TAP_TESTS += $(EQB)/secret-flow
$(EQB)/secret_flow: $(EQB)/plain/secrets/secret_flow.o $(EQB)/plain/secrets/secret_prg.o $(EQB)/plain/prg/wipe.o $(EQ_plain_KEYS)
	$(call LINKED)
EQ_SHIPPED_WRAP := $(foreach f,prg_expand opt_expand_many prg_random prg_expand_wide opt_expand_many_wide prg_random_wide \
  prg_digest,-Wl,--wrap=$(f))
$(EQB)/secret_flow_shipped: $(EQB)/plain/secrets/secret_flow.o $(EQB)/plain/secrets/secret_shipped.o $(EQ_plain_KEYS) \
  $(B)/prg/libprg_keccak.a
	$(call LINKED,,$(EQ_SHIPPED_WRAP))
$(EQB)/secret_wide: $(EQB)/plain/secrets/secret_wide.o $(B)/prg/libprg_keccak.a
	$(call LINKED)
$(EQB)/secret-flow: $(EQ)/secrets/secret-flow.sh $(EQ)/secrets/vector_flow.py $(EQB)/secret_flow $(EQB)/secret_flow_shipped $(EQB)/secret_wide
	@printf '#!/bin/sh\nCC="%s" CPPFLAGS="%s" B="%s" exec $(EQ)/secrets/secret-flow.sh\n' \
	  '$(CC)' '$(ALL_CPPFLAGS)' '$(B)' > $@
	@chmod +x $@

# ---- no uninitialized byte is read: MemorySanitizer on the sequences

EQ_MSAN := -O2 -fsanitize=memory -fno-omit-frame-pointer
$(eval $(call EQ_VARIANT,msan,$(CLANG),$(EQ_MSAN)))
EQ_MSAN_OBJ := $(EQ_msan_OPS) $(EQB)/msan/secrets/initialized.o
EQ_MSAN_LINK := $(EQ_MSAN) $(foreach f,EVP_MD_fetch EVP_DigestInit_ex EVP_DigestUpdate \
  EVP_DigestFinal_ex EVP_KDF_derive RAND_priv_bytes OPENSSL_cleanse,-Wl,--wrap=$(f)) $(EQ_LDFLAGS)
$(EQB)/initialized_bytes: $(EQ_MSAN_OBJ)
	$(call LINKED,,,$(CLANG) $(EQ_MSAN_LINK))
TAP_TESTS += $(EQB)/initialized
$(EQB)/initialized: $(EQ)/secrets/initialized.sh $(EQB)/initialized_bytes
	@{ printf '#!/bin/sh\nCLANG="%s" CFLAGS="%s" \\\nLDFLAGS="%s" LDLIBS="%s" \\\nOBJECTS="%s" \\\n' \
	  '$(CLANG)' '$(ALL_CPPFLAGS) -Iref -include ref/names.h $(EQ_CFLAGS) $(EQ_MSAN)' '$(EQ_MSAN_LINK)' \
	  '$(ALL_LDLIBS)' '$(EQ_MSAN_OBJ)'; echo 'exec $(EQ)/secrets/initialized.sh $(EQB)'; } > $@
	@chmod +x $@

# ---- threads

TAP_TESTS += $(EQB)/threads
$(EQB)/threads_tsan: $(EQB)/tsan/differential/threads.o $(EQ_tsan_SHA3)
	$(call LINKED,,,$(CLANG) -fsanitize=thread $(EQ_LDFLAGS))
$(EQB)/tsan/prg/libcrypto_evp.o: prg/libcrypto.c
	@mkdir -p $(@D)
	$(call SAY,CC,$<)$(CLANG) $(ALL_CPPFLAGS) $(PRG_EVP_RENAME) $(EQ_CFLAGS) -O1 -fsanitize=thread $(DEPFLAGS) -c -o $@ $<
$(EQB)/threads_tsan_shipped: $(EQB)/tsan/differential/threads.o $(EQ_tsan_KEYS) \
  $(PRG_KECCAK_SRC:%.c=$(EQB)/tsan/%.o) $(EQB)/tsan/prg/libcrypto_evp.o
	$(call LINKED,,,$(CLANG) -fsanitize=thread $(EQ_LDFLAGS))
$(EQB)/threads: $(EQ)/differential/threads.sh $(EQB)/threads_tsan $(EQB)/threads_tsan_shipped
	cp $< $@

# ---- coverage of ref and opt by these tests

# random is left out: it takes a third of the time and reaches nothing that the others miss
EQ_COV := faults exhaustive selftest forks vectors hostile api prg_choice arena_test test_pool $(EQ_CORPUS)
EQ_COV_PROGRAMS := $(EQ_COV:%=$(EQB)/covered/%)
EQ_COV_FLAGS := -O2 -fprofile-instr-generate -fcoverage-mapping
EQ_COV_LINK := $(CLANG) -fprofile-instr-generate $(EQ_LDFLAGS)
$(EQ_COV_PROGRAMS): $(EQB)/cov/gates/counted_exit.o
	@mkdir -p $(@D)
	$(call SAY,$(CLANG),$@)$(EQ_COV_LINK) -Wl,--wrap=_exit $(EQ_COV_WRAP) -o $@ $^ $(EQ_LIBS) $(ALL_LDLIBS)
$(EQB)/covered/exhaustive: $(EQB)/cov/differential/exhaustive.o $(EQ_cov_OPS)
$(EQB)/covered/api: $(EQB)/cov/differential/api.o $(EQ_cov_SHA3)
$(EQB)/covered/faults $(EQB)/covered/hostile: $(EQB)/covered/%: $(EQB)/cov/failures/%.o $(EQ_cov_SHA3)
$(EQB)/covered/forks: $(EQB)/cov-threads/failures/forks.o $(EQ_cov-threads_SHA3)
$(EQ_CORPUS:%=$(EQB)/covered/%): $(EQB)/covered/corpus-%: $(EQB)/cov/fuzz/fuzz_%.o $(EQB)/cov/fuzz/corpus.o $(EQ_cov_OPS)
$(EQB)/covered/corpus-cli: $(EQ_cov_FUZZ_CLI)
$(EQB)/covered/corpus-ops: | $(B)/oracle
$(EQB)/covered/vectors: EQ_LIBS := -ljansson
$(EQB)/covered/faults: EQ_COV_WRAP := $(EQ_WRAP_FLAGS)
$(EQB)/covered/forks: EQ_COV_WRAP := $(EQ_FORKS_WRAP)
$(EQB)/covered/hostile: EQ_COV_WRAP := $(EQ_ARENA_WRAP)
$(EQB)/covered/prg_choice: EQ_COV_WRAP := $(EQ_PRG_WRAP)
$(EQB)/covered/selftest: EQ_COV_WRAP := $(OPT_WRAP)
# With threads, a plain counter can lose counts, and derived counts become wrong or negative. Atomic
# counters are six times slower, so only forks and the objects that threads run use them.
$(addprefix $(EQB)/cov/,prg/libcrypto.o prg/libcrypto_sha3.o prg/libcrypto_evp.o opt/packed/arena.o opt/selftest/packed.o): \
  EQ_COV_FLAGS += -fprofile-update=atomic
# opt with its own PRG
$(EQB)/cov/prg/libcrypto_evp.o: prg/libcrypto.c
	@mkdir -p $(@D)
	$(call SAY,$(CLANG),$@)$(CLANG) $(ALL_CPPFLAGS) $(PRG_EVP_RENAME) $(EQ_CFLAGS) $(EQ_COV_FLAGS) $(DEPFLAGS) -c -o $@ $<
EQ_cov_PRG := $(PRG_KECCAK_SRC:%.c=$(EQB)/cov/%.o) $(EQB)/cov/prg/libcrypto_evp.o
$(EQB)/covered/prg_choice: $(EQB)/cov/differential/prg_choice.o $(EQ_cov_PRG) $(EQB)/cov/prg/common/fork.o
$(EQB)/covered/vectors: $(EQB)/cov/vectors/vectors.o $(EQ_cov_KEYS) $(EQ_cov_PRG)
EQ_cov_SELFTEST := $(OPT_SELFTEST:%.c=$(EQB)/cov/%.o)
$(EQ_cov_SELFTEST) $(EQB)/cov/opt/tests/arena_test.o: $(EQB)/cov/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(call SAY,$(CLANG),$@)$(CLANG) $(ALL_CPPFLAGS) -Iopt $(EQ_CFLAGS) $(EQ_COV_FLAGS) $(DEPFLAGS) -c -o $@ $<
$(EQB)/covered/selftest: $(EQ_cov_SELFTEST) $(EQ_cov_OPT) $(EQ_cov_PRG)
$(EQB)/covered/arena_test: $(EQB)/cov/opt/tests/arena_test.o
# the pool uses shared keys (opt/shared.c), and its tests cover them
$(EQB)/cov/failures/inject.o: EQ_TEST_FLAGS := -Iopt
EQ_cov_POOL := $(EQB)/cov/tls/tests/test_pool.o $(EQB)/cov/tls/tickets/pool.o
$(EQ_cov_POOL): $(EQB)/cov/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(call SAY,$(CLANG),$@)$(CLANG) $(ALL_CPPFLAGS) $(TLS_CPPFLAGS) -I$(EQ) $(EQ_CFLAGS) -O2 $(DEPFLAGS) -c -o $@ $<
$(EQB)/covered/test_pool: $(EQ_cov_POOL) $(EQB)/cov/failures/inject.o $(EQ_cov_OPT) $(EQ_cov_PRG)
$(EQB)/covered/test_pool: EQ_COV_WRAP := $(TLS_WRAP:%=-Wl,--wrap=%)
# the program with coverage counters, for cli/test_cli.py
$(EQB)/covered/pprf: $(CLI_SRC) $(wildcard cli/*.h) cli/impls/list.c $(EQ_cov_KEYS) $(EQ_cov_PRG)
	@mkdir -p $(@D)
	$(EQ_COV_LINK) $(ALL_CPPFLAGS) $(CLI_CPPFLAGS) $(EQ_CFLAGS) -O2 -fcoverage-mapping -o $@ $(CLI_SRC) \
	  cli/impls/list.c $(EQ_cov_KEYS) $(EQ_cov_PRG) -ljansson -lm $(ALL_LDLIBS)
.PHONY: coverage
coverage: $(EQ_COV_PROGRAMS) $(EQB)/covered/pprf ## measure which lines and branches of ref, opt and cli the tests reach
	@$(SOURCE) $(EQB)/coverage.json
	@$(PYTHON) $(EQ)/gates/coverage.py $(EQB)/cov $(EQ_COV_PROGRAMS) $(EQB)/covered/pprf

TAP_TESTS += $(EQ)/gates/test_gates.py

# ---- other processors, with cross compilers and qemu-user

EQ_ARCHES := i386 arm64 s390x
$(EQ_ARCHES:%=$(EQB)/arch-%): $(EQB)/arch-%: $(EQ)/differential/arch.sh
	@mkdir -p $(@D)
	@printf '#!/bin/sh\nexec $(EQ)/differential/arch.sh $*\n' > $@
	@chmod +x $@
.PHONY: test-arch
test-arch: deps-build deps-arch ## run the tests on emulated i386, arm64 and s390x
	@$(MAKE) --no-print-directory $(B)/pprf $(EQ_ARCHES:%=$(EQB)/arch-%)
	@$(TAP) $(EQ_ARCHES:%=$(EQB)/arch-%)

# ---- everything

EQ_ALL := $(EQ_SUITES:%=$(EQB)/%) $(EQB)/hostile-asan $(EQB)/three-way $(EQB)/crash $(EQB)/vectors-regenerated \
  $(EQB)/threads $(EQB)/secret-flow $(EQB)/shipped-prg
.PHONY: test-full
test-full: deps-build deps-prove deps-test deps-fuzz deps-root ## run in full what make test samples: C proofs, long equivalence tests, planted bugs, clean roots (hours)
	@$(MAKE) --no-print-directory $(STRICT) products $(EQ_ALL)
	@$(PYTHON) $(EQ)/gates/full.py $(EQB) 600
	@$(MAKE) --no-print-directory $(STRICT) $(B)/opt/planted $(B)/tls/planted $(B)/bindings/planted
	@ALL=1 $(TAP) $(B)/opt/planted $(B)/tls/planted $(B)/bindings/planted
	@$(MAKE) --no-print-directory test-roots
	@for suite in $(TEST_ROOT_SUITES); do tls/nginx/test-install.sh $$suite || exit 1; done
