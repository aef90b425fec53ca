# SPDX-License-Identifier: Apache-2.0
# cli/: the program pprf, its manual pages and its tests.
CLI_CPPFLAGS := -Icli -D_FILE_OFFSET_BITS=64
CLI_OBJ := $(CLI_SRC:cli/%.c=$(B)/cli/%.o)
CLI_MAN := $(wildcard cli/*.1)
# where bash, zsh and fish look, with PREFIX=/usr/local
CLI_SHARE = $(PREFIX)/share
CLI_COMPLETIONS = $(CLI_SHARE)/zsh/site-functions/_pprf $(CLI_SHARE)/fish/vendor_completions.d/pprf.fish \
  $(CLI_SHARE)/bash-completion/completions/pprf.bash

PROGRAMS += $(B)/pprf
TAP_TESTS += cli/test_cli.py

$(B)/pprf: $(CLI_OBJ) $(IMPL_OBJ) $(B)/common/list.o $(IMPL_ARCHIVES)
	$(call SAY,LINK,$@)$(LINK) -o $@ $^ -ljansson -lm $(ALL_LDLIBS)

$(CLI_OBJ): $(B)/cli/%.o: cli/%.c $(B)/flags
	@mkdir -p $(@D)
	$(call SAY,CC,$<)$(CC) $(ALL_CPPFLAGS) $(CLI_CPPFLAGS) $(ALL_CFLAGS) $(DEPFLAGS) -c -o $@ $<

.PHONY: install-cli uninstall-cli
install: install-cli
uninstall: uninstall-cli
install-cli: $(B)/pprf
	install -d "$(DESTDIR)$(BINDIR)" "$(DESTDIR)$(MANDIR)/man1"
	install -m 755 $(B)/pprf "$(DESTDIR)$(BINDIR)/"
	install -m 644 $(CLI_MAN) "$(DESTDIR)$(MANDIR)/man1/"
	$(foreach f,$(CLI_COMPLETIONS),install -D -m 644 cli/completions/$(notdir $(f)) "$(DESTDIR)$(f)";)
uninstall-cli:
	rm -f "$(DESTDIR)$(BINDIR)/pprf" $(foreach f,$(CLI_COMPLETIONS),"$(DESTDIR)$(f)") $(CLI_MAN:cli/%="$(DESTDIR)$(MANDIR)/man1/"%)
