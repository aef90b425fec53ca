# SPDX-License-Identifier: Apache-2.0
# The documents' examples, links and names are tested.
TAP_TESTS += docs/test_docs.py
.PHONY: pictures links docs test-docs
docs: deps-docs ## write the documents and the interfaces for C and Python as pages: build/docs/html
	@docs/pages/build.py $(B)/docs
test-docs: deps-docs ## test these pages: nothing is missing, no link is broken
	@$(TAP) docs/pages/test_pages.py
test-full: test-docs
pictures: ## draw docs/pictures again with draw.py
	@docs/pictures/draw.py
links: ## link the names in the documents' tables to their files, after files were moved
	@docs/links.py
TAP_TESTS += docs/test_uses.py
docs/test_uses.py: $(B)/tls/libpprf_tls.a
