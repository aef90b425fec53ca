# SPDX-License-Identifier: Apache-2.0
# prg/: seed -> (left seed, right seed), which both implementations call: its interface (prg.h), the
# tree over it and the bytes of integers in ACSL, libcrypto's version, Keccak's, the choice between
# them, and the wiping of what they leave behind.
#   libprg_libcrypto.a   libcrypto's alone: the reference's; left out for a toy PRG
#   libprg_keccak.a      the PRG that ships: Keccak with libcrypto's behind it
# The objects below build/prg are compiled once, for every program that links them.
PRG_LIBCRYPTO_OBJ := $(PRG_LIBCRYPTO_SRC:%.c=$(B)/%.o)
PRG_KECCAK_OBJ := $(PRG_KECCAK_SRC:%.c=$(B)/%.o) $(B)/prg/$(if $(LIBCRYPTO),libcrypto,builtin)_evp.o
# libcrypto's functions under the names that choice.c knows them by
PRG_EVP_RENAME := $(foreach f,expand expand_wide digest wipe_plan calls,-Dprg_$(f)=prg_$(f)_evp)

LIBS += $(B)/prg/libprg_libcrypto.a $(B)/prg/libprg_keccak.a

$(B)/prg/%.o: prg/%.c $(B)/flags
	@mkdir -p $(@D)
	$(call SAY,CC,$<)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -fPIC $(DEPFLAGS) -c -o $@ $<
$(B)/prg/libcrypto_evp.o: prg/libcrypto.c
$(B)/prg/builtin_evp.o: $(PRG_BUILTIN_SRC)
$(B)/prg/libcrypto_evp.o $(B)/prg/builtin_evp.o: $(B)/flags
	@mkdir -p $(@D)
	$(call SAY,CC,$(filter %.c,$^))$(CC) $(ALL_CPPFLAGS) $(PRG_EVP_RENAME) $(ALL_CFLAGS) -fPIC $(DEPFLAGS) -c -o $@ $(filter %.c,$^)

# with what tells a child of fork, for programs that have neither implementation; theirs comes before it
$(B)/prg/libprg_libcrypto.a: $(PRG_LIBCRYPTO_OBJ) $(B)/prg/common/fork.o
$(B)/prg/libprg_keccak.a: $(PRG_KECCAK_OBJ) $(B)/prg/common/fork.o
$(B)/prg/libprg_libcrypto.a $(B)/prg/libprg_keccak.a: $(B)/flags
	@rm -f $@
	$(call SAY,AR,$@)$(AR) rcsD $@ $(filter %.o,$^)
