// SPDX-License-Identifier: Apache-2.0
//! A puncturable pseudorandom function: libpprf, embedded.
//!
//! A key of depth d is a function from the leaves 0 .. 2^d - 1 to values of 16 bytes, or of 32 in
//! [`Suite::MlsSha256`].  Puncturing a leaf removes its value from the key for good: every other leaf keeps its
//! value, and nobody who reads the key afterwards can compute the lost one.
//!
//! ```
//! let mut key = pprf::Key::new(20)?; // 2^20 leaves, a random root seed
//! let value = key.eval_puncture(42)?; // 16 bytes, for the last time; wiped where it is dropped
//! assert_eq!(key.eval(42).unwrap_err(), pprf::Error::Punctured { first: 42, last: 42 });
//! # let _ = value; Ok::<(), pprf::Error>(())
//! ```
//!
//! A random root has a random salt, [`Suite::Sha3_256Salted`]; a given one has the thesis's values,
//! [`Suite::Sha3_256`].  [`Options`] choose a suite, a salt and a store:
//!
//! ```
//! use pprf::{Key, Options, Store, Suite};
//! let key = Key::with(20, Options::new().suite(Suite::Aes128).store(Store::Packed))?;
//! assert_eq!(key.suite(), Suite::Aes128);
//! # Ok::<(), pprf::Error>(())
//! ```
//!
//! On every error the key is as it was.  Threads may read one key at once (`&Key`); a change needs `&mut Key`,
//! which is the C library's rule.  The key is kept out of core dumps and wiped when it is dropped.  A key belongs
//! to the process that made it: in a child of fork it gives [`Error::Forked`].
#![no_std]
extern crate alloc;
use alloc::{vec, vec::Vec};
use core::{
    ffi::{c_int, c_uint, CStr},
    fmt, ptr, str,
};
use pprf_sys as sys;
use zeroize::Zeroizing;

/// Bytes of a value and of the root's seed, except in [`Suite::MlsSha256`].
pub const VALUE_BYTES: usize = sys::PPRF_SEED_BYTES;
/// The same in [`Suite::MlsSha256`].
pub const WIDE_VALUE_BYTES: usize = sys::PPRF_VALUE_BYTES_MAX;
/// Bytes of a salt, which is public.
pub const SALT_BYTES: usize = sys::PPRF_SALT_BYTES;
/// A leaf's value, wiped when dropped.  Returning or moving it may leave copies on the stack:
/// [`Key::eval_into`] and [`Key::eval_puncture_into`] leave none.
pub type Value = Zeroizing<[u8; VALUE_BYTES]>;
/// The same for a key in [`Suite::MlsSha256`].
pub type WideValue = Zeroizing<[u8; WIDE_VALUE_BYTES]>;

/// The PRG that derives child seeds from a node's seed; `docs/suites.md` says which to choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Suite {
    /// The thesis's PRG; no salt.
    Sha3_256,
    Sha3_256Salted,
    Aes128,
    /// The secret tree of MLS (RFC 9420); no salt, and values of 32 bytes.
    MlsSha256,
}

impl Suite {
    const ALL: [Suite; 4] = [Suite::Sha3_256, Suite::Sha3_256Salted, Suite::Aes128, Suite::MlsSha256];

    const fn number(self) -> c_uint {
        match self {
            Suite::Sha3_256 => sys::PPRF_SHA3_256,
            Suite::Sha3_256Salted => sys::PPRF_SHA3_256_SALTED,
            Suite::Aes128 => sys::PPRF_AES_128,
            Suite::MlsSha256 => sys::PPRF_MLS_SHA256,
        }
    }

    /// Bytes of a seed and of a value.
    pub const fn value_bytes(self) -> usize {
        match self {
            Suite::MlsSha256 => WIDE_VALUE_BYTES,
            _ => VALUE_BYTES,
        }
    }

    /// The suite's name, as on the command line: `sha3-256`, `sha3-256-salted`, `aes-128`,
    /// `mls-sha256`.
    pub fn name(self) -> &'static str {
        // SAFETY: the name is a string of the library, or null only for suites other than these
        let name = unsafe { sys::pprf_suite_name(self.number()) };
        if name.is_null() {
            return "";
        }
        unsafe { CStr::from_ptr(name) }.to_str().unwrap_or_default()
    }
}

impl fmt::Display for Suite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl str::FromStr for Suite {
    type Err = Error;

    /// The suite with this name; [`Error::Suite`] if there is none.
    fn from_str(name: &str) -> Result<Suite, Error> {
        Suite::ALL.into_iter().find(|suite| suite.name() == name).ok_or(Error::Suite)
    }
}

/// Where a key keeps its seeds.  The values, the encoding and the errors are the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Store {
    /// The library's default: packed.
    #[default]
    Default,
    /// Fastest where punctures are dense.
    Slots,
    /// 17 to 21 bytes a seed: for many keys, and for few punctures in a large tree.
    Packed,
}

impl Store {
    const fn number(self) -> c_uint {
        match self {
            Store::Default => sys::PPRF_STORE_DEFAULT,
            Store::Slots => sys::PPRF_STORE_SLOTS,
            Store::Packed => sys::PPRF_STORE_PACKED,
        }
    }
}

/// Options of [`Key::with`]; the defaults are those of [`Key::new`].
#[derive(Clone, Copy, Default)]
#[must_use]
pub struct Options<'a> {
    seed: Option<&'a [u8]>,
    suite: Option<Suite>,
    salt: Option<&'a [u8; SALT_BYTES]>,
    store: Store,
}

impl<'a> Options<'a> {
    pub fn new() -> Options<'a> {
        Options::default()
    }

    /// The root's seed; random by default.  The caller wipes its copy.
    pub fn seed(mut self, seed: &'a [u8; VALUE_BYTES]) -> Options<'a> {
        self.seed = Some(seed);
        self
    }

    /// The same for [`Suite::MlsSha256`], which must be given too.
    pub fn wide_seed(mut self, seed: &'a [u8; WIDE_VALUE_BYTES]) -> Options<'a> {
        self.seed = Some(seed);
        self
    }

    /// The suite; by default [`Suite::Sha3_256Salted`] for a random seed and [`Suite::Sha3_256`]
    /// for a given one.
    pub fn suite(mut self, suite: Suite) -> Options<'a> {
        self.suite = Some(suite);
        self
    }

    /// The salt, for a suite that has one; random by default.  Use each salt for one key only.
    pub fn salt(mut self, salt: &'a [u8; SALT_BYTES]) -> Options<'a> {
        self.salt = Some(salt);
        self
    }

    pub fn store(mut self, store: Store) -> Options<'a> {
        self.store = store;
        self
    }
}

impl fmt::Debug for Options<'_> {
    /// Omits the seed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("suite", &self.suite)
            .field("salt", &self.salt)
            .field("store", &self.store)
            .finish_non_exhaustive()
    }
}

/// Why an operation failed.  The key is unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// All of these leaves were punctured before.
    Punctured {
        first: u64,
        last: u64,
    },
    /// Leaves outside of the tree.
    Range {
        first: u64,
        last: u64,
    },
    /// A depth outside of 1..=63, or of 1..=32 for a key with pair slots.
    Depth(u32),
    /// A suite unknown to this library: a name, or in bytes that another version exported.
    Suite,
    /// A salt for a suite that has none, [`Suite::Sha3_256`] or [`Suite::MlsSha256`].
    Salt,
    /// A seed, a value or a buffer whose length is not that of the suite's values.
    Length,
    NoMemory,
    /// The digest or the random generator failed.
    Crypto,
    /// Bytes that `export` does not write.
    Format,
    /// The key belongs to the process that made it, which has forked this one.
    Forked,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Punctured { first, last } if first == last => write!(f, "leaf {first} is punctured already"),
            Error::Punctured { first, last } => write!(f, "leaves {first}..={last} are punctured already"),
            Error::Range { first, last } if first == last => write!(f, "leaf {first} is not in the tree"),
            Error::Range { first, last } => write!(f, "{first}..={last} is not a range of leaves of the tree"),
            Error::Depth(depth) => write!(f, "depth {depth} is not in 1..=63, or with pair slots in 1..=32"),
            Error::Suite => f.write_str("unknown suite"),
            Error::Salt => f.write_str("the suite has no salt"),
            Error::Length => f.write_str("the suite's seeds and values have another length"),
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
        sys::PPRF_ERR_FORMAT => Error::Format,
        sys::PPRF_ERR_SUITE => Error::Suite,
        sys::PPRF_ERR_FORKED => Error::Forked,
        _ => Error::Crypto,
    })
}

/// A punctured key.
pub struct Key(ptr::NonNull<sys::pprf_key>, Suite);

// SAFETY: pprf.h, "Threads": a key is not tied to a thread and allows any number of readers, or one
// writer. Functions that read take &self, functions that write &mut self.
unsafe impl Send for Key {}
unsafe impl Sync for Key {}

impl Drop for Key {
    fn drop(&mut self) {
        // SAFETY: nobody else has the key, and this is its last use
        unsafe { sys::pprf_free(self.0.as_ptr()) }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key")
            .field("depth", &self.depth())
            .field("suite", &self.suite())
            .field("nodes", &self.nodes())
            .finish_non_exhaustive()
    }
}

impl Key {
    /// A key of 2^depth leaves, 1 <= depth <= 63, with the given options.
    pub fn with(depth: u32, options: Options<'_>) -> Result<Key, Error> {
        if !(sys::PPRF_DEPTH_MIN..=sys::PPRF_DEPTH_MAX).contains(&depth) {
            return Err(Error::Depth(depth));
        }
        if matches!(options.store, Store::Slots) && depth > sys::PPRF_SLOTS_DEPTH_MAX {
            return Err(Error::Depth(depth));
        }
        let seed_bytes = options.suite.map_or(VALUE_BYTES, Suite::value_bytes);
        if options.seed.is_some_and(|seed| seed.len() != seed_bytes) {
            return Err(Error::Length);
        }
        let wanted = sys::pprf_options {
            size: size_of::<sys::pprf_options>(),
            seed: options.seed.map_or(ptr::null(), <[u8]>::as_ptr),
            depth,
            flags: 0,
            store: options.store.number(),
            suite: options.suite.map_or(0, Suite::number),
            salt: options.salt.map_or(ptr::null(), |salt| salt.as_ptr()),
        };
        let mut key = ptr::null_mut();
        // SAFETY: seed and salt are null or as many bytes as the suite takes, which the options borrow
        match unsafe { sys::pprf_setup_with(&mut key, &wanted) } {
            sys::PPRF_ERR_RANGE => return Err(Error::Salt), // depth and store are valid
            err => check(err, 0, 0)?,
        }
        Key::own(key)
    }

    fn own(key: *mut sys::pprf_key) -> Result<Key, Error> {
        let key = ptr::NonNull::new(key).ok_or(Error::Crypto)?;
        // SAFETY: the key is valid, and nobody else has it
        let number = unsafe { sys::pprf_suite(key.as_ptr()) };
        match Suite::ALL.into_iter().find(|suite| suite.number() == number) {
            Some(suite) => Ok(Key(key, suite)),
            None => {
                // SAFETY: as above
                unsafe { sys::pprf_free(key.as_ptr()) };
                Err(Error::Suite)
            }
        }
    }

    /// A key of 2^depth leaves, 1 <= depth <= 63, with a random root seed and a random salt:
    /// [`Suite::Sha3_256Salted`].
    pub fn new(depth: u32) -> Result<Key, Error> {
        Key::with(depth, Options::new())
    }

    /// A key from a root seed, with the thesis's values: [`Suite::Sha3_256`].  The caller wipes its copy.
    pub fn from_seed(depth: u32, seed: &[u8; VALUE_BYTES]) -> Result<Key, Error> {
        Key::with(depth, Options::new().seed(seed))
    }

    /// The key in bytes that `export` wrote.  Any other bytes are [`Error::Format`], and those of a
    /// suite unknown to this library [`Error::Suite`].
    pub fn import(data: &[u8]) -> Result<Key, Error> {
        Key::import_to(Store::Default, data)
    }

    /// The same with a chosen store: the bytes do not say which the key had.  [`Error::Depth`] if
    /// it is too deep for [`Store::Slots`].
    pub fn import_to(store: Store, data: &[u8]) -> Result<Key, Error> {
        let mut key = ptr::null_mut();
        let options = sys::pprf_import_options {
            size: size_of::<sys::pprf_import_options>(),
            suites: Suite::ALL.into_iter().fold(0, |set, suite| set | 1 << suite.number()),
            store: store.number(),
            flags: 0,
        };
        // SAFETY: data has this many bytes; values are read below only at the length of the key's
        // values
        match unsafe { sys::pprf_import_with(&mut key, data.as_ptr(), data.len(), &options) } {
            sys::PPRF_ERR_RANGE => return Err(Error::Depth(u32::from(data[9]))), // the types exclude unknown stores
            err => check(err, 0, 0)?,
        }
        Key::own(key)
    }

    /// Bytes of a value: [`VALUE_BYTES`], or [`WIDE_VALUE_BYTES`] in [`Suite::MlsSha256`].
    pub fn value_bytes(&self) -> usize {
        unsafe { sys::pprf_value_bytes(self.0.as_ptr()) }
    }

    /// Check that n values have this many bytes; nothing is known of another process's key.
    fn fits(&self, values: usize, bytes: usize) -> Result<(), Error> {
        match self.value_bytes() {
            0 => Err(Error::Forked),
            one if values.checked_mul(one) == Some(bytes) => Ok(()),
            _ => Err(Error::Length),
        }
    }

    fn eval_to<const N: usize>(&self, leaf: u64) -> Result<Zeroizing<[u8; N]>, Error> {
        let mut value = Zeroizing::new([0; N]);
        self.fits(1, N)?;
        // SAFETY: the key is valid while borrowed, here and below; its values have N bytes
        check(unsafe { sys::pprf_eval(self.0.as_ptr(), leaf, value.as_mut_ptr()) }, leaf, leaf)?;
        Ok(value)
    }

    fn eval_puncture_to<const N: usize>(&mut self, leaf: u64) -> Result<Zeroizing<[u8; N]>, Error> {
        let mut value = Zeroizing::new([0; N]);
        self.fits(1, N)?;
        // SAFETY: as above
        check(unsafe { sys::pprf_eval_punct(self.0.as_ptr(), leaf, value.as_mut_ptr()) }, leaf, leaf)?;
        Ok(value)
    }

    /// The value of a leaf; [`Error::Length`] in [`Suite::MlsSha256`].
    pub fn eval(&self, leaf: u64) -> Result<Value, Error> {
        self.eval_to(leaf)
    }

    /// The value of a leaf in [`Suite::MlsSha256`]; [`Error::Length`] in the others.
    pub fn eval_wide(&self, leaf: u64) -> Result<WideValue, Error> {
        self.eval_to(leaf)
    }

    /// The value of a leaf, which is punctured; [`Error::Length`] in [`Suite::MlsSha256`].
    pub fn eval_puncture(&mut self, leaf: u64) -> Result<Value, Error> {
        self.eval_puncture_to(leaf)
    }

    /// The value of a leaf in [`Suite::MlsSha256`], which is punctured; [`Error::Length`] in the
    /// others.
    pub fn eval_puncture_wide(&mut self, leaf: u64) -> Result<WideValue, Error> {
        self.eval_puncture_to(leaf)
    }

    /// Write the value of a leaf to `out`, which must be as long as the key's values; zeros on an
    /// error.  Rust copies what a function returns and wipes only the last copy, so this is the way
    /// to have no other copy.
    pub fn eval_into(&self, leaf: u64, out: &mut [u8]) -> Result<(), Error> {
        out.fill(0);
        self.fits(1, out.len())?;
        // SAFETY: as above
        check(unsafe { sys::pprf_eval(self.0.as_ptr(), leaf, out.as_mut_ptr()) }, leaf, leaf)
    }

    /// The same, and the leaf is punctured.
    ///
    /// ```
    /// let mut key = pprf::Key::new(20)?;
    /// let (before, mut out) = (key.eval(42)?, [1; 16]);
    /// key.eval_puncture_into(42, &mut out)?;
    /// assert_eq!(out, *before);
    /// assert!(key.eval_puncture_into(42, &mut out).is_err() && out == [0; 16]);
    /// assert!(key.eval_into(43, &mut out[1..]).is_err());
    /// key.eval_into(43, &mut out)?;
    /// assert_eq!(out, *key.eval(43)?);
    /// # Ok::<(), pprf::Error>(())
    /// ```
    pub fn eval_puncture_into(&mut self, leaf: u64, out: &mut [u8]) -> Result<(), Error> {
        out.fill(0);
        self.fits(1, out.len())?;
        // SAFETY: as above
        check(unsafe { sys::pprf_eval_punct(self.0.as_ptr(), leaf, out.as_mut_ptr()) }, leaf, leaf)
    }

    /// Remove the value of a leaf.  [`Error::Punctured`]: it was removed before.
    pub fn puncture(&mut self, leaf: u64) -> Result<(), Error> {
        // SAFETY: as above
        check(unsafe { sys::pprf_punct(self.0.as_ptr(), leaf) }, leaf, leaf)
    }

    /// Remove the values of consecutive leaves.  [`Error::Punctured`]: all were removed before.  An
    /// empty range, `9..=8` or one that was iterated to its end, changes nothing.
    pub fn puncture_range(&mut self, leaves: core::ops::RangeInclusive<u64>) -> Result<(), Error> {
        if leaves.is_empty() {
            return Ok(()); // std does not specify start() and end() of an exhausted range
        }
        let (first, last) = (*leaves.start(), *leaves.end());
        // SAFETY: as above
        check(unsafe { sys::pprf_punct_range(self.0.as_ptr(), first, last) }, first, last)
    }

    /// A key that gives the values of these leaves that this one gives, and no others.  Later punctures
    /// of one key do not reach the other.  [`Error::Punctured`]: nothing is left there;
    /// [`Error::Range`]: the range is empty, or not in the tree.
    ///
    /// ```
    /// let year = pprf::Key::new(20)?;
    /// let march = year.delegate(59..=89)?;
    /// assert_eq!(march.eval(60)?, year.eval(60)?);
    /// assert!(march.eval(90).is_err());
    /// # Ok::<(), pprf::Error>(())
    /// ```
    pub fn delegate(&self, leaves: core::ops::RangeInclusive<u64>) -> Result<Key, Error> {
        let (first, last) = (*leaves.start(), *leaves.end());
        if leaves.is_empty() {
            return Err(Error::Range { first, last });
        }
        let mut part = ptr::null_mut();
        // SAFETY: as above
        check(unsafe { sys::pprf_delegate(self.0.as_ptr(), first, last, &mut part) }, first, last)?;
        Key::own(part)
    }

    fn batch(&self, err: c_int, leaves: &[u64], result: Vec<c_int>) -> Result<Vec<bool>, Error> {
        let depth = self.depth();
        let wrong = leaves.iter().copied().find(|leaf| leaf >> depth != 0).unwrap_or(0);
        check(err, wrong, wrong)?;
        Ok(result.into_iter().map(|err| err == sys::PPRF_OK).collect())
    }

    /// Write the values of many leaves, in any order and with repeats, to `out`,
    /// [`Key::value_bytes`] each, and return which leaves have one; the others get zeros, and all do
    /// on an error.  Ascending order shares most work.
    pub fn eval_many(&self, leaves: &[u64], out: &mut [u8]) -> Result<Vec<bool>, Error> {
        out.fill(0);
        self.fits(leaves.len(), out.len())?;
        let mut result = vec![0; leaves.len()];
        // SAFETY: the lengths are those of the slices
        let err = unsafe {
            sys::pprf_eval_batch(self.0.as_ptr(), leaves.as_ptr(), leaves.len(), out.as_mut_ptr(), result.as_mut_ptr())
        };
        self.batch(err, leaves, result)
    }

    /// Remove the values of many leaves, all or none, and return for each whether this call did it.
    pub fn puncture_many(&mut self, leaves: &[u64]) -> Result<Vec<bool>, Error> {
        let mut result = vec![0; leaves.len()];
        // SAFETY: as above
        let err = unsafe { sys::pprf_punct_batch(self.0.as_ptr(), leaves.as_ptr(), leaves.len(), result.as_mut_ptr()) };
        self.batch(err, leaves, result)
    }

    /// The canonical encoding: equal keys give equal bytes.  It is as secret as the key, and wiped
    /// when dropped.
    pub fn export(&self) -> Result<Zeroizing<Vec<u8>>, Error> {
        let mut len = 0;
        // SAFETY: without a buffer only the length is computed; then the buffer has that length
        check(unsafe { sys::pprf_export(self.0.as_ptr(), ptr::null_mut(), &mut len) }, 0, 0)?;
        let mut data = Zeroizing::new(vec![0; len]);
        check(unsafe { sys::pprf_export(self.0.as_ptr(), data.as_mut_ptr(), &mut len) }, 0, 0)?;
        Ok(data)
    }

    /// Pre-fault the memory of a key with pair slots: no later puncture waits for a page.
    pub fn prefault(&mut self) -> Result<(), Error> {
        // SAFETY: as above; also for the functions below
        check(unsafe { sys::pprf_prefault(self.0.as_ptr()) }, 0, 0)
    }

    /// The suite, which derives child seeds from a node's seed.
    pub const fn suite(&self) -> Suite {
        self.1
    }

    /// Levels of the tree below its root.
    pub fn depth(&self) -> u32 {
        unsafe { sys::pprf_depth(self.0.as_ptr()) }
    }

    /// Number of stored seeds.
    pub fn nodes(&self) -> usize {
        unsafe { sys::pprf_node_count(self.0.as_ptr()) }
    }

    /// Bytes of memory that the key actually uses.
    pub fn memory_bytes(&self) -> usize {
        unsafe { sys::pprf_memory_bytes(self.0.as_ptr()) }
    }
}
