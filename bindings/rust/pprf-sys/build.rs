// SPDX-License-Identifier: Apache-2.0
//! Compiles the library in one file, which `make bindings/rust/pprf-sys/c/pprf.c` puts here and a release has.
fn main() {
    println!("cargo:rerun-if-changed=c");
    assert!(
        std::path::Path::new("c/pprf.c").exists(),
        "c/pprf.c is missing: run `make bindings/rust/pprf-sys/c/pprf.c` in libpprf's tree, or take a release"
    );
    // optimize in debug builds too: otherwise the Keccaks take 160 kB of stack
    cc::Build::new()
        .file("c/pprf.c")
        .define("PPRF_NO_OPENSSL", None)
        .std("c11")
        .opt_level(3)
        .flag_if_supported("-fvisibility=hidden")
        .compile("pprf");
    println!("cargo:rustc-link-lib=pthread");
}
