# SPDX-License-Identifier: Apache-2.0
# cli/: the program pprf, its manual pages and its tests.
#   build/cli/impl_{ref,opt}.o are the implementations as values (cli/impl.h), build/bench/list.o the
#   list of bench/; other programs link them too, with $(CLI_ARCHIVES).
CLI_SRC := cli/main.c cli/command.c cli/options.c cli/cli.c cli/setup.c cli/key.c cli/keyfile.c \
  cli/replace.c cli/simulate.c
CLI_CPPFLAGS := -Icli -Ibench -D_FILE_OFFSET_BITS=64
CLI_OBJ := $(CLI_SRC:cli/%.c=$(B)/cli/%.o)
CLI_IMPL_OBJ := $(B)/cli/impl_ref.o $(B)/cli/impl_opt.o
LIST_OBJ := $(B)/bench/list.o
CLI_ARCHIVES := $(B)/opt/libpprf_opt.a $(B)/ref/libpprf_ref_ns.a $(B)/opt/libpprf_prg.a
CLI_MAN := $(wildcard cli/*.1)

PROGRAMS += $(B)/pprf
TAP_TESTS += cli/test_cli.py

$(B)/pprf: $(CLI_OBJ) $(CLI_IMPL_OBJ) $(LIST_OBJ) $(CLI_ARCHIVES)
	$(LINK) -o $@ $^ -ljansson -lm $(ALL_LDLIBS)

$(CLI_OBJ): $(B)/cli/%.o: cli/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CPPFLAGS) $(CLI_CPPFLAGS) $(ALL_CFLAGS) $(DEPFLAGS) -c -o $@ $<

$(B)/cli/impl_opt.o: cli/impl.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CPPFLAGS) -DIMPL=impl_opt -DIMPL_NAME='"opt"' $(ALL_CFLAGS) $(DEPFLAGS) -c -o $@ $<

$(B)/cli/impl_ref.o: cli/impl.c ref/names.h
	@mkdir -p $(@D)
	$(CC) $(ALL_CPPFLAGS) -include ref/names.h -DIMPL=impl_ref -DIMPL_NAME='"ref"' $(ALL_CFLAGS) \
	  $(DEPFLAGS) -c -o $@ $<

$(LIST_OBJ): bench/list.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CPPFLAGS) -Icli -Ibench $(ALL_CFLAGS) $(DEPFLAGS) -c -o $@ $<

.PHONY: install-cli uninstall-cli
install: install-cli
uninstall: uninstall-cli
install-cli: $(B)/pprf
	install -d "$(DESTDIR)$(BINDIR)" "$(DESTDIR)$(MANDIR)/man1"
	install -m 755 $(B)/pprf "$(DESTDIR)$(BINDIR)/"
	install -m 644 $(CLI_MAN) "$(DESTDIR)$(MANDIR)/man1/"
uninstall-cli:
	rm -f "$(DESTDIR)$(BINDIR)/pprf" $(CLI_MAN:cli/%="$(DESTDIR)$(MANDIR)/man1/"%)
