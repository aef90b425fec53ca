# SPDX-License-Identifier: Apache-2.0
# The documents' examples, links and names are tested.
TAP_TESTS += docs/test_docs.py
