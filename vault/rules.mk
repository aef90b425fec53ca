# SPDX-License-Identifier: Apache-2.0
# vault/: a key on disk from which leaves are erased. libpprf_vault uses pprf.h alone and contains its own copy of
# the library; the program also uses cli/.
VAULT_SRC := vault/page.c vault/store.c vault/cell.c vault/tree.c vault/commit.c vault/vault.c
VAULT_OBJ := $(VAULT_SRC:%.c=$(B)/%.o)

LIBS += $(B)/vault/libpprf_vault.a $(B)/vault/libpprf_vault.so $(B)/vault/pprf_vault.pc $(B)/vault/pprf_vault.3
PROGRAMS += $(B)/pprf-vault

$(B)/vault/%.o: vault/%.c $(B)/flags
	$(call COMPILE,-Ivault -Icli,-fPIC)

# only the library's own names are global: a program may also link libpprf.a
$(B)/vault/libpprf_vault.a: KEEP := --wildcard --keep-global-symbol='pprf_vault_*'
$(B)/vault/libpprf_vault.a: $(VAULT_OBJ) $(OPT_OBJ) $(B)/flags
	$(MAKE_ARCHIVE)

$(B)/vault/libpprf_vault.so.0: $(VAULT_OBJ) $(OPT_OBJ) vault/libpprf_vault.map
	$(call SHARED,-lsqlite3)

$(B)/pprf-vault: $(B)/vault/main.o $(VAULT_OBJ) $(CLI_OBJ:$(B)/cli/main.o=) $(IMPL_OBJ) $(B)/cli/impls/list.o $(IMPL_ARCHIVES)
	$(call LINKED,-lsqlite3 -ljansson -lm)

# against ref: any sequence of operations, kills and copies of the files
$(B)/vault/test_vault: $(B)/vault/test_vault.o $(VAULT_OBJ) $(IMPL_OBJ) $(IMPL_ARCHIVES)
	$(call LINKED,-lsqlite3)
# power cuts and failing calls, which see each page and its key
$(B)/vault/test_faults: $(B)/vault/test_faults.o $(VAULT_OBJ) $(IMPL_OBJ) $(IMPL_ARCHIVES)
	$(call LINKED,-lsqlite3 -Xlinker --wrap=page_gcm -Xlinker --wrap=derive)
TAP_TESTS += $(B)/vault/test_vault $(B)/vault/test_faults vault/test_vault.py $(B)/vault/planted
$(B)/vault/planted: $(PLANTING) vault/planted.py vault/planted.txt $(B)/vault/test_vault $(B)/vault/test_faults $(B)/pprf $(B)/pprf-vault
	$(call PLANTED,$(PYTHON) vault/planted.py --quick --sample 2)
vault/test_vault.py: $(B)/pprf $(B)/pprf-vault
.PHONY: test-vault test-vault-full
test-full: test-vault-full
test-vault-full: deps-build ## a thousand power cuts of a vault, one at each call
	@$(MAKE) --no-print-directory $(B)/vault/test_faults
	@$(B)/vault/test_faults --full
test-vault: deps-build deps-test ## test the vault: against ref, crashes, cells, the program, Python
	@$(MAKE) --no-print-directory $(B)/vault/test_vault $(B)/vault/test_faults vault/test_vault.py
	@$(TAP) $(B)/vault/test_vault $(B)/vault/test_faults vault/test_vault.py

# measurements; RECORDS=1000000 is a smaller run
BENCH_PROGRAMS += $(B)/bench/vault
$(B)/bench/vault.o: bench/vault.c $(B)/flags
	$(call COMPILE,-Ibench -Ivault)
$(B)/bench/vault: $(B)/bench/vault.o $(VAULT_OBJ) $(OPT_OBJ)
	$(call LINKED,-lsqlite3)
bench/report/test_report.py: $(B)/bench/vault $(B)/pprf
.PHONY: bench-vault
bench-vault: RECORDS ?= 10000000
bench-vault: deps-bench ## measure a vault beside a table of keys and a key file (RECORDS=1000000: minutes)
	@$(MAKE) --no-print-directory $(B)/bench/vault $(B)/pprf
	@$(B)/bench/vault 7 $(RECORDS) $(B)/bench $(B)/pprf $(B)/bench/vault.json.part
	@mv $(B)/bench/vault.json.part $(B)/bench/vault.json
	@bench/report/tables.py vault $(B)

.PHONY: install-vault uninstall-vault
install: install-vault
uninstall: uninstall-vault
install-vault: $(B)/vault/libpprf_vault.a $(B)/vault/libpprf_vault.so $(B)/pprf-vault $(B)/vault/pprf_vault.3
	$(call INSTALL_ABOVE,vault,vault/pprf_vault.h,pprf-vault,vault/pprf-vault.1,$(B)/vault/pprf_vault.3)
uninstall-vault:
	$(call UNINSTALL_ABOVE,vault,vault/pprf_vault.h,pprf-vault,vault/pprf-vault.1,$(B)/vault/pprf_vault.3)
