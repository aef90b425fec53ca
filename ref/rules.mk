# SPDX-License-Identifier: Apache-2.0
# ref/: the proven implementation.
#   libpprf_ref.a     the whole implementation, symbols pprf_*
#   libpprf_ref_ns.a  the same with symbols ref_pprf_*, without the PRG: for programs that link both
REF_OBJ := $(REF_ALL:%.c=$(B)/%.o)
REF_NS_OBJ := $(REF_SRC:ref/%.c=$(B)/ref/ns/%.o) $(COMMON_SRC:%.c=$(B)/ref/ns/%.o)

LIBS += $(B)/ref/libpprf_ref.a $(B)/ref/libpprf_ref_ns.a

$(B)/ref/%.o: ref/%.c $(B)/flags
	$(call COMPILE,,-fPIC)

$(B)/ref/ns/prg/common/%.o: prg/common/%.c ref/names.h $(B)/flags
	$(call COMPILE,-include ref/names.h,-fPIC)
$(B)/ref/ns/%.o: ref/%.c ref/names.h $(B)/flags
	$(call COMPILE,-include ref/names.h,-fPIC)

$(B)/ref/libpprf_ref.a: $(REF_OBJ) $(PRG_LIBCRYPTO_OBJ) $(B)/flags
	$(MAKE_ARCHIVE)
$(B)/ref/libpprf_ref_ns.a: $(REF_NS_OBJ) $(B)/flags
	@rm -f $@
	$(call SAY,AR,$@)$(AR) rcsD $@ $(filter %.o,$^)

TAP_TESTS += $(B)/ref/smoke
$(B)/ref/smoke: ref/smoke.c $(REF_OBJ) $(PRG_LIBCRYPTO_OBJ)
	$(call SAY,LINK,$@)$(LINK) $(ALL_CPPFLAGS) $(DEPFLAGS) -o $@ $(filter %.c %.o,$^) $(ALL_LDLIBS)
