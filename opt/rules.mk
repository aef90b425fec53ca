# SPDX-License-Identifier: Apache-2.0
# opt/: the implementation that ships.
#   libpprf.a, libpprf.so  the library; exports only the names in pprf.h and pprf_shared.h
# and, for programs of this project, with all names visible:
#   libpprf_opt.a          without the PRG: for programs that also link ref, or another PRG
OPT_CORE_OBJ := $(OPT_ALL:%.c=$(B)/%.o)
OPT_OBJ := $(OPT_CORE_OBJ) $(PRG_KECCAK_OBJ)
OPT_MAN := $(B)/opt/pprf.3 $(B)/opt/pprf_shared.3
OPT_LIBS := $(B)/opt/libpprf.a $(B)/opt/libpprf.so $(B)/opt/pprf.pc $(OPT_MAN)

LIBS += $(OPT_LIBS) $(B)/opt/libpprf_opt.a

$(B)/opt/%.o: opt/%.c $(B)/flags
	$(call COMPILE,,-fPIC)

$(B)/opt/libpprf.a: $(OPT_OBJ) $(B)/flags
	$(MAKE_ARCHIVE)
$(B)/opt/libpprf_opt.a: $(OPT_CORE_OBJ) $(B)/flags
	@rm -f $@
	$(call SAY,AR,$@)$(AR) rcsD $@ $(filter %.o,$^)

$(B)/opt/libpprf.so.0: $(OPT_OBJ) opt/install/libpprf.map
	$(SHARED)
# the libraries above this one, and what is the same for all: links, manual pages, pkg-config, installation
ABOVE := tls redact vault
$(B)/opt/libpprf.so.0 $(foreach l,$(ABOVE),$(B)/$(l)/libpprf_$(l).so.0): $(B)/flags Makefile
$(B)/opt/libpprf.so $(foreach l,$(ABOVE),$(B)/$(l)/libpprf_$(l).so): %.so: %.so.0
	$(QUIET)ln -sf $(<F) $@

$(OPT_MAN): $(B)/opt/%.3: include/%.h include/man.py include/pprf.h
	@mkdir -p $(@D)
	$(PYTHON) include/man.py $< > $@
$(B)/redact/pprf_redact.3 $(B)/vault/pprf_vault.3: $(B)/%.3: %.h include/man.py include/pprf.h
	@mkdir -p $(@D)
	$(PYTHON) include/man.py $< > $@

# The pkg-config and CMake files locate the library relative to themselves if LIBDIR and INCLUDEDIR are below
# PREFIX, so that the installation can be moved; other directories are absolute.
BELOW = $(patsubst $(PREFIX)/%,$${prefix}/%,$(1))
PLACED = sed -e "s|@UP@|$$(realpath -m --relative-to='$(LIBDIR)/$(1)' '$(PREFIX)')|" -e 's|@LIBDIR@|$(call BELOW,$(LIBDIR))|' \
  -e 's|@INCLUDEDIR@|$(call BELOW,$(INCLUDEDIR))|' -e 's|@VERSION@|$(VERSION)|' \
  $(if $(LIBCRYPTO),-e 's|@LIBCRYPTO@|crypto|',-e '/@LIBCRYPTO@/d')
PC = $(call PLACED,pkgconfig)
CMAKE = $(call PLACED,cmake/pprf)
# rebuilt every time: it contains the directories
.PHONY: opt-force
$(B)/opt/pprf.pc: opt-force
	@mkdir -p $(@D)
	@$(PC) opt/install/pprf.pc.in > $@
$(foreach l,$(ABOVE),$(B)/$(l)/pprf_$(l).pc): $(B)/%: opt-force
	@mkdir -p $(@D)
	@$(PC) $*.in > $@

.PHONY: install uninstall install-lib uninstall-lib library install-library install-page
install: install-library install-page ## install the libraries, the program and the manual pages (PREFIX, DESTDIR)
uninstall: uninstall-lib ## remove the files that install installed
library: $(B)/opt/libpprf.a $(B)/opt/libpprf.so
install-lib: ## install the results of make lib: library, header, .pc and CMake files (PREFIX, DESTDIR)
	@$(LIB) -s -j$(CORES) install-library
# how programs find the libraries; we never run ldconfig
LDCONFIG_NOTE = @echo "to let programs find the libraries: ldconfig (as root), if $(LIBDIR) is in" \
  "/etc/ld.so.conf; else LD_LIBRARY_PATH=$(LIBDIR)"
# pkg-config passes them to a shell
PLAIN_NAMES = @for d in "$(PREFIX)" "$(LIBDIR)" "$(INCLUDEDIR)"; do case $$d in *[!A-Za-z0-9/._+~=:@-]*) \
  echo "install: $$d: paths given to pkg-config may contain only letters, digits and /._+~=:@- (DESTDIR may contain others)" >&2; \
  exit 1;; esac; done
install-library: library
	$(PLAIN_NAMES)
	install -d "$(DESTDIR)$(LIBDIR)/pkgconfig" "$(DESTDIR)$(LIBDIR)/cmake/pprf" "$(DESTDIR)$(INCLUDEDIR)"
	install -m 644 include/pprf.h include/pprf_shared.h "$(DESTDIR)$(INCLUDEDIR)/"
	install -m 644 $(B)/opt/libpprf.a "$(DESTDIR)$(LIBDIR)/"
	install -m 755 $(B)/opt/libpprf.so.0 "$(DESTDIR)$(LIBDIR)/"
	ln -sf libpprf.so.0 "$(DESTDIR)$(LIBDIR)/libpprf.so"
	$(PC) opt/install/pprf.pc.in > "$(DESTDIR)$(LIBDIR)/pkgconfig/pprf.pc"
	for f in $(OPT_CMAKE); do $(CMAKE) opt/install/$$f.in > "$(DESTDIR)$(LIBDIR)/cmake/pprf/$$f"; done
	chmod 644 "$(DESTDIR)$(LIBDIR)/pkgconfig/pprf.pc" "$(DESTDIR)$(LIBDIR)"/cmake/pprf/*
	$(LDCONFIG_NOTE)
install-page: $(OPT_MAN)
	install -d "$(DESTDIR)$(MANDIR)/man3"
	install -m 644 $(OPT_MAN) "$(DESTDIR)$(MANDIR)/man3/"
	@for page in $(OPT_MAN); do for name in $$(sed -n 's/^\.SS \(pprf_[a-z0-9_]*\)$$/\1/p' $$page); do \
	  echo ".so man3/$${page##*/}" | install -m 644 /dev/stdin "$(DESTDIR)$(MANDIR)/man3/$$name.3"; done; done # for "man pprf_eval"
OPT_CMAKE := pprf-config.cmake pprf-config-version.cmake
uninstall-lib: ## remove the files that install-lib installed
	@{ grep -lsxE '\.so man3/(pprf|pprf_shared)\.3' "$(DESTDIR)$(MANDIR)"/man3/pprf_*.3 || true; } | tr '\n' '\0' | xargs -0r rm -f
	rm -f "$(DESTDIR)$(LIBDIR)/pkgconfig/pprf.pc" \
	  $(foreach f,$(OPT_CMAKE),"$(DESTDIR)$(LIBDIR)/cmake/pprf/$(f)") \
	  $(foreach f,pprf pprf_shared,"$(DESTDIR)$(INCLUDEDIR)/$(f).h" "$(DESTDIR)$(MANDIR)/man3/$(f).3") \
	  $(foreach f,libpprf.a libpprf.so libpprf.so.0,"$(DESTDIR)$(LIBDIR)/$(f)")

# $(1): a library of ABOVE; $(2): its headers; $(3): its program; $(4): the program's page; $(5): its own
define INSTALL_ABOVE
	$(PLAIN_NAMES)
	install -d "$(DESTDIR)$(LIBDIR)/pkgconfig" "$(DESTDIR)$(INCLUDEDIR)" "$(DESTDIR)$(BINDIR)" \
	  "$(DESTDIR)$(MANDIR)/man1" "$(DESTDIR)$(MANDIR)/man3"
	install -m 644 $(2) "$(DESTDIR)$(INCLUDEDIR)/"
	install -m 644 $(B)/$(1)/libpprf_$(1).a "$(DESTDIR)$(LIBDIR)/"
	install -m 755 $(B)/$(1)/libpprf_$(1).so.0 "$(DESTDIR)$(LIBDIR)/"
	ln -sf libpprf_$(1).so.0 "$(DESTDIR)$(LIBDIR)/libpprf_$(1).so"
	$(PC) $(1)/pprf_$(1).pc.in > "$(DESTDIR)$(LIBDIR)/pkgconfig/pprf_$(1).pc"
	chmod 644 "$(DESTDIR)$(LIBDIR)/pkgconfig/pprf_$(1).pc"
	$(LDCONFIG_NOTE)
	install -m 755 $(B)/$(3) "$(DESTDIR)$(BINDIR)/"
	install -m 644 $(4) "$(DESTDIR)$(MANDIR)/man1/"
	install -m 644 $(5) "$(DESTDIR)$(MANDIR)/man3/"
	@for name in $$(sed -n 's/^\(pprf_[a-z_]*\) .*/\1/p' packaging/release/libpprf_$(1).symbols); do \
	  echo ".so man3/pprf_$(1).3" | install -m 644 /dev/stdin "$(DESTDIR)$(MANDIR)/man3/$$name.3"; done
endef
define UNINSTALL_ABOVE
	@{ grep -lsx '\.so man3/pprf_$(1)\.3' "$(DESTDIR)$(MANDIR)"/man3/pprf_*.3 || true; } | tr '\n' '\0' | xargs -0r rm -f
	rm -f $(foreach f,$(notdir $(2)),"$(DESTDIR)$(INCLUDEDIR)/$(f)") "$(DESTDIR)$(LIBDIR)/pkgconfig/pprf_$(1).pc" \
	  $(foreach f,libpprf_$(1).a libpprf_$(1).so libpprf_$(1).so.0,"$(DESTDIR)$(LIBDIR)/$(f)") \
	  "$(DESTDIR)$(BINDIR)/$(3)" "$(DESTDIR)$(MANDIR)/man1/$(notdir $(4))" "$(DESTDIR)$(MANDIR)/man3/$(notdir $(5))"
endef

TAP_TESTS += $(B)/opt/bitwords_test
$(B)/opt/bitwords_test: opt/tests/bitwords_test.c opt/slots/bitmap.h
	@mkdir -p $(@D)
	$(call SAY,LINK,$@)$(LINK) $(ALL_CPPFLAGS) $(DEPFLAGS) -o $@ $< $(ALL_LDLIBS)

TAP_TESTS += $(B)/opt/arena_test
$(B)/opt/arena_test: opt/tests/arena_test.c
	@mkdir -p $(@D)
	$(call SAY,LINK,$@)$(LINK) $(ALL_CPPFLAGS) -Iopt $(DEPFLAGS) -o $@ $< $(ALL_LDLIBS)

TAP_TESTS += $(B)/opt/batch_test
$(B)/opt/batch_test: opt/tests/batch_test.c $(OPT_OBJ)
	@mkdir -p $(@D)
	$(call SAY,LINK,$@)$(LINK) $(ALL_CPPFLAGS) -Iopt -Wno-sign-compare $(DEPFLAGS) -o $@ $< $(OPT_OBJ) $(ALL_LDLIBS)

TAP_TESTS += $(B)/opt/room_test
OPT_NOT_WIDE := $(filter-out $(B)/opt/wide.o,$(OPT_OBJ))
$(B)/opt/room_test: opt/tests/room_test.c $(OPT_NOT_WIDE)
	@mkdir -p $(@D)
	$(call SAY,LINK,$@)$(LINK) $(ALL_CPPFLAGS) -Iopt $(DEPFLAGS) -o $@ $< $(OPT_NOT_WIDE) $(ALL_LDLIBS)

TAP_TESTS += $(B)/opt/selftest
OPT_WRAP := $(foreach f,prg_expand opt_descend opt_expand_many free malloc calloc realloc opt_arena_take opt_arena_give madvise mlock2 mmap64 munmap prg_digest,-Wl,--wrap=$(f))
OPT_SELFTEST := $(wildcard opt/selftest/*.c)
OPT_SELFTEST_OBJ := $(OPT_SELFTEST:opt/selftest/%.c=$(B)/opt/selftest-%.o)
$(OPT_SELFTEST_OBJ): $(B)/opt/selftest-%.o: opt/selftest/%.c
	$(call COMPILE,-Iopt)
$(B)/opt/selftest: $(OPT_SELFTEST_OBJ) $(OPT_OBJ)
	$(call LINKED,,$(OPT_WRAP))

# each quick run plants a random tenth of these bugs
TAP_TESTS += $(B)/opt/planted
$(B)/opt/planted: $(PLANTING) opt/tests/planted.py opt/tests/planted.txt $(B)/opt/selftest $(B)/opt/arena_test $(B)/opt/batch_test $(B)/opt/room_test
	$(call PLANTED,$(PYTHON) opt/tests/planted.py --quick --sample 1/10)
TAP_TESTS += opt/tests/library_test.sh opt/tests/flags_test.sh opt/tests/build_test.sh
