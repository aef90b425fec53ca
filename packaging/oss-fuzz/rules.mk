# SPDX-License-Identifier: Apache-2.0
# packaging/oss-fuzz/: the files for OSS-Fuzz's projects/libpprf.
test-full: test-oss-fuzz
.PHONY: test-oss-fuzz
test-oss-fuzz: deps-build deps-fuzz ## build the fuzz targets as OSS-Fuzz does and run them briefly
	@$(TAP) packaging/oss-fuzz/test.sh
