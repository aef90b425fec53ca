# SPDX-License-Identifier: Apache-2.0
# bindings/: plants bugs in the bindings, which their tests must detect.
TAP_TESTS += $(B)/bindings/planted
$(B)/bindings/planted: $(PLANTING) bindings/planted.py $(wildcard bindings/*/planted.txt) bindings/go/pprf.c \
  bindings/rust/pprf-sys/c/pprf.c $(B)/redact/libpprf_redact.so
	@mkdir -p $(@D)
	$(call PLANTED,$(PYTHON) bindings/planted.py --quick --sample 2)
