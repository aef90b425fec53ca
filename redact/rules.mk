# SPDX-License-Identifier: Apache-2.0
# redact/: redactable documents, above pprf.h: libpprf_redact and the program pprf-redact.
REDACT_SRC := redact/format.c redact/redact.c redact/json.c
REDACT_OBJ := $(REDACT_SRC:%.c=$(B)/%.o)
REDACT_LDLIBS := -lcbor -ljansson -lm

LIBS += $(B)/redact/libpprf_redact.a $(B)/redact/libpprf_redact.so $(B)/redact/pprf_redact.pc
PROGRAMS += $(B)/pprf-redact

$(B)/redact/%.o: redact/%.c $(B)/flags
	$(call COMPILE,-Icli,-fPIC)
$(B)/redact/libpprf_redact.a: $(REDACT_OBJ) $(B)/flags
	$(MAKE_ARCHIVE)
$(B)/redact/libpprf_redact.so.0: $(REDACT_OBJ) $(B)/opt/libpprf.so redact/libpprf_redact.map
	$(call SAY,LINK,$@)$(LINK) -shared -Wl,-soname,libpprf_redact.so.0,-z,defs \
	  -Wl,--version-script=redact/libpprf_redact.map -o $@ $(REDACT_OBJ) $(B)/opt/libpprf.so $(REDACT_LDLIBS) $(ALL_LDLIBS)
$(B)/redact/libpprf_redact.so: $(B)/redact/libpprf_redact.so.0
	$(QUIET)ln -sf libpprf_redact.so.0 $@
$(B)/pprf-redact: $(B)/redact/program.o $(REDACT_OBJ) $(B)/cli/options.o $(B)/cli/message.o $(B)/opt/libpprf.a
	$(call LINKED,$(REDACT_LDLIBS))

# rebuilt every time: it contains the directories
.PHONY: redact-force
$(B)/redact/pprf_redact.pc: redact-force
	@mkdir -p $(@D)
	@$(PC) redact/pprf_redact.pc.in > $@

.PHONY: install-redact uninstall-redact
install: install-redact
uninstall: uninstall-redact
install-redact: $(B)/redact/libpprf_redact.a $(B)/redact/libpprf_redact.so $(B)/pprf-redact
	$(PLAIN_NAMES)
	install -d "$(DESTDIR)$(LIBDIR)/pkgconfig" "$(DESTDIR)$(INCLUDEDIR)" "$(DESTDIR)$(BINDIR)" "$(DESTDIR)$(MANDIR)/man1"
	install -m 644 redact/pprf_redact.h "$(DESTDIR)$(INCLUDEDIR)/"
	install -m 644 $(B)/redact/libpprf_redact.a "$(DESTDIR)$(LIBDIR)/"
	install -m 755 $(B)/redact/libpprf_redact.so.0 "$(DESTDIR)$(LIBDIR)/"
	ln -sf libpprf_redact.so.0 "$(DESTDIR)$(LIBDIR)/libpprf_redact.so"
	$(PC) redact/pprf_redact.pc.in > "$(DESTDIR)$(LIBDIR)/pkgconfig/pprf_redact.pc"
	chmod 644 "$(DESTDIR)$(LIBDIR)/pkgconfig/pprf_redact.pc"
	$(LDCONFIG_NOTE)
	install -m 755 $(B)/pprf-redact "$(DESTDIR)$(BINDIR)/"
	install -m 644 redact/pprf-redact.1 "$(DESTDIR)$(MANDIR)/man1/"
uninstall-redact:
	rm -f "$(DESTDIR)$(INCLUDEDIR)/pprf_redact.h" "$(DESTDIR)$(LIBDIR)/pkgconfig/pprf_redact.pc" \
	  $(foreach f,libpprf_redact.a libpprf_redact.so libpprf_redact.so.0,"$(DESTDIR)$(LIBDIR)/$(f)") \
	  "$(DESTDIR)$(BINDIR)/pprf-redact" "$(DESTDIR)$(MANDIR)/man1/pprf-redact.1"

# the library with its internal names visible, for tests
$(B)/redact/test.so: $(REDACT_SRC) $(wildcard redact/*.h) $(B)/opt/libpprf.a
	@mkdir -p $(@D)
	$(call SAY,LINK,$@)$(LINK) $(ALL_CPPFLAGS) -fvisibility=default -fPIC -shared -o $@ $(filter-out %.h,$^) $(REDACT_LDLIBS) $(ALL_LDLIBS)
TAP_TESTS += redact/test_redact.py $(B)/redact/planted $(B)/redact/fuzz
redact/test_redact.py: $(B)/redact/test.so $(B)/pprf-redact

$(B)/redact/planted: $(PLANTING) redact/planted.py redact/planted.txt $(B)/redact/test.so
	$(call PLANTED,redact/planted.py --quick --sample 3)

# hostile documents: seconds in TAP_TESTS, longer in test-full
$(B)/redact/fuzz_redact: redact/fuzz_redact.c $(REDACT_SRC) $(wildcard redact/*.h) $(OPT_OBJ)
	@mkdir -p $(@D)
	$(CLANG) $(ALL_CPPFLAGS) -O1 -g $(SANITIZE) $(ENGINE) $(ALL_LDFLAGS) $(filter-out %.h,$^) $(REDACT_LDLIBS) $(ALL_LDLIBS) -o $@
$(B)/redact/fuzz: $(B)/redact/fuzz_redact $(B)/redact/test.so
	@printf '#!/bin/sh\nexec /usr/bin/python3 redact/test_redact.py --fuzz %s "$$@"\n' $< > $@
	@chmod +x $@
.PHONY: test-redact-full
test-full: test-redact-full
test-redact-full: deps-build deps-test deps-fuzz ## fuzz redactable documents for FUZZ_SECONDS; sign, redact and verify 1 GB in 90 MB
	@$(MAKE) --no-print-directory $(B)/redact/fuzz $(B)/redact/test.so $(B)/pprf-redact
	@$(B)/redact/fuzz $(FUZZ_SECONDS)
	@BYTES=1000000000 redact/test_redact.py test_a_large_file_takes_little_memory
