# SPDX-License-Identifier: Apache-2.0
# cli/: the program pprf, its manual pages and its tests.
#
# impls/: both implementations as values (impl.h), for programs that run them side by side, and the
# paper's store as a third (list.h).  ref/names.h renames the functions of ref.
IMPL_OBJ := $(B)/cli/impls/impl_ref.o $(B)/cli/impls/impl_opt.o
# libraries for a program that runs both, with the PRG that ships
IMPL_ARCHIVES := $(B)/opt/libpprf_opt.a $(B)/ref/libpprf_ref_ns.a $(B)/prg/libprg_keccak.a

$(B)/cli/impls/%.o: cli/impls/%.c $(B)/flags
	$(call COMPILE)
$(B)/cli/impls/impl_opt.o: cli/impls/impl.c $(B)/flags
	$(call COMPILE,-DIMPL=impl_opt -DIMPL_NAME='"opt"')
$(B)/cli/impls/impl_ref.o: cli/impls/impl.c ref/names.h $(B)/flags
	$(call COMPILE,-include ref/names.h -DIMPL=impl_ref -DIMPL_NAME='"ref"')

CLI_CPPFLAGS := -Icli -D_FILE_OFFSET_BITS=64
CLI_OBJ := $(CLI_SRC:cli/%.c=$(B)/cli/%.o)
CLI_MAN := $(wildcard cli/man/*.1)
# where bash, zsh and fish look when PREFIX=/usr/local
CLI_SHARE = $(PREFIX)/share
CLI_COMPLETIONS = $(CLI_SHARE)/zsh/site-functions/_pprf $(CLI_SHARE)/fish/vendor_completions.d/pprf.fish \
  $(CLI_SHARE)/bash-completion/completions/pprf.bash

PROGRAMS += $(B)/pprf
TAP_TESTS += cli/test_cli.py cli/test_file_systems.py

$(B)/pprf: $(CLI_OBJ) $(IMPL_OBJ) $(B)/cli/impls/list.o $(IMPL_ARCHIVES)
	$(call LINKED,-ljansson -lm)

$(CLI_OBJ): $(B)/cli/%.o: cli/%.c $(B)/flags
	$(call COMPILE,$(CLI_CPPFLAGS))

.PHONY: install-cli uninstall-cli
install: install-cli
uninstall: uninstall-cli
install-cli: $(B)/pprf
	install -d "$(DESTDIR)$(BINDIR)" "$(DESTDIR)$(MANDIR)/man1"
	install -m 755 $(B)/pprf "$(DESTDIR)$(BINDIR)/"
	install -m 644 $(CLI_MAN) "$(DESTDIR)$(MANDIR)/man1/"
	$(foreach f,$(CLI_COMPLETIONS),install -D -m 644 cli/completions/$(notdir $(f)) "$(DESTDIR)$(f)";)
uninstall-cli:
	rm -f "$(DESTDIR)$(BINDIR)/pprf" $(foreach f,$(CLI_COMPLETIONS),"$(DESTDIR)$(f)") $(CLI_MAN:cli/man/%="$(DESTDIR)$(MANDIR)/man1/"%)
