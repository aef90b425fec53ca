# SPDX-License-Identifier: Apache-2.0
# common/: what both implementations have (COMMON_SRC: forks, messages), and both of them as values for
# the programs that run them side by side: impl.h, and names.h, by which the reference has names of its
# own.  build/common/impl_{ref,opt}.o are these values, list.o the paper's store as a third.
IMPL_OBJ := $(B)/common/impl_ref.o $(B)/common/impl_opt.o
# what a program links that runs both, with the PRG that ships
IMPL_ARCHIVES := $(B)/opt/libpprf_opt.a $(B)/ref/libpprf_ref_ns.a $(B)/prg/libprg_keccak.a

$(B)/common/%.o: common/%.c $(B)/flags
	@mkdir -p $(@D)
	$(call SAY,CC,$<)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -fPIC $(DEPFLAGS) -c -o $@ $<
$(B)/common/impl_opt.o: common/impl.c $(B)/flags
	@mkdir -p $(@D)
	$(call SAY,CC,$<)$(CC) $(ALL_CPPFLAGS) -DIMPL=impl_opt -DIMPL_NAME='"opt"' $(ALL_CFLAGS) $(DEPFLAGS) -c -o $@ $<
$(B)/common/impl_ref.o: common/impl.c common/names.h $(B)/flags
	@mkdir -p $(@D)
	$(call SAY,CC,$<)$(CC) $(ALL_CPPFLAGS) -include common/names.h -DIMPL=impl_ref -DIMPL_NAME='"ref"' $(ALL_CFLAGS) \
	  $(DEPFLAGS) -c -o $@ $<
