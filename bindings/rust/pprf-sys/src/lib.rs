// SPDX-License-Identifier: Apache-2.0
//! The functions of pprf.h.  `pprf` is the safe crate; the header says what each does and when it may be called.
#![no_std]
#![allow(non_camel_case_types)]
use core::ffi::{c_char, c_int, c_uint, c_void};

pub const PPRF_SEED_BYTES: usize = 16;
pub const PPRF_VALUE_BYTES_MAX: usize = 32;
pub const PPRF_SALT_BYTES: usize = 16;
pub const PPRF_DEPTH_MIN: c_uint = 1;
pub const PPRF_DEPTH_MAX: c_uint = 63;
pub const PPRF_SLOTS_DEPTH_MAX: c_uint = 32;
pub const PPRF_SHARED: c_uint = 1;
pub const PPRF_STORE_DEFAULT: c_uint = 0;
pub const PPRF_STORE_SLOTS: c_uint = 1;
pub const PPRF_STORE_PACKED: c_uint = 2;
pub const PPRF_SHA3_256: c_uint = 1;
pub const PPRF_SHA3_256_SALTED: c_uint = 2;
pub const PPRF_AES_128: c_uint = 3;
pub const PPRF_MLS_SHA256: c_uint = 4;
pub const PPRF_OK: c_int = 0;
pub const PPRF_ERR_PUNCTURED: c_int = 1;
pub const PPRF_ERR_RANGE: c_int = 2;
pub const PPRF_ERR_NOMEM: c_int = 3;
pub const PPRF_ERR_CRYPTO: c_int = 4;
pub const PPRF_ERR_FORMAT: c_int = 5;
pub const PPRF_ERR_BUFFER: c_int = 6;
pub const PPRF_ERR_NULL: c_int = 7;
pub const PPRF_ERR_FORKED: c_int = 8;
pub const PPRF_ERR_SUITE: c_int = 9;

/// A punctured key.
#[repr(C)]
pub struct pprf_key {
    _private: [u8; 0],
    _pinned: core::marker::PhantomData<(*mut u8, core::marker::PhantomPinned)>,
}

#[repr(C)]
pub struct pprf_options {
    pub size: usize,
    pub seed: *const u8,
    pub depth: c_uint,
    pub flags: c_uint,
    pub store: c_uint,
    pub suite: c_uint,
    pub salt: *const u8,
}

#[repr(C)]
pub struct pprf_import_options {
    pub size: usize,
    pub suites: u64,
    pub store: c_uint,
    pub flags: c_uint,
}

pub type pprf_each = unsafe extern "C" fn(arg: *mut c_void, leaf: u64, n: usize, values: *const u8) -> c_int;

extern "C" {
    pub fn pprf_setup(key: *mut *mut pprf_key, depth: c_uint, seed: *const u8) -> c_int;
    pub fn pprf_setup_with(key: *mut *mut pprf_key, options: *const pprf_options) -> c_int;
    pub fn pprf_eval(key: *const pprf_key, leaf: u64, out: *mut u8) -> c_int;
    pub fn pprf_punct(key: *mut pprf_key, leaf: u64) -> c_int;
    pub fn pprf_eval_punct(key: *mut pprf_key, leaf: u64, out: *mut u8) -> c_int;
    pub fn pprf_punct_range(key: *mut pprf_key, first: u64, last: u64) -> c_int;
    pub fn pprf_delegate(key: *const pprf_key, first: u64, last: u64, sub: *mut *mut pprf_key) -> c_int;
    pub fn pprf_eval_batch(key: *const pprf_key, leaf: *const u64, n: usize, out: *mut u8, result: *mut c_int)
        -> c_int;
    pub fn pprf_punct_batch(key: *mut pprf_key, leaf: *const u64, n: usize, result: *mut c_int) -> c_int;
    pub fn pprf_expand(key: *const pprf_key, first: u64, last: u64, each: pprf_each, arg: *mut c_void) -> c_int;
    pub fn pprf_prefault(key: *mut pprf_key) -> c_int;
    pub fn pprf_prg_name() -> *const c_char;
    pub fn pprf_aes_name() -> *const c_char;
    pub fn pprf_sha256_name() -> *const c_char;
    pub fn pprf_prg_select(name: *const c_char) -> c_int;
    pub fn pprf_node_count(key: *const pprf_key) -> usize;
    pub fn pprf_memory_bytes(key: *const pprf_key) -> usize;
    pub fn pprf_depth(key: *const pprf_key) -> c_uint;
    pub fn pprf_suite(key: *const pprf_key) -> c_uint;
    pub fn pprf_value_bytes(key: *const pprf_key) -> usize;
    pub fn pprf_suite_name(suite: c_uint) -> *const c_char;
    pub fn pprf_memory_locked(key: *const pprf_key) -> c_int;
    pub fn pprf_export(key: *const pprf_key, buf: *mut u8, len: *mut usize) -> c_int;
    pub fn pprf_import(key: *mut *mut pprf_key, buf: *const u8, len: usize) -> c_int;
    pub fn pprf_import_with(
        key: *mut *mut pprf_key,
        buf: *const u8,
        len: usize,
        options: *const pprf_import_options,
    ) -> c_int;
    pub fn pprf_free(key: *mut pprf_key);
    pub fn pprf_strerror(err: c_int) -> *const c_char;
    pub fn pprf_version() -> *const c_char;
}
