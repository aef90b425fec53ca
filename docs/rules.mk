# SPDX-License-Identifier: Apache-2.0
# Tests of the documents: examples, links and names.
TAP_TESTS += docs/tests/test_docs.py
.PHONY: pictures links docs test-docs
docs: deps-docs ## write the documents and the C and Python interfaces as HTML: build/docs/html
	@docs/pages/build.py $(B)/docs
test-docs: deps-docs ## test the HTML pages: nothing missing, no broken link
	@$(TAP) docs/pages/test_pages.py
test-full: test-docs
pictures: ## draw docs/pictures again with draw.py
	@docs/pictures/draw.py
links: ## update the links from names in the documents to their files, after files have moved
	@docs/pages/links.py
TAP_TESTS += docs/tests/test_uses.py
docs/tests/test_uses.py: $(B)/tls/libpprf_tls.a
