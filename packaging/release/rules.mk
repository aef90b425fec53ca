# SPDX-License-Identifier: Apache-2.0
# packaging/release/: release files, and the lists of names that the libraries export.
DIST := $(B)/dist
.PHONY: dist
dist: deps-build ## build the last commit's release tarballs and checksums in build/dist, unpack and test them
	@packaging/release/dist.sh $(DIST) $(VERSION)
	@packaging/release/test.sh $(DIST) $(VERSION)

# the libraries export exactly the names in their lists
TAP_TESTS += packaging/release/symbols.sh
packaging/release/symbols.sh: $(B)/opt/libpprf.so $(B)/tls/libpprf_tls.so $(B)/redact/libpprf_redact.so $(B)/vault/libpprf_vault.so
# and keep their binary interface: compared with BASE=COMMIT, by default the last release
.PHONY: abi
RELEASED := $(lastword $(sort $(patsubst packaging/release/%.symbols,%,$(wildcard packaging/release/[0-9]*.symbols))))
abi: deps-build deps-release ## compare the binary interface with that of an earlier commit: BASE=COMMIT
	@packaging/release/abi.sh $(or $(BASE),$(shell git log --format=%H -S'define PPRF_VERSION "$(RELEASED)"' -- include/pprf.h | tail -1))

.PHONY: deb
deb: deps-root ## build the Debian packages, install and test them in clean systems: SUITE=bookworm or trixie
	@packaging/release/deb.sh $(SUITE)

# each package, used as its registry or a user would
.PHONY: test-packages
PACKAGES_TAP := opt/tests/library_test.sh $(B)/rust-test $(B)/go-test $(B)/python-test docs/pages/test_pages.py
test-packages: deps-build deps-test deps-python deps-docs deps-root ## build and check every package: crates, wheel, Go, CMake, pages, release, Debian, then the ways in (40 minutes)
	@$(MAKE) --no-print-directory all $(filter $(B)/%,$(PACKAGES_TAP))
	@TWINE=6.1.0 $(TAP) $(PACKAGES_TAP)
	@$(MAKE) --no-print-directory dist
	@$(MAKE) --no-print-directory deb SUITE=bookworm
	@$(MAKE) --no-print-directory test-ways
test-full: test-packages
.PHONY: test-ways
test-ways: deps-build deps-root ## try ten ways to install and use the library, each in a clean Debian up to a working example
	@packaging/release/ways.sh $(WAYS)
