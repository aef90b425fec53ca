# SPDX-License-Identifier: Apache-2.0
# Formatting: .clang-format, .flake8, .editorconfig, and the check that `make test` runs.
TAP_TESTS += tools/style.py
.PHONY: format format-check
format-check: deps-style ## check the formatting of C, Python and shell files (seconds)
	@tools/style.py
format: deps-style ## format C files: make format FILES="opt/core.c ..."
	@tools/style.py --fix $(FILES)
