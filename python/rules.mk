# SPDX-License-Identifier: Apache-2.0
# python/: the package pprf for Python, by cffi, with the amalgamation inside.
TAP_TESTS += $(B)/python-test
$(B)/python-test: python/test.sh $(wildcard python/* python/pprf/* python/tests/*.py) $(B)/amalgamation/pprf.c
	@printf '#!/bin/sh\nB="%s" PYTHON="%s" exec python/test.sh\n' '$(B)' '$(PYTHON)' > $@
	@chmod +x $@
.PHONY: test-python
test-python: ## build the Python package and test it
	@DEPS=$(DEPS) ./deps.sh build python
	@$(MAKE) --no-print-directory $(B)/python-test
	@$(TAP) $(B)/python-test
