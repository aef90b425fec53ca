# SPDX-License-Identifier: Apache-2.0
# examples/: programs for the tutorial, built with an installed copy of the library.
TAP_TESTS += examples/test_examples.py
examples/test_examples.py: $(wildcard examples/*.c) docs/tutorial.md $(LIBS) $(PROGRAMS)
