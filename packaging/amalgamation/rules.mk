# SPDX-License-Identifier: Apache-2.0
# packaging/amalgamation/: the library as one file to embed, pprf.c, with pprf.h beside it.
AM := $(B)/amalgamation
AM_INCLUDE := include prg opt
AM_CORE := $(filter-out opt/shared.c,$(OPT_ALL)) prg/wipe.c # without pprf_shared.h

.PHONY: amalgamation
amalgamation: $(AM)/pprf.c ## write the library as one file to embed: build/amalgamation/pprf.c, pprf.h
$(AM)/pprf.c: packaging/amalgamation/amalgamate.py $(shell find packaging/amalgamation $(AM_INCLUDE) -name '*.[ch]')
	@mkdir -p $(@D)
	$(PYTHON) $< $(@D) --version $(VERSION) --include $(AM_INCLUDE) \
	  --core $(filter-out prg/lanes.c,$(AM_CORE)) --own-prg prg/lanes.c \
	  --prg prg/keccak.c prg/aes.c prg/aes_instructions.c prg/sha256.c prg/sha256_instructions.c prg/choice.c --openssl prg/libcrypto.c --builtin packaging/amalgamation/builtin.c

TAP_TESTS += $(AM)/test
AM_CELLS := $(foreach c,gcc clang,$(addprefix $(c),-O0 -O1 -O2 -O3 -Os -O3-march=native -O2-flto -O3-flto))
AM_OBJ = $(foreach o,vectors/vectors secrets/residue differential/random cli/impls/impl_ref cli/impls/impl_opt,$(EQB)/plain/$(o).o) \
  $(B)/ref/libpprf_ref_ns.a $(B)/prg/libprg_libcrypto.a
AM_TOY = $(EQB)/plain/differential/random.o $(filter-out $(EQ_plain_OPT) $(EQB)/plain/prg/wipe.o,$(EQ_plain_OPS))
.SECONDEXPANSION:
$(AM)/test: packaging/amalgamation/test.sh packaging/amalgamation/example.c $(AM)/pprf.c $$(AM_OBJ) $$(AM_TOY)
	@{ printf '#!/bin/sh\nexport B="%s" CPPFLAGS="%s" LDLIBS="%s"\n' '$(B)' '$(ALL_CPPFLAGS)' \
	  '$(filter-out -flto%,$(ALL_LDFLAGS)) $(ALL_LDLIBS)'; \
	  printf 'export EQ_OBJ="%s" REF_LIBS="%s"\n' '$(EQB)/plain/cli/impls/impl_ref.o $(EQB)/plain/cli/impls/impl_opt.o' \
	  '$(B)/ref/libpprf_ref_ns.a $(B)/prg/libprg_libcrypto.a'; \
	  printf 'export TOY_OBJ="%s"\n' '$(AM_TOY)'; \
	  echo 'exec packaging/amalgamation/test.sh "$$@"'; } > $@
	@chmod +x $@
.PHONY: residue-amalgamation
residue-amalgamation: $(AM)/test ## search for residues of pprf.c under 16 compilers and flags (7 minutes)
	@$(AM)/test --residue $(AM_CELLS)
test-full: residue-amalgamation
