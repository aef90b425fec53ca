# SPDX-License-Identifier: Apache-2.0
# ref/: the proven implementation.
#   libpprf_ref.a     all of it, symbols pprf_*
#   libpprf_ref_ns.a  the same with symbols ref_pprf_*, without the PRG: for programs that link both
#   libpprf_prg.a     the PRG, shared by both implementations (and to be left out for a toy PRG)
REF_SRC := ref/node.c ref/core.c ref/codec.c ref/pprf.c ref/batch.c ref/strerror.c
REF_OBJ := $(REF_SRC:ref/%.c=$(B)/ref/%.o)
REF_NS_OBJ := $(REF_SRC:ref/%.c=$(B)/ref/ns/%.o)
REF_PRG_OBJ := $(B)/ref/prg.o

LIBS += $(B)/ref/libpprf_ref.a $(B)/ref/libpprf_ref_ns.a $(B)/ref/libpprf_prg.a

$(B)/ref/%.o: ref/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -fPIC $(DEPFLAGS) -c -o $@ $<

$(B)/ref/ns/%.o: ref/%.c ref/names.h
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -include ref/names.h $(CFLAGS) -fPIC $(DEPFLAGS) -c -o $@ $<

$(B)/ref/libpprf_ref.a: $(REF_OBJ) $(REF_PRG_OBJ)
$(B)/ref/libpprf_ref_ns.a: $(REF_NS_OBJ)
$(B)/ref/libpprf_prg.a: $(REF_PRG_OBJ)
$(B)/ref/libpprf_ref.a $(B)/ref/libpprf_ref_ns.a $(B)/ref/libpprf_prg.a:
	@rm -f $@
	$(AR) rcs $@ $^

TAP_TESTS += $(B)/ref/smoke
$(B)/ref/smoke: ref/smoke.c $(B)/ref/libpprf_ref.a
	$(CC) $(CPPFLAGS) $(CFLAGS) $(DEPFLAGS) -o $@ $^ $(LDLIBS)
