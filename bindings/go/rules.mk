# SPDX-License-Identifier: Apache-2.0
# bindings/go/: the packages pprf (cgo, with the amalgamation inside) and pprftls, for Go.
TAP_TESTS += $(B)/go-test
bindings/go/pprf.c: $(B)/amalgamation/pprf.c
	cp $< $(<:.c=.h) bindings/go/
$(B)/go-test: $(shell find bindings/go -type f) bindings/go/pprf.c
	@printf '#!/bin/sh\nB="%s" exec bindings/go/test.sh\n' '$(B)' > $@
	@chmod +x $@
.PHONY: test-go
test-go: deps-build ## test the Go packages, if there is a Go
	@$(MAKE) --no-print-directory $(B)/go-test
	@$(TAP) $(B)/go-test
