# SPDX-License-Identifier: Apache-2.0
# ref/: the proven implementation.
#   libpprf_ref.a     all of it, symbols pprf_*
#   libpprf_ref_ns.a  the same with symbols ref_pprf_*, without the PRG: for programs that link both
#   libpprf_evp.a     the PRG, shared by both implementations (and to be left out for a toy PRG)
REF_SRC := ref/node.c ref/core.c ref/codec.c ref/pprf.c ref/batch.c ref/fork.c ref/strerror.c
REF_OBJ := $(REF_SRC:ref/%.c=$(B)/ref/%.o)
REF_NS_OBJ := $(REF_SRC:ref/%.c=$(B)/ref/ns/%.o)
REF_PRG_OBJ := $(B)/ref/prg.o $(B)/ref/wipe.o

LIBS += $(B)/ref/libpprf_ref.a $(B)/ref/libpprf_ref_ns.a $(B)/ref/libpprf_evp.a

$(B)/ref/%.o: ref/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -fPIC $(DEPFLAGS) -c -o $@ $<

$(B)/ref/ns/%.o: ref/%.c ref/names.h
	@mkdir -p $(@D)
	$(CC) $(ALL_CPPFLAGS) -include ref/names.h $(ALL_CFLAGS) -fPIC $(DEPFLAGS) -c -o $@ $<

$(B)/ref/libpprf_ref.a: $(REF_OBJ) $(REF_PRG_OBJ)
	$(MAKE_ARCHIVE)
$(B)/ref/libpprf_ref_ns.a: $(REF_NS_OBJ)
$(B)/ref/libpprf_evp.a: $(REF_PRG_OBJ)
$(B)/ref/libpprf_ref_ns.a $(B)/ref/libpprf_evp.a:
	@rm -f $@
	$(AR) rcsD $@ $^

TAP_TESTS += $(B)/ref/smoke
$(B)/ref/smoke: ref/smoke.c $(REF_OBJ) $(REF_PRG_OBJ)
	$(LINK) $(ALL_CPPFLAGS) $(DEPFLAGS) -o $@ $^ $(ALL_LDLIBS)

# every byte that is read is initialized: MemorySanitizer on the equivalence tests' sequences
REF_MSAN := -O2 -fsanitize=memory -fno-omit-frame-pointer
$(eval $(call EQ_VARIANT,msan,$(CLANG),$(REF_MSAN)))
REF_MSAN_OBJ := $(EQ_msan_OPS) $(B)/ref/initialized.o
REF_MSAN_LINK := $(REF_MSAN) $(foreach f,EVP_MD_fetch EVP_DigestInit_ex EVP_DigestUpdate \
  EVP_DigestFinal_ex RAND_priv_bytes OPENSSL_cleanse,-Wl,--wrap=$(f)) $(EQ_LDFLAGS)
$(B)/ref/initialized.o: ref/initialized.c
	@mkdir -p $(@D)
	$(CLANG) $(ALL_CPPFLAGS) $(EQ_CFLAGS) $(REF_MSAN) $(DEPFLAGS) -c -o $@ $<
$(B)/ref/initialized_bytes: $(REF_MSAN_OBJ)
	$(CLANG) $(REF_MSAN_LINK) -o $@ $^ $(ALL_LDLIBS)
TAP_TESTS += $(B)/ref/initialized
$(B)/ref/initialized: ref/initialized.sh $(B)/ref/initialized_bytes
	@{ printf '#!/bin/sh\nCLANG="%s" CFLAGS="%s" \\\nLDFLAGS="%s" LDLIBS="%s" \\\nOBJECTS="%s" \\\n' \
	  '$(CLANG)' '$(ALL_CPPFLAGS) -include ref/names.h $(EQ_CFLAGS) $(REF_MSAN)' '$(REF_MSAN_LINK)' \
	  '$(ALL_LDLIBS)' '$(REF_MSAN_OBJ)'; echo 'exec ref/initialized.sh $(B)/ref'; } > $@
	@chmod +x $@
