# SPDX-License-Identifier: Apache-2.0
# packaging/oss-fuzz/: what OSS-Fuzz takes into its projects/libpprf.
test-full: test-oss-fuzz
.PHONY: test-oss-fuzz
test-oss-fuzz: deps-build deps-fuzz ## build the fuzz targets as OSS-Fuzz does, and run them for a moment
	@$(TAP) packaging/oss-fuzz/test.sh
