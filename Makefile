# SPDX-License-Identifier: Apache-2.0
# Each folder has its own rules in rules.mk; this file holds shared definitions and the targets that
# people use. `make help` lists those.

VERSION := $(shell sed -n 's/^\#define PPRF_VERSION "\(.*\)"/\1/p' include/pprf.h)
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules
.DEFAULT_GOAL := all

# the CC of the environment or the command line, if set
ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin CXX),default)
CXX := g++
endif
AR ?= ar
OBJCOPY ?= objcopy
NM ?= nm
CLANG ?= clang
PYTHON ?= python3
PKG_CONFIG ?= pkg-config
# TAP harness: prints totals, times and the names of failed tests. One job more than there are
# cores, since many tests wait for servers.
CORES := $(shell nproc)
TAP := prove --jobs $(shell expr $(CORES) + 1) --timer --failures --comments

# Empty: build libpprf without OpenSSL, on packaging/amalgamation/builtin.c, as `make lib` does.
LIBCRYPTO := yes

# CPPFLAGS, CFLAGS, CXXFLAGS, LDFLAGS and LDLIBS belong to the user (environment or command line)
# and come after ours: rules use ALL_*, and LINK or LINK_CXX to link.
WARN := -Wall -Wextra -pedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes $(WERROR)
CXX_WARN := -Wall -Wextra -pedantic -Wshadow $(WERROR)
OUR_CPPFLAGS := -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Iinclude -Iprg $(if $(LIBCRYPTO),,-DPPRF_NO_OPENSSL)
# build outputs do not depend on the directory
OUR_CFLAGS := -std=c11 -O2 -g $(WARN) -fvisibility=hidden -fstack-protector-strong \
  "-ffile-prefix-map=$(CURDIR)=."
OUR_CXXFLAGS := -std=c++17 -O2 -g $(CXX_WARN)
OUR_LDFLAGS := -Wl,-z,relro,-z,now,--as-needed
OUR_LDLIBS := $(if $(LIBCRYPTO),-lcrypto) -pthread
ALL_CPPFLAGS := $(OUR_CPPFLAGS) $(CPPFLAGS)
ALL_CFLAGS := $(OUR_CFLAGS) $(CFLAGS)
ALL_CXXFLAGS := $(OUR_CXXFLAGS) $(CXXFLAGS)
ALL_LDFLAGS := $(OUR_LDFLAGS) $(LDFLAGS)
ALL_LDLIBS := $(OUR_LDLIBS) $(LDLIBS)
LINK := $(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS)
# Prefix for a command: prints what is being made instead of the command. V=1 shows the command.
SAY = $(if $(filter 1,$(V)),,@echo '  $(1) $(2)'; )
QUIET = $(if $(filter 1,$(V)),,@)
# Compile the first prerequisite, a C file, to the object $@; $(1): preprocessor flags, $(2):
# compiler flags.
define COMPILE
@mkdir -p $(@D)
$(call SAY,CC,$<)$(CC) $(ALL_CPPFLAGS) $(1) $(ALL_CFLAGS) $(2) $(DEPFLAGS) -c -o $@ $<
endef
# Link all prerequisites to the program $@; $(1): more libraries, $(2): more flags, $(3): linker, if
# not $(LINK).
LINKED = $(call SAY,LINK,$@)$(or $(3),$(LINK)) $(2) -o $@ $^ $(1) $(ALL_LDLIBS)
# Link the prerequisites, objects and libraries, to the shared library $@; $(1): more libraries. It calls its own
# functions, whatever others of their names the program has, and stays loaded: libcrypto calls it at its end.
define SHARED
$(call SAY,LINK,$@)$(LINK) -shared -Wl,-soname,$(@F),-Bsymbolic,-z,nodelete,-z,defs \
  -Wl,--version-script=$(filter %.map,$^) -o $@ $(filter %.o %.so,$^) $(1) $(ALL_LDLIBS)
endef
# Prepare an archive for users: all objects are linked into one, in which names that are not
# exported are local, so that a program may define the same names. With -flto the result is already
# machine code. COMDAT sections (i386 has them) are kept, since their names become local.
NOT_LTO := $(if $(filter -flto%,$(ALL_CFLAGS)),$(if $(findstring clang,$(CC)),,-flinker-output=nolto-rel))

define MAKE_ARCHIVE
@rm -f $@ $(@:.a=.whole.o)
$(call SAY,AR,$@)$(CC) $(ALL_CFLAGS) $(NOT_LTO) -nostdlib -r -Wl,--force-group-allocation -o $(@:.a=.whole.o) $(filter %.o,$^)
$(QUIET)$(OBJCOPY) --localize-hidden $(KEEP) $(@:.a=.whole.o)
$(QUIET)$(AR) rcsD $@ $(@:.a=.whole.o)
@rm -f $(@:.a=.whole.o)
endef
LINK_CXX := $(CXX) $(ALL_CXXFLAGS) $(ALL_LDFLAGS)
# Warnings are errors in our own runs, but not for users, whose compiler may have new ones.
STRICT := $(if $(filter undefined,$(origin WERROR)),WERROR=-Werror)
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
ENGINE := -fsanitize=fuzzer # the fuzzing engine
# before a run: remove the old result, record which sources the new one is for
SOURCE := $(PYTHON) bench/report/source.py
# writes a TAP test that plants bugs: $(1) is its command, which accepts further options
PLANTING := tools/planting.py
PLANTED = @printf '\#!/bin/sh\nexec %s "$$@"\n' '$(1)' > $@ && chmod +x $@
DEPFLAGS = -MMD -MP -MF $@.d

# Compiler commands and lists of sources: when they change, everything made from them is rebuilt.
# Warnings and the folder's name are left out, since they do not affect the code.
B := build
$(B)/flags: export FLAGS_NOW = $(subst "-ffile-prefix-map=$(CURDIR)=.",,$(filter-out $(WARN) $(CXX_WARN), \
  $(CC) $(CXX) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(ALL_CXXFLAGS) $(ALL_LDFLAGS) $(ALL_LDLIBS) \
  $(PRG_LIBCRYPTO_SRC) $(PRG_KECCAK_SRC) $(COMMON_SRC) $(REF_SRC) $(OPT_SRC) $(TLS_SRC) $(FLEET_SRC)))
.PHONY: flags-always
flags-always:
$(B)/flags: flags-always
	@mkdir -p $(@D)
	@printf '%s\n' "$$FLAGS_NOW" | cmp -s - $@ || printf '%s\n' "$$FLAGS_NOW" > $@

FUZZ_SECONDS ?= 60
SEED ?=
export SEED

PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
BINDIR ?= $(PREFIX)/bin
MANDIR ?= $(PREFIX)/share/man

LIBS :=      # built by `make all`; each folder appends to it
PROGRAMS :=
TAP_TESTS := # executables that emit TAP, all run by `make test`

# `make deps-<group>` installs what a group of targets needs; DEPS=skip disables it.
DEPS ?= install
.PHONY: deps-%
deps-%:
	@DEPS=$(DEPS) tools/deps.sh $*

# ---- source lists, defined only here: the rules and scripts of all folders use them
PRG_LIBCRYPTO_SRC := prg/libcrypto.c prg/wipe.c
PRG_BUILTIN_SRC := packaging/amalgamation/builtin.c
PRG_KECCAK_SRC := prg/keccak.c prg/aes.c prg/aes_instructions.c prg/sha256.c prg/sha256_instructions.c prg/choice.c prg/wipe.c # plus libcrypto.c under other names
COMMON_SRC := prg/common/fork.c prg/common/prepare.c prg/common/strerror.c # in both libraries
REF_SRC := ref/node.c ref/core.c ref/codec.c ref/version2.c ref/pprf.c ref/batch.c ref/wide.c
OPT_SRC := opt/slots/bitmap.c opt/slots/pages.c opt/slots/levels.c opt/packed/arena.c opt/packed/tiles.c opt/packed/index.c opt/packed/draft/draft.c opt/packed/fit.c opt/packed/draft/rewrite.c opt/packed/draft/rewrite_set.c opt/packed/draft/splice.c opt/packed/sets/rewrite.c opt/packed/sets/range.c opt/packed/sets/set.c opt/packed/sets/runs.c opt/packed/sets/splice_runs.c opt/packed/sets/batch.c opt/packed/load.c opt/packed/read.c opt/packed/packed.c opt/slots/store.c opt/slots/read.c opt/store.c opt/walk.c opt/packed/core.c opt/packed/core_range.c opt/core.c opt/pprf.c opt/batch.c opt/wide.c prg/lanes.c opt/shared.c
# each implementation without its PRG
REF_ALL := $(REF_SRC) $(COMMON_SRC)
OPT_ALL := $(OPT_SRC) $(COMMON_SRC)
CLI_SRC := cli/main.c cli/command.c cli/options.c cli/message.c cli/cli.c cli/setup.c cli/key.c cli/filesystem.c cli/leftovers.c \
  cli/keyfile.c cli/replace.c cli/simulate.c
TLS_SRC := tls/tickets/pool.c tls/tickets/backend.c tls/tickets/tickets.c tls/tickets/locked.c tls/openssl/clients.c tls/openssl/attach.c
FLEET_SRC := tls/fleet/cause.c tls/fleet/target.c tls/fleet/wire.c tls/fleet/fleet.c valkey/chain.c # also part of libpprf_tls

# in the order of the lists above, then the folders that have no part in them
ROOMS := prg ref opt tls cli equivalence-tests bench
include $(ROOMS:%=%/rules.mk) \
  $(filter-out $(ROOMS:%=%/rules.mk),$(wildcard */rules.mk packaging/*/rules.mk bindings/*/rules.mk))
# A source that was moved away does not break an older build: its objects are rebuilt.
%.c: ;
# (build/debian12 and build/root are whole systems)
-include $(shell find $(B) \( -path $(B)/debian12 -o -path $(B)/root \) -prune -o -name '*.d' -print 2>/dev/null)

.PHONY: all lib products test verify prove tap clean help
# see opt/rules.mk; a separate build folder, so that a later `make` does not recompile it
LIB := $(MAKE) --no-print-directory B=$(B)/lib LIBCRYPTO=
lib: ## build only the C library, without OpenSSL: needs a compiler and make
	@$(LIB) -s -j$(CORES) library
	@echo "built $(B)/lib/opt/libpprf.so and libpprf.a; make install-lib PREFIX=... installs them"
all: deps-build ## build the libraries and programs
	@$(MAKE) --no-print-directory products
products: $(LIBS) $(PROGRAMS)

# run a part of a long run and print its time
PART = +@SECONDS=0; $(MAKE) --no-print-directory $(1) && echo "make $(1): $$SECONDS s"

test: deps-build deps-prove deps-prove-wp deps-test deps-fuzz deps-bench deps-style ## check the Coq proofs and a part of the C proofs, run every test
	$(call PART,-j$(CORES) $(STRICT) products test-programs)
	$(call PART,prove-coq)
	$(call PART,prove-wp-part)
	$(call PART,test-prove-tools test-oracle)
	$(call PART,$(STRICT) tap)
	$(call PART,sample)

# These take minutes and start first, so that no slow test runs alone at the end.
SLOW_TESTS := $(addprefix $(B)/,equivalence-tests/faults-asan amalgamation/test equivalence-tests/shipped-prg \
  equivalence-tests/planted bindings/planted valkey/planted vault/planted tls/planted opt/planted equivalence-tests/faults) \
  opt/tests/build_test.sh tls/nginx/test_nginx.py
.PHONY: test-programs
test-programs: $(TAP_TESTS)
tap: $(LIBS) $(PROGRAMS) $(TAP_TESTS) ## run the tests without the proofs
	@$(SOURCE) $(B)/test/summary.txt
	@$(TAP) $(filter $(SLOW_TESTS),$(TAP_TESTS)) $(filter-out $(SLOW_TESTS),$(TAP_TESTS)) | tee $(B)/test/summary.txt

# A five-minute sample of what would take hours in full (test-prove-gate, planted, planted-prove,
# prove-wp-smoke); SEED=... repeats it.
SAMPLE_SEED := $(or $(SEED),$(shell echo $$RANDOM$$RANDOM))
.PHONY: sample
sample: $(LIBS) $(PROGRAMS) ## try a random sample (up to a tenth) of planted bugs, weakenings and smoke tests (5 minutes)
	@echo "sample: SEED=$(SAMPLE_SEED)"
	@$(MAKE) --no-print-directory coq-build
	@SEED=$(SAMPLE_SEED) $(TAP) proofs/tools/planted.py :: --sample 1/10 --clock 100
	@$(MAKE) --no-print-directory planted-sample SEED=$(SAMPLE_SEED)
	@mkdir -p $(B)/wp
	@$(WP) planted_code.py --sample 20 --clock 50 --seed $(SAMPLE_SEED)
	@$(WP) prove.py --smoke --tenth --seed $(SAMPLE_SEED)

# for development: run the tests that concern a file, or the files that git lists as changed
.PHONY: check
check: deps-test ## run the tests that changed files concern: CHANGED="opt/core.c"; default: those that git lists
	@$(PYTHON) equivalence-tests/gates/check.py "$(TAP_TESTS)" $(CHANGED)

prove: deps-prove deps-prove-wp ## check all Coq and Frama-C proofs (hours); FUNCTION=name: only that C function
ifdef FUNCTION
	@proofs/wp/run.sh one.py $(FUNCTION)
else
	@$(MAKE) --no-print-directory prove-coq
	@$(MAKE) --no-print-directory prove-wp
endif

verify: deps-build deps-prove deps-prove-wp deps-test deps-fuzz deps-bench ## the main job: prove for half an hour, fuzz, benchmark, report
	@$(MAKE) --no-print-directory $(STRICT) products
	@$(MAKE) --no-print-directory prove-coq
	@$(MAKE) --no-print-directory prove-wp-minutes
	@$(MAKE) --no-print-directory $(STRICT) fuzz
	@$(MAKE) --no-print-directory $(STRICT) bench-quick

# Build and test in a clean Debian root, as a newcomer does: the README's two commands, or the
# targets in PARTS.
TEST_ROOT_SUITES := bookworm trixie
# everything except the C proofs
TEST_ROOT_SHORT := deps-build deps-prove deps-test deps-fuzz deps-bench deps-style all install demo prove-coq \
  test-prove-gate test-oracle tap fuzz bench-quick
SUITE ?= trixie
PARTS ?= verify test
.PHONY: test-root test-roots
test-root: deps-root ## build and test the last commit in a clean Debian: SUITE=bookworm or trixie, PARTS="verify test"
	@tools/test-root.sh $(SUITE) $(PARTS)
test-roots: deps-root ## test-root for each supported system, without the C proofs
	@status=0; for suite in $(TEST_ROOT_SUITES); do \
	  tools/test-root.sh $$suite $(TEST_ROOT_SHORT) || status=1; done; exit $$status

help: ## list the targets
	@awk -F ':.*## ' '/^[a-zA-Z_-]+::?.*## / {sub(/:$$/, "", $$1); printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

clean: ## remove build/
	@for root in $(wildcard $(B)/debian12/ $(B)/root/*/); do tools/root.sh remove $$root; done
	rm -rf $(B)
