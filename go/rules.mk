# SPDX-License-Identifier: Apache-2.0
# go/: the packages pprf (cgo, with the amalgamation inside) and pprftls, for Go.
TAP_TESTS += $(B)/go-test
go/pprf.c: $(B)/amalgamation/pprf.c
	cp $< $(<:.c=.h) go/
$(B)/go-test: go/test.sh go/pprf.c
	@printf '#!/bin/sh\nB="%s" exec go/test.sh\n' '$(B)' > $@
	@chmod +x $@
.PHONY: test-go
test-go: deps-build ## test the Go packages, if there is a Go
	@$(MAKE) --no-print-directory $(B)/go-test
	@$(TAP) $(B)/go-test
