# SPDX-License-Identifier: Apache-2.0
# equivalence-tests/: ref against opt against a naive model, and hostile input.
#
# Each variant compiles ref, opt and the tests with its own compiler and flags into
# build/equivalence-tests/VARIANT/:
#   plain  the compiler and flags of the libraries      asan  clang, ASan and UBSan
#   fuzz   asan with libFuzzer's coverage               tsan  clang, ThreadSanitizer
EQ := equivalence-tests
EQB := $(B)/$(EQ)
EQ_REF := $(patsubst ref/%.c,%,$(filter-out ref/prg.c ref/smoke.c,$(wildcard ref/*.c)))
EQ_OPT := $(patsubst opt/%.c,%,$(wildcard opt/*.c))
EQ_CFLAGS := -std=c11 -g $(WARN) -I$(EQ)
# the real PRG beside the test PRG
EQ_RENAME := $(foreach f,expand digest random wipe_stack calls,-Dprg_$(f)=sha3_prg_$(f))

# $(1) variant, $(2) compiler, $(3) flags
define EQ_VARIANT
$(EQB)/$(1)/ref/%.o: ref/%.c ref/names.h
	@mkdir -p $$(@D)
	$(2) $(CPPFLAGS) -include ref/names.h $(EQ_CFLAGS) $(3) $$(DEPFLAGS) -c -o $$@ $$<
$(EQB)/$(1)/opt/%.o: opt/%.c
	@mkdir -p $$(@D)
	$(2) $(CPPFLAGS) $(EQ_CFLAGS) $(3) $$(DEPFLAGS) -c -o $$@ $$<
$(EQB)/$(1)/opt/strerror.o $(EQB)/$(1)/prg.o: $(EQB)/$(1)/%.o:
	@mkdir -p $$(@D)
	$(2) $(CPPFLAGS) $(EQ_CFLAGS) $(3) $$(DEPFLAGS) -c -o $$@ ref/$$(notdir $$*).c
$(EQB)/$(1)/sha3.o: ref/prg.c
	@mkdir -p $$(@D)
	$(2) $(CPPFLAGS) $(EQ_CFLAGS) $(3) $(EQ_RENAME) $$(DEPFLAGS) -c -o $$@ $$<
$(EQB)/$(1)/impl_ref.o: cli/impl.c ref/names.h
	@mkdir -p $$(@D)
	$(2) $(CPPFLAGS) -include ref/names.h -DIMPL=impl_ref -DIMPL_NAME='"ref"' $(EQ_CFLAGS) $(3) \
	  $$(DEPFLAGS) -c -o $$@ $$<
$(EQB)/$(1)/impl_opt.o: cli/impl.c
	@mkdir -p $$(@D)
	$(2) $(CPPFLAGS) -DIMPL=impl_opt -DIMPL_NAME='"opt"' $(EQ_CFLAGS) $(3) \
	  $$(DEPFLAGS) -c -o $$@ $$<
$(EQB)/$(1)/%.o: $(EQ)/%.c
	@mkdir -p $$(@D)
	$(2) $(CPPFLAGS) $(EQ_CFLAGS) $(3) $$(DEPFLAGS) -c -o $$@ $$<
# both implementations without a PRG; with the real one; with the test PRG; and the sequences
EQ_$(1)_KEYS := $(EQ_REF:%=$(EQB)/$(1)/ref/%.o) $(EQ_OPT:%=$(EQB)/$(1)/opt/%.o) \
  $(EQB)/$(1)/opt/strerror.o $(EQB)/$(1)/impl_ref.o $(EQB)/$(1)/impl_opt.o
EQ_$(1)_SHA3 := $$(EQ_$(1)_KEYS) $(EQB)/$(1)/prg.o
EQ_$(1)_TOY := $$(EQ_$(1)_KEYS) $(EQB)/$(1)/test_prg.o $(EQB)/$(1)/sha3.o
EQ_$(1)_OPS := $$(EQ_$(1)_TOY) $(EQB)/$(1)/ops.o $(EQB)/$(1)/model.o
endef
EQ_SANITIZE_CLANG := $(SANITIZE) -fno-optimize-sibling-calls
$(eval $(call EQ_VARIANT,plain,$(CC),-O2 -fstack-protector-strong -fvisibility=hidden))
$(eval $(call EQ_VARIANT,asan,$(CLANG),-O1 $(EQ_SANITIZE_CLANG)))
$(eval $(call EQ_VARIANT,fuzz,$(CLANG),-O1 $(EQ_SANITIZE_CLANG) -fsanitize=fuzzer-no-link))
$(eval $(call EQ_VARIANT,tsan,$(CLANG),-O1 -fsanitize=thread))

# ---- the tests

EQ_TAP := vectors random
TAP_TESTS += $(EQ_TAP:%=$(EQB)/%) $(EQB)/vectors-regenerated

# the vectors: from an independent implementation
$(EQB)/vectors-regenerated: $(EQ)/gen_vectors.py
	@mkdir -p $(@D)
	printf '#!/bin/sh\nexec $(PYTHON) $(EQ)/gen_vectors.py --check\n' > $@
	chmod +x $@
.PHONY: vectors
vectors: ## write the known-answer vectors anew
	$(PYTHON) $(EQ)/gen_vectors.py
$(EQB)/vectors: $(EQ_plain_SHA3) $(EQB)/plain/vectors.o
	$(CC) -o $@ $^ -ljansson $(LDLIBS)

$(EQB)/random $(EQB)/replay: $(EQB)/%: $(EQB)/plain/%.o $(EQ_plain_OPS)
	$(CC) -o $@ $^ $(LDLIBS)
