# SPDX-License-Identifier: Apache-2.0
# prg/: seed -> (left seed, right seed), called by both implementations: the interface (prg.h), the
# ACSL vocabulary of the tree and of integers as bytes, libcrypto's version, the built-in versions
# and the choice between them, and the wiping of stack and registers.
#   libprg_libcrypto.a   libcrypto's version alone, for ref; left out for a toy PRG
#   libprg_keccak.a      the PRG that ships: built-in versions, then libcrypto's
# The objects below build/prg are compiled once, for every program that links them.
PRG_LIBCRYPTO_OBJ := $(PRG_LIBCRYPTO_SRC:%.c=$(B)/%.o)
PRG_KECCAK_OBJ := $(PRG_KECCAK_SRC:%.c=$(B)/%.o) $(B)/prg/$(if $(LIBCRYPTO),libcrypto,builtin)_evp.o
# libcrypto's functions under the names that choice.c calls
PRG_EVP_RENAME := $(foreach f,expand expand_wide digest wipe_plan calls,-Dprg_$(f)=prg_$(f)_evp)

LIBS += $(B)/prg/libprg_libcrypto.a $(B)/prg/libprg_keccak.a

$(B)/prg/%.o: prg/%.c $(B)/flags
	$(call COMPILE,,-fPIC)
$(B)/prg/libcrypto_evp.o: prg/libcrypto.c
$(B)/prg/builtin_evp.o: $(PRG_BUILTIN_SRC)
$(B)/prg/libcrypto_evp.o $(B)/prg/builtin_evp.o: $(B)/flags
	@mkdir -p $(@D)
	$(call SAY,CC,$(filter %.c,$^))$(CC) $(ALL_CPPFLAGS) $(PRG_EVP_RENAME) $(ALL_CFLAGS) -fPIC $(DEPFLAGS) -c -o $@ $(filter %.c,$^)

# With fork.o, for programs that link neither implementation; other programs use the fork.o of
# theirs.
$(B)/prg/libprg_libcrypto.a: $(PRG_LIBCRYPTO_OBJ) $(B)/prg/common/fork.o
$(B)/prg/libprg_keccak.a: $(PRG_KECCAK_OBJ) $(B)/prg/common/fork.o
$(B)/prg/libprg_libcrypto.a $(B)/prg/libprg_keccak.a: $(B)/flags
	@rm -f $@
	$(call SAY,AR,$@)$(AR) rcsD $@ $(filter %.o,$^)
