# SPDX-License-Identifier: Apache-2.0
# proofs/: the Coq development (spec/ and proofs/, built in build/coq), its gate, the oracle; and
# the proofs of the C code, whose contracts stand in ref/ and opt/.
COQ := $(B)/coq
COQ_V := $(shell sed -n '/\.v$$/p' _CoqProject)
COQ_MODULES := $(subst /,.,$(COQ_V:%.v=Pprf.%))
# coqchk recomputes examples without Coq's virtual machine, which takes minutes, and no theorem
# depends on them. make test-full checks all modules.
COQCHK_MODULES := $(filter-out %Examples,$(COQ_MODULES))
GATE := $(PYTHON) proofs/tools/gate.py

.PHONY: prove-coq prove-coq-gate prove-coqchk coq-sources coq-build test-prove-gate test-prove-tools
.PHONY: update-expected-theorems theorems
prove-coq: ## check the Coq proofs and compare the theorems with the expected list
	@$(SOURCE) $(B)/prove/coq.json
	@$(PYTHON) proofs/wp/same_text.py --translated
	@$(MAKE) --no-print-directory prove-coq-gate
	@$(MAKE) --no-print-directory prove-coqchk
	@$(GATE) summary . $(B)/prove/coq.json

prove-coq-gate:
	@$(GATE) scan .
	@$(MAKE) --no-print-directory coq-build
	@$(GATE) theorems . $(COQ)

$(COQ)/%.v: %.v
	@mkdir -p $(@D)
	@cp -p $< $@

# The ACSL of ref/ in Coq: translated from the headers on every run, written only if it changes.
.PHONY: acsl-always
acsl-always:
$(COQ)/spec/c/AcslRef.v: acsl-always
	@$(PYTHON) proofs/tools/acsl.py . $@
# From opt: facts about its layout, and the Keccak functions.
$(COQ)/spec/c/AcslOpt.v: acsl-always
	@$(PYTHON) proofs/tools/acsl.py opt . $@
# From opt: the contracts of its API.
$(COQ)/spec/c/AcslApi.v: acsl-always
	@$(PYTHON) proofs/tools/acsl_api.py . $@
# From opt: what they say of a packed store.
$(COQ)/spec/c/AcslPacked.v: acsl-always
	@$(PYTHON) proofs/tools/acsl_api.py packed . $@
$(COQ)/spec/keccak/KeccakCode.v: acsl-always
	@$(PYTHON) proofs/tools/keccak.py . $@
$(COQ)/spec/aes/AesCode.v: acsl-always
	@$(PYTHON) proofs/tools/aes.py . $@
$(COQ)/spec/sha/ShaCode.v: acsl-always
	@$(PYTHON) proofs/tools/sha.py . $@
$(COQ)/spec/aes/AesVectorCode.v: acsl-always
	@$(PYTHON) proofs/tools/vectors.py aes . $@
$(COQ)/spec/keccak/KeccakVectorCode.v: acsl-always
	@$(PYTHON) proofs/tools/vectors.py keccak . $@

$(COQ)/Makefile.coq: _CoqProject
	@mkdir -p $(@D)
	@cp -p $< $(@D)/
	@cd $(@D) && coq_makefile -f _CoqProject -o Makefile.coq

# remove files left from moved or removed sources, which Coq would find by name
coq-sources: $(COQ_V:%=$(COQ)/%) $(COQ)/Makefile.coq
	@cd $(COQ) && find spec proofs -name '*.v' | { grep -vxFf _CoqProject || true; } \
	  | while read -r f; do rm -f "$${f%.v}".*; done

# on all processors, unless make was given -j; one gigabyte each
COQ_JOBS = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(CORES))
coq-build: coq-sources
	@$(MAKE) --no-print-directory $(COQ_JOBS) -C $(COQ) -f Makefile.coq > $(COQ)/build.log 2>&1 \
	  || { cat $(COQ)/build.log; exit 1; }
	@grep -E '^COQC ' $(COQ)/build.log | sed 's/^COQC /coq: compiled /' || true

# coqchk also rechecks mathcomp, so its log stays valid until a compiled file changes
prove-coqchk: coq-build
	@$(MAKE) --no-print-directory $(COQ)/coqchk.log
	@$(GATE) coqchk . $(COQ)/coqchk.log $(COQCHK_WHICH)

$(COQ)/coqchk.log: $(COQ_V:%.v=$(COQ)/%.vo) proofs/rules.mk
	@coqchk -o -Q $(COQ)/spec Pprf.spec -Q $(COQ)/proofs Pprf.proofs $(COQCHK_MODULES) 2>&1 \
	  | grep -v '^  checking ' > $@.tmp || { tail -100 $@.tmp; exit 1; }
	@mv $@.tmp $@

.PHONY: prove-coqchk-all
prove-coqchk-all: coq-build # including the examples
	@rm -f $(COQ)/coqchk.log
	@$(MAKE) --no-print-directory prove-coqchk COQCHK_MODULES="$(COQ_MODULES)" COQCHK_WHICH=all
test-full: prove-coqchk-all prove-wp

update-expected-theorems: coq-build
	@$(GATE) update . $(COQ)
theorems: coq-build ## print the headline theorems and all definitions that they mention; NAMES="eval cover": these
	@$(GATE) print . $(COQ) $(NAMES)

# Most of these need Frama-C or the provers: they run in the C proofs' Debian 12 if this system has
# none.
PROVE_WP_TESTS := $(B)/prove/acsl-test $(B)/prove/test_assumptions $(B)/prove/test_part \
  $(B)/prove/test_same_text $(B)/prove/test_context $(B)/prove/planted
$(B)/prove/acsl-test: SCRIPT = ../tools/acsl-test.py
$(B)/prove/test_assumptions: SCRIPT = test_assumptions.py
$(B)/prove/test_part: SCRIPT = test_part.py
$(B)/prove/test_same_text: SCRIPT = test_same_text.py
$(B)/prove/test_context: SCRIPT = test_context.py
$(B)/prove/planted: SCRIPT = planted.py --sample 1/4
$(PROVE_WP_TESTS): proofs/rules.mk
	@mkdir -p $(@D)
	@printf '#!/bin/sh\nexec proofs/wp/run.sh $(SCRIPT)\n' > $@
	@chmod +x $@
PROVE_TOOL_TESTS := proofs/tools/gate-test.py proofs/tools/closure-test.py $(PROVE_WP_TESTS) proofs/tools/keccak-test.py \
  proofs/tools/aes-test.py proofs/tools/vectors-test.py proofs/tools/sha-test.py proofs/tools/readers-test.py
test-prove-tools test-prove-gate: deps-prove-wp
test-prove-tools: coq-build $(PROVE_WP_TESTS) ## test the translators and the checks for assumptions: planted weakenings must fail
	@$(TAP) $(PROVE_TOOL_TESTS)
test-prove-gate: coq-build $(PROVE_WP_TESTS) ## test-prove-tools, and plant each weakening of Coq, ACSL, Keccak, AES and SHA-256 (15 minutes)
	@$(TAP) $(PROVE_TOOL_TESTS) proofs/tools/planted.py

# ---- the C code: Frama-C/WP ----
# here, or in a Debian 12 under build/ if the tools here have other versions
WP := proofs/wp/run.sh
.PHONY: prove-wp prove-wp-minutes prove-wp-part prove-wp-smoke planted-prove
# the proofs and translations read the same text as the compiler
SAME_TEXT := proofs/wp/same_text.py
.PHONY: prove-same-text
prove-same-text: deps-prove-wp $(B)/amalgamation/pprf.c ## check that Frama-C reads what the compiler is given (seconds)
	@$(WP) same_text.py --read $(B)/prove/read.json
	@$(PYTHON) $(SAME_TEXT) --compare $(B)/prove/read.json
prove-wp prove-wp-minutes prove-wp-part: prove-same-text
prove-wp: deps-prove-wp ## check the Frama-C/WP proofs of the C code against the expected goals
	@$(SOURCE) $(B)/prove/wp.json
	@$(WP) prove.py --json $(B)/prove/wp.json
MINUTES ?= 30
prove-wp-minutes: deps-prove-wp ## prove-wp for ref, the functions of pprf.h, and random others begun within MINUTES=30
	@$(SOURCE) $(B)/prove/wp.json
	@$(WP) prove.py --minutes $(MINUTES) --json $(B)/prove/wp.json $(if $(SEED),--seed $(SEED))
prove-wp-part: deps-prove-wp ## prove-wp for the files changed since they were last proven, and a random twentieth of the rest
	@$(SOURCE) $(B)/prove/wp-part.json
	@$(WP) prove.py --part --json $(B)/prove/wp-part.json $(if $(SEED),--seed $(SEED))
prove-wp-smoke: deps-prove-wp ## show that no proven contract is vacuous
	@$(SOURCE) $(B)/prove/wp-smoke.json
	@$(WP) prove.py --smoke --json $(B)/prove/wp-smoke.json
planted-prove: deps-prove-wp ## plant bugs in the proven code; the proofs must fail
	@mkdir -p $(B)/wp
	@$(SOURCE) $(B)/prove/wp-planted.json
	@$(WP) planted_code.py --json $(B)/prove/wp-planted.json

# ---- the oracle: the model extracted to OCaml ----
ORACLE := $(B)/proofs/oracle
.PHONY: oracle test-oracle
oracle: $(B)/oracle ## build the executable Coq model (build/oracle)

$(ORACLE)/model.ml: proofs/oracle/Extract.v spec/model/Ggm.v proofs/model/Executable.v _CoqProject
	@$(MAKE) --no-print-directory coq-sources
	@$(MAKE) --no-print-directory -C $(COQ) -f Makefile.coq proofs/model/Executable.vo
	@mkdir -p $(@D)
	@cp -p $< $(@D)/
	@cd $(@D) && coqc -q -w none -Q "$(CURDIR)/$(COQ)/spec" Pprf.spec \
	  -Q "$(CURDIR)/$(COQ)/proofs" Pprf.proofs Extract.v
	@if grep -n 'Obj\.' $@; then echo "oracle: the extracted code uses Obj" >&2; exit 1; fi

$(B)/oracle: $(ORACLE)/model.ml proofs/oracle/keccak.ml proofs/oracle/aes.ml proofs/oracle/sha256.ml \
    proofs/oracle/main.ml
	@cp -p $(filter-out %/model.ml,$^) $(ORACLE)/
	cd $(ORACLE) && ocamlfind ocamlopt -O3 -unsafe -inline 200 -w +a-4-9-32..70 \
	  model.mli model.ml keccak.ml aes.ml sha256.ml main.ml -o "$(CURDIR)/$@"

test-oracle: $(B)/oracle ## compare the oracle with a model in Python
	@$(TAP) proofs/oracle/test_oracle.py

# the system in which the C proofs run
TAP_TESTS += proofs/wp/root-test.sh
