# SPDX-License-Identifier: Apache-2.0
# rust/: the crates pprf-sys (with the amalgamation inside), pprf and pprf-rustls, for Rust.
TAP_TESTS += $(B)/rust-test
rust/pprf-sys/c/pprf.c: $(B)/amalgamation/pprf.c
	@mkdir -p $(@D)
	cp $< $(<:.c=.h) $(@D)/
$(B)/rust-test: rust/test.sh rust/toolchain.sh rust/pprf-sys/c/pprf.c
	@printf '#!/bin/sh\nB="%s" exec rust/test.sh\n' '$(B)' > $@
	@chmod +x $@
.PHONY: test-rust
test-rust: deps-build ## test the Rust crates, if there is a Rust
	@$(MAKE) --no-print-directory $(B)/rust-test
	@$(TAP) $(B)/rust-test
# contrib/rustls: minutes, so a part of the long tests
$(B)/contrib-rustls-test: contrib/rustls/test.sh rust/pprf-sys/c/pprf.c
	@printf '#!/bin/sh\nB="%s" exec contrib/rustls/test.sh\n' '$(B)' > $@
	@chmod +x $@
.PHONY: test-rustls-proposal
test-rustls-proposal: deps-build ## test what contrib/rustls proposes to rustls, if there is a Rust
	@$(MAKE) --no-print-directory $(B)/contrib-rustls-test
	@$(TAP) $(B)/contrib-rustls-test
test-full: test-rustls-proposal
