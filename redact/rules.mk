# SPDX-License-Identifier: Apache-2.0
# redact/: redactable documents, above pprf.h: libpprf_redact and the program pprf-redact.
REDACT_SRC := redact/format.c redact/redact.c redact/json.c
REDACT_OBJ := $(REDACT_SRC:%.c=$(B)/%.o)
REDACT_LDLIBS := -lcbor -ljansson -lm

LIBS += $(B)/redact/libpprf_redact.a $(B)/redact/libpprf_redact.so $(B)/redact/pprf_redact.pc $(B)/redact/pprf_redact.3
PROGRAMS += $(B)/pprf-redact

$(B)/redact/%.o: redact/%.c $(B)/flags
	$(call COMPILE,-Icli,-fPIC)
$(B)/redact/libpprf_redact.a: $(REDACT_OBJ) $(B)/flags
	$(MAKE_ARCHIVE)
$(B)/redact/libpprf_redact.so.0: $(REDACT_OBJ) $(B)/opt/libpprf.so redact/libpprf_redact.map
	$(call SHARED,$(REDACT_LDLIBS))
$(B)/pprf-redact: $(B)/redact/program.o $(REDACT_OBJ) $(B)/cli/options.o $(B)/cli/message.o $(B)/opt/libpprf.a
	$(call LINKED,$(REDACT_LDLIBS))

.PHONY: install-redact uninstall-redact
install: install-redact
uninstall: uninstall-redact
install-redact: $(B)/redact/libpprf_redact.a $(B)/redact/libpprf_redact.so $(B)/pprf-redact $(B)/redact/pprf_redact.3
	$(call INSTALL_ABOVE,redact,redact/pprf_redact.h,pprf-redact,redact/pprf-redact.1,$(B)/redact/pprf_redact.3)
uninstall-redact:
	$(call UNINSTALL_ABOVE,redact,redact/pprf_redact.h,pprf-redact,redact/pprf-redact.1,$(B)/redact/pprf_redact.3)

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
test-redact-full: deps-build deps-test deps-fuzz ## fuzz redactable documents for FUZZ_SECONDS; sign, redact and verify 1 GB in 90 MB (BYTES=...)
	@$(MAKE) --no-print-directory $(B)/redact/fuzz $(B)/redact/test.so $(B)/pprf-redact
	@$(B)/redact/fuzz $(FUZZ_SECONDS)
	@BYTES=$(or $(BYTES),1000000000) redact/test_redact.py test_a_large_file_takes_little_memory
