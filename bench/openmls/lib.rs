// SPDX-License-Identifier: Apache-2.0
//! The C functions that bench/stores.c looks up.
use openmls::schedule::opened::{expansions, Tree};
use openmls_rust_crypto::RustCrypto;
use openmls_traits::types::Ciphersuite;
use std::alloc::{GlobalAlloc, Layout, System};
use std::os::raw::{c_int, c_uint};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::OnceLock;

const SUITE: Ciphersuite = Ciphersuite::MLS_128_DHKEMX25519_AES128GCM_SHA256_Ed25519;
const ROOT: [u8; 32] = [7; 32];

/// The system's allocator, counting what its blocks take, including the size field before each.
struct Counting;
static BYTES: AtomicUsize = AtomicUsize::new(0);

extern "C" {
    fn malloc_usable_size(block: *mut u8) -> usize;
}

unsafe fn taken(block: *mut u8) -> usize {
    malloc_usable_size(block) + std::mem::size_of::<usize>()
}

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let block = System.alloc(layout);
        if !block.is_null() {
            BYTES.fetch_add(taken(block), Relaxed);
        }
        block
    }
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        BYTES.fetch_sub(taken(block), Relaxed);
        System.dealloc(block, layout)
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One provider for all keys, whose memory is not counted for any key.
fn crypto() -> &'static RustCrypto {
    static CRYPTO: OnceLock<RustCrypto> = OnceLock::new();
    CRYPTO.get_or_init(RustCrypto::default)
}

pub struct Key(Tree);

/// # Safety
/// `key` can be written.
#[no_mangle]
pub unsafe extern "C" fn openmls_setup(key: *mut *mut Key, depth: c_uint, _seed: *const u8) -> c_int {
    if depth != 16 {
        return 2;
    }
    *key = Box::into_raw(Box::new(Key(Tree::new(&ROOT))));
    0
}

unsafe fn take(key: *mut Key, leaf: u64, out: *mut u8, bytes: usize) -> c_int {
    let mut value = [0u8; 32];
    match (*key).0.evaluate(crypto(), SUITE, leaf as u16, &mut value) {
        Ok(()) => {
            std::ptr::copy_nonoverlapping(value.as_ptr(), out, bytes);
            0
        }
        Err(_) => 1,
    }
}

/// # Safety
/// `key` is one of `openmls_setup`; `out` takes 16 bytes, the first of the value.
#[no_mangle]
pub unsafe extern "C" fn openmls_eval_punct(key: *mut Key, leaf: u64, out: *mut u8) -> c_int {
    take(key, leaf, out, 16)
}

/// # Safety
/// `key` is one of `openmls_setup`; `out` takes 32 bytes, the value.
#[no_mangle]
pub unsafe extern "C" fn openmls_eval_punct_wide(key: *mut Key, leaf: u64, out: *mut u8) -> c_int {
    take(key, leaf, out, 32)
}

/// Bytes of all existing keys.
#[no_mangle]
pub extern "C" fn openmls_memory_bytes(_key: *const Key) -> usize {
    BYTES.load(Relaxed)
}

/// # Safety
/// `key` is one of `openmls_setup` and is not used again.
#[no_mangle]
pub unsafe extern "C" fn openmls_free(key: *mut Key) {
    drop(Box::from_raw(key));
}

/// That many PRG calls, each of which takes the previous one's output.
#[no_mangle]
pub extern "C" fn openmls_calls(n: u64) -> u8 {
    expansions(crypto(), SUITE, &ROOT, n)
}
