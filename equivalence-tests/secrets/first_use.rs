// SPDX-License-Identifier: Apache-2.0
//! first_use.c in Rust; first_use.py builds it in a separate crate.
use pprf::{Error, Key, Options, Store, Suite};
use std::io::{Read, Write};

const DEPTH: u32 = 12;
const LAST: u64 = (1 << DEPTH) - 1;
const LEAF: u64 = 1234;
const MANY: usize = 40;

fn clear(bytes: &mut [u8]) {
    for byte in bytes {
        unsafe { std::ptr::write_volatile(byte, 0) }
    }
}

/// Read standard input without a buffer.
fn read_all(to: &mut [u8]) {
    use std::os::fd::FromRawFd;
    let mut input = std::mem::ManuallyDrop::new(unsafe { std::fs::File::from_raw_fd(0) });
    if input.read_exact(to).is_err() {
        std::process::exit(2);
    }
}

fn stop(result: Result<(), Error>) {
    use std::os::fd::FromRawFd;
    let mut output = std::mem::ManuallyDrop::new(unsafe { std::fs::File::from_raw_fd(1) });
    if output.write_all(&[u8::from(result.is_err())]).is_err() {
        std::process::exit(2);
    }
    read_all(&mut [0]);
}

fn operate(mut key: Key, name: &str) -> (Option<Key>, Result<(), Error>) {
    let leaves: Vec<u64> = (0..MANY as u64).map(|i| (LEAF + 977 * i) & LAST).collect();
    let mut values = vec![0; MANY * key.value_bytes()];
    let bytes = key.value_bytes();
    let result = match name {
        "eval" => key.eval_into(LEAF, &mut values[..bytes]),
        "punct" => key.puncture(LEAF),
        "eval_punct" => key.eval_puncture_into(LEAF, &mut values[..bytes]),
        "punct_range" => key.puncture_range(LEAF..=LEAF + 99),
        "delegate" => key.delegate(LEAF..=LEAF + 99).map(drop),
        "eval_batch" => key.eval_many(&leaves, &mut values).map(|_| ()),
        "punct_batch" => key.puncture_many(&leaves).map(|_| ()),
        "export" => key.export().map(|_| ()),
        "prefault" => key.prefault(),
        "grow" => (1..=LAST / 2 + 1).try_for_each(|at| {
            key.eval_puncture_into((LEAF + 2 * at) & LAST, &mut values[..bytes])
        }),
        "free" => {
            drop(key);
            return (None, Ok(()));
        }
        _ => Ok(()),
    };
    clear(&mut values);
    (Some(key), result)
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let (mut root, mut size) = ([0; 16], [0; 2]);
    read_all(&mut root);
    read_all(&mut [0; 16]);
    read_all(&mut size);
    let mut file = vec![0; size[0] as usize + 256 * size[1] as usize];
    read_all(&mut file);
    let store = if arguments[3] == "1" { Store::Slots } else { Store::Packed };
    stop(Ok(()));
    let key = if arguments[1] == "import" {
        Key::import_to(store, &file)
    } else {
        Key::with(DEPTH, Options::new().seed(&root).suite(Suite::Sha3_256).store(store))
    };
    clear(&mut root);
    clear(&mut file);
    let result = key.as_ref().map(|_| ()).map_err(|error| *error);
    stop(result);
    let (key, result) = operate(key.unwrap(), &arguments[1]);
    stop(result);
    drop(key);
}
