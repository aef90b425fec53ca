# SPDX-License-Identifier: Apache-2.0
# examples/: programs, built by their README with an installed copy of the library.
TAP_TESTS += examples/test_examples.py
examples/test_examples.py: $(wildcard examples/*.c) examples/README.md $(LIBS) $(PROGRAMS)
