# SPDX-License-Identifier: Apache-2.0
# bindings/rust/: the crates pprf-sys (with the amalgamation inside), pprf and pprf-rustls, for Rust.
TAP_TESTS += $(B)/rust-test
bindings/rust/pprf-sys/c/pprf.c: $(B)/amalgamation/pprf.c
	@mkdir -p $(@D)
	cp $< $(<:.c=.h) $(@D)/
$(B)/rust-test: $(shell find bindings/rust -name target -prune -o -name rustls -prune -o -type f -print) \
  bindings/rust/pprf-sys/c/pprf.c
	@printf '#!/bin/sh\nB="%s" exec bindings/rust/test.sh\n' '$(B)' > $@
	@chmod +x $@
.PHONY: test-rust
test-rust: deps-build ## test the Rust crates, if there is a Rust
	@$(MAKE) --no-print-directory $(B)/rust-test
	@$(TAP) $(B)/rust-test
# a long test: bindings/rust/rustls takes minutes
$(B)/rustls-proposal-test: $(shell find bindings/rust/rustls -name target -prune -o -type f -print) bindings/rust/pprf-sys/c/pprf.c
	@printf '#!/bin/sh\nB="%s" exec bindings/rust/rustls/test.sh\n' '$(B)' > $@
	@chmod +x $@
.PHONY: test-rustls-proposal
test-rustls-proposal: deps-build ## test the proposal to rustls in bindings/rust/rustls, if there is a Rust
	@$(MAKE) --no-print-directory $(B)/rustls-proposal-test
	@$(TAP) $(B)/rustls-proposal-test
test-full: test-rustls-proposal
