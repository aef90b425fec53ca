// SPDX-License-Identifier: Apache-2.0
//! A puncturable pseudorandom function: libpprf, embedded.
//!
//! A key of depth d is a function from the leaves 0 .. 2^d - 1 to 16-byte values.  Puncturing a leaf removes its
//! value from the key for good: every other leaf keeps its value, and nobody who reads the key afterwards can
//! compute the lost one.
//!
//! ```
//! let mut key = pprf::Key::new(20)?; // 2^20 leaves, a random root seed
//! let value = key.eval_puncture(42)?; // 16 bytes, for the last time; wiped when dropped
//! assert_eq!(key.eval(42).unwrap_err(), pprf::Error::Punctured { first: 42, last: 42 });
//! # let _ = value; Ok::<(), pprf::Error>(())
//! ```
//!
//! On every error the key is as it was.  Threads may read one key at once (`&Key`); a change needs `&mut Key`,
//! which is the C library's rule.  The key is kept out of core dumps and wiped when it is dropped.  A key belongs
//! to the process that made it: in a child of fork it gives [`Error::Forked`].
#![no_std]
extern crate alloc;
use alloc::{vec, vec::Vec};
use core::{ffi::c_int, fmt, ptr};
use pprf_sys as sys;
use zeroize::Zeroizing;

/// Bytes of a value, and of the root's seed.
pub const VALUE_BYTES: usize = sys::PPRF_SEED_BYTES;
/// A leaf's value; it is wiped when it is dropped.
pub type Value = Zeroizing<[u8; VALUE_BYTES]>;

/// What a key cannot do.  The key is as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// All of these leaves were punctured before.
    Punctured { first: u64, last: u64 },
    /// Leaves that are not in the tree.
    Range { first: u64, last: u64 },
    /// A depth that is not in 1..=32.
    Depth(u32),
    /// Values need 16 bytes a leaf.
    Length,
    NoMemory,
    /// The digest or the random generator failed.
    Crypto,
    /// The bytes are not a key that `export` writes.
    Format,
    /// The key belongs to the process that made it, before a fork.
    Forked,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Punctured { first, last } if first == last => write!(f, "leaf {first} is punctured already"),
            Error::Punctured { first, last } => write!(f, "leaves {first}..={last} are punctured already"),
            Error::Range { first, last } if first == last => write!(f, "leaf {first} is not in the tree"),
            Error::Range { first, last } => write!(f, "{first}..={last} is no range of leaves of the tree"),
            Error::Depth(depth) => write!(f, "depth {depth} is not in 1..=32"),
            Error::Length => f.write_str("the buffer does not have 16 bytes a leaf"),
            Error::NoMemory => f.write_str("out of memory"),
            Error::Crypto => f.write_str("the digest or the random generator failed"),
            Error::Format => f.write_str("not a key file"),
            Error::Forked => f.write_str("the key belongs to the process that made it, before a fork"),
        }
    }
}

impl core::error::Error for Error {}

fn check(err: c_int, first: u64, last: u64) -> Result<(), Error> {
    Err(match err {
        sys::PPRF_OK => return Ok(()),
        sys::PPRF_ERR_PUNCTURED => Error::Punctured { first, last },
        sys::PPRF_ERR_RANGE => Error::Range { first, last },
        sys::PPRF_ERR_NOMEM => Error::NoMemory,
        sys::PPRF_ERR_FORMAT | sys::PPRF_ERR_SUITE => Error::Format,
        sys::PPRF_ERR_FORKED => Error::Forked,
        _ => Error::Crypto,
    })
}

/// A punctured key.
pub struct Key(ptr::NonNull<sys::pprf_key>);

// SAFETY: pprf.h, "Threads": a key has no ties to a thread; any number of readers, or one writer.  The functions
// that read take &self, those that write &mut self.
unsafe impl Send for Key {}
unsafe impl Sync for Key {}

impl Drop for Key {
    fn drop(&mut self) {
        // SAFETY: the key is ours alone, and this is its last use
        unsafe { sys::pprf_free(self.0.as_ptr()) }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").field("depth", &self.depth()).field("nodes", &self.nodes()).finish_non_exhaustive()
    }
}

impl Key {
    fn make(depth: u32, seed: *const u8) -> Result<Key, Error> {
        if !(sys::PPRF_DEPTH_MIN..=sys::PPRF_DEPTH_MAX).contains(&depth) {
            return Err(Error::Depth(depth));
        }
        let mut key = ptr::null_mut();
        // SAFETY: seed is null or 16 bytes
        check(unsafe { sys::pprf_setup(&mut key, depth, seed) }, 0, 0)?;
        ptr::NonNull::new(key).map(Key).ok_or(Error::Crypto)
    }

    /// A key of 2^depth leaves, 1 <= depth <= 32, with a random root seed.
    pub fn new(depth: u32) -> Result<Key, Error> {
        Key::make(depth, ptr::null())
    }

    /// The same from a root seed.  The caller wipes its copy.
    pub fn from_seed(depth: u32, seed: &[u8; VALUE_BYTES]) -> Result<Key, Error> {
        Key::make(depth, seed.as_ptr())
    }

    /// The key of bytes that `export` wrote; others are [`Error::Format`], wherever they come from.
    pub fn import(data: &[u8]) -> Result<Key, Error> {
        let mut key = ptr::null_mut();
        // SAFETY: so many bytes are there
        check(unsafe { sys::pprf_import(&mut key, data.as_ptr(), data.len()) }, 0, 0)?;
        ptr::NonNull::new(key).map(Key).ok_or(Error::Crypto)
    }

    /// The value of a leaf.
    pub fn eval(&self, leaf: u64) -> Result<Value, Error> {
        let mut value = Value::default();
        // SAFETY: the key is whole while it is borrowed, here and below; value has 16 bytes
        check(unsafe { sys::pprf_eval(self.0.as_ptr(), leaf, value.as_mut_ptr()) }, leaf, leaf)?;
        Ok(value)
    }

    /// The value of a leaf, for the last time.
    pub fn eval_puncture(&mut self, leaf: u64) -> Result<Value, Error> {
        let mut value = Value::default();
        // SAFETY: as above
        check(unsafe { sys::pprf_eval_punct(self.0.as_ptr(), leaf, value.as_mut_ptr()) }, leaf, leaf)?;
        Ok(value)
    }

    /// Remove the value of a leaf.  [`Error::Punctured`]: it was removed before.
    pub fn puncture(&mut self, leaf: u64) -> Result<(), Error> {
        // SAFETY: as above
        check(unsafe { sys::pprf_punct(self.0.as_ptr(), leaf) }, leaf, leaf)
    }

    /// Remove the values of many consecutive leaves.  [`Error::Punctured`]: all were removed before.
    pub fn puncture_range(&mut self, leaves: core::ops::RangeInclusive<u64>) -> Result<(), Error> {
        let (first, last) = (*leaves.start(), *leaves.end());
        // SAFETY: as above
        check(unsafe { sys::pprf_punct_range(self.0.as_ptr(), first, last) }, first, last)
    }

    fn batch(&self, err: c_int, leaves: &[u64], result: Vec<c_int>) -> Result<Vec<bool>, Error> {
        let depth = self.depth();
        let wrong = leaves.iter().copied().find(|leaf| leaf >> depth != 0).unwrap_or(0);
        check(err, wrong, wrong)?;
        Ok(result.into_iter().map(|err| err == sys::PPRF_OK).collect())
    }

    /// Write the values of many leaves, in any order, repeats allowed, to `out`, 16 bytes each, and say which have
    /// one: the others' are zero.  Ascending order shares most work.
    pub fn eval_many(&self, leaves: &[u64], out: &mut [u8]) -> Result<Vec<bool>, Error> {
        if leaves.len().checked_mul(VALUE_BYTES) != Some(out.len()) {
            return Err(Error::Length);
        }
        let mut result = vec![0; leaves.len()];
        // SAFETY: the lengths are those of the slices
        let err = unsafe {
            sys::pprf_eval_batch(self.0.as_ptr(), leaves.as_ptr(), leaves.len(), out.as_mut_ptr(), result.as_mut_ptr())
        };
        self.batch(err, leaves, result)
    }

    /// Remove the values of many leaves, all or none, and say for which this call did it.
    pub fn puncture_many(&mut self, leaves: &[u64]) -> Result<Vec<bool>, Error> {
        let mut result = vec![0; leaves.len()];
        // SAFETY: as above
        let err = unsafe {
            sys::pprf_punct_batch(self.0.as_ptr(), leaves.as_ptr(), leaves.len(), result.as_mut_ptr())
        };
        self.batch(err, leaves, result)
    }

    /// The canonical encoding: equal keys give equal bytes.  As secret as the key, and wiped when dropped.
    pub fn export(&self) -> Result<Zeroizing<Vec<u8>>, Error> {
        let mut len = 0;
        // SAFETY: without a buffer only the length is computed; then there are so many bytes
        check(unsafe { sys::pprf_export(self.0.as_ptr(), ptr::null_mut(), &mut len) }, 0, 0)?;
        let mut data = Zeroizing::new(vec![0; len]);
        check(unsafe { sys::pprf_export(self.0.as_ptr(), data.as_mut_ptr(), &mut len) }, 0, 0)?;
        Ok(data)
    }

    /// Have all memory that the key can come to need backed now: no later puncture waits for a page.
    pub fn prefault(&mut self) -> Result<(), Error> {
        // SAFETY: as above, and for those that follow
        check(unsafe { sys::pprf_prefault(self.0.as_ptr()) }, 0, 0)
    }

    /// Levels of the tree below its root.
    pub fn depth(&self) -> u32 {
        unsafe { sys::pprf_depth(self.0.as_ptr()) }
    }

    /// Stored seeds.
    pub fn nodes(&self) -> usize {
        unsafe { sys::pprf_node_count(self.0.as_ptr()) }
    }

    /// Bytes of memory that the key really holds.
    pub fn memory_bytes(&self) -> usize {
        unsafe { sys::pprf_memory_bytes(self.0.as_ptr()) }
    }
}
