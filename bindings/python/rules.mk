# SPDX-License-Identifier: Apache-2.0
# bindings/python/: the package pprf for Python, by cffi, with the amalgamation inside.
TAP_TESTS += $(B)/python-test
$(B)/python-test: $(shell find bindings/python -name build -prune -o -name __pycache__ -prune -o -type f -print) examples/notebook.ipynb examples/feed.py $(B)/amalgamation/pprf.c \
    $(B)/vault/libpprf_vault.so $(B)/redact/libpprf_redact.so
	@printf '#!/bin/sh\nB="%s" PYTHON="%s" exec bindings/python/test.sh\n' '$(B)' '$(PYTHON)' > $@
	@chmod +x $@
.PHONY: test-python
test-python: ## build the Python package and test it
	@DEPS=$(DEPS) tools/deps.sh build python
	@$(MAKE) --no-print-directory $(B)/python-test
	@$(TAP) $(B)/python-test
