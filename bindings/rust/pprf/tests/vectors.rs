// SPDX-License-Identifier: Apache-2.0
//! The committed vectors, and what the types promise.
use pprf::{Error, Key, Options, Store, Suite};
use serde_json::Value as Json;
use std::collections::HashSet;

#[path = "../../methods.rs"]
mod methods;

const TREE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../");

fn load(name: &str) -> Json {
    let path = format!("{TREE}equivalence-tests/vectors/{name}");
    serde_json::from_slice(&std::fs::read(&path).expect(&path)).expect(&path)
}

fn unhex(v: &Json) -> Vec<u8> {
    let s = v.as_str().unwrap();
    (0..s.len()).step_by(2).map(|i| u8::from_str_radix(&s[i..i + 2], 16).unwrap()).collect()
}

fn fresh(group: &Json) -> Key {
    let seed = unhex(&group["seed"]).try_into().unwrap();
    Key::from_seed(group["depth"].as_u64().unwrap() as u32, &seed).unwrap()
}

#[test]
fn eval_vectors() {
    let (file, mut count) = (load("eval.json"), 0);
    for group in file["groups"].as_array().unwrap() {
        let key = fresh(group);
        let tests = group["tests"].as_array().unwrap();
        let leaves: Vec<u64> = tests.iter().map(|t| t["leaf"].as_u64().unwrap()).collect();
        let want: Vec<u8> = tests.iter().flat_map(|t| unhex(&t["value"])).collect();
        let one: Vec<u8> = leaves.iter().flat_map(|leaf| key.eval(*leaf).unwrap().to_vec()).collect();
        let mut many = vec![1; want.len()];
        assert_eq!(key.eval_many(&leaves, &mut many).unwrap(), vec![true; leaves.len()]);
        assert_eq!((&one, &many), (&want, &want), "{group}");
        count += leaves.len();
    }
    assert_eq!(Some(count as u64), file["count"].as_u64());
}

/// A group's key; without a suite, the one that a given seed has.
fn of_suite(group: &Json, store: Store) -> (Key, Suite) {
    let seed = unhex(&group["seed"]);
    let mut options = Options::new().store(store);
    options = match <&[u8; 32]>::try_from(&seed[..]) {
        Ok(wide) => options.wide_seed(wide),
        Err(_) => options.seed(seed[..].try_into().unwrap()),
    };
    let (salt, mut suite) = (group.get("salt").map(|salt| unhex(salt).try_into().unwrap()), Suite::Sha3_256);
    if let Some(name) = group.get("suite") {
        suite = name.as_str().unwrap().parse().unwrap();
        options = options.suite(suite);
    }
    if let Some(salt) = &salt {
        options = options.salt(salt);
    }
    (Key::with(group["depth"].as_u64().unwrap() as u32, options).unwrap(), suite)
}

#[test]
fn puncture_vectors() {
    for store in [Store::Default, Store::Slots, Store::Packed] {
        assert_eq!(puncture_vectors_of("puncture.json", store), HashSet::from([Suite::Sha3_256]));
        let salted = HashSet::from([Suite::Sha3_256Salted, Suite::Aes128]);
        assert_eq!(puncture_vectors_of("suites.json", store), salted);
        assert_eq!(puncture_vectors_of("mls.json", store), HashSet::from([Suite::MlsSha256]));
    }
}

/// The suites in the file.
fn puncture_vectors_of(name: &str, store: Store) -> HashSet<Suite> {
    let (file, mut suites) = (load(name), HashSet::new());
    for group in file["groups"].as_array().unwrap() {
        if matches!(store, Store::Slots) && group["depth"].as_u64().unwrap() > 32 {
            continue; // no such key exists
        }
        let (mut key, suite) = of_suite(group, store);
        assert_eq!(key.suite(), suite);
        suites.insert(suite);
        for op in group["operations"].as_array().unwrap() {
            let leaf = op["leaf"].as_u64().unwrap_or(0);
            let range = op["first"].as_u64().unwrap_or(0)..=op["last"].as_u64().unwrap_or(0);
            let got = match op["op"].as_str().unwrap() {
                "eval" if suite == Suite::MlsSha256 => key.eval_wide(leaf).map(|v| Some(v.to_vec())),
                "eval" => key.eval(leaf).map(|v| Some(v.to_vec())),
                "eval_punct" if suite == Suite::MlsSha256 => key.eval_puncture_wide(leaf).map(|v| Some(v.to_vec())),
                "eval_punct" => key.eval_puncture(leaf).map(|v| Some(v.to_vec())),
                "punct" => key.puncture(leaf).map(|()| None),
                "range" => key.puncture_range(range.clone()).map(|()| None),
                "delegate" => key.delegate(range.clone()).map(|part| Some(part.export().unwrap().to_vec())),
                other => panic!("{other}"),
            };
            let (first, last) = if op.get("first").is_some() { range.into_inner() } else { (leaf, leaf) };
            let want = match op["result"].as_str().unwrap() {
                "ok" => Ok(op.get("value").or(op.get("key")).map(unhex)),
                "punctured" => Err(Error::Punctured { first, last }),
                "range" if first > last && op["op"] == "range" => Ok(None), // an empty range is allowed
                "range" => Err(Error::Range { first, last }),
                other => panic!("{other}"),
            };
            assert_eq!(got, want, "{op}");
        }
        assert_eq!(*key.export().unwrap(), unhex(&group["key"]), "{}", group["comment"]);
        assert_eq!(Some(key.nodes() as u64), group["nodes"].as_u64());
        let copy = Key::import(&unhex(&group["key"])).unwrap(); // made by another implementation
        assert_eq!((copy.suite(), copy.export().unwrap()), (suite, key.export().unwrap()));
    }
    suites
}

#[test]
fn encoding_vectors() {
    for (name, results) in [("encoding.json", 2), ("encoding2.json", 3), ("encoding_mls.json", 3)] {
        let (file, mut seen) = (load(name), HashSet::new());
        for test in file["tests"].as_array().unwrap() {
            if name == "encoding2.json" && test["reason"].as_str().unwrap().starts_with("suite 4") {
                continue; // for decoders that reject keys with 32-byte seeds
            }
            let data = unhex(&test["key"]);
            seen.insert(test["result"].as_str().unwrap());
            match Key::import(&data) {
                Ok(key) => assert!(test["result"] == "ok" && *key.export().unwrap() == data, "{test}"),
                Err(Error::Suite) => assert!(test["result"] == "suite", "{test}"),
                Err(error) => assert!(test["result"] == "format" && error == Error::Format, "{test}: {error}"),
            }
        }
        assert_eq!(seen.len(), results, "{seen:?}");
    }
}

#[test]
fn random_roots_are_salted_and_given_ones_are_not() {
    let (seed, salt) = ([3; 16], *b"sixteen bytes...");
    let (new, bare) = (Options::new(), Suite::Sha3_256);
    let mut files = Vec::new();
    for (options, suite, version) in [
        (new, Suite::Sha3_256Salted, 2),
        (new, Suite::Sha3_256Salted, 2),
        (new.seed(&seed), bare, 1),
        (new.suite(bare), bare, 1),
        (new.salt(&salt), Suite::Sha3_256Salted, 2),
        (new.suite(Suite::Aes128).store(Store::Packed), Suite::Aes128, 2),
    ] {
        let key = Key::with(9, options).unwrap();
        let file = key.export().unwrap();
        assert_eq!((key.suite(), file[7]), (suite, version), "{options:?}");
        files.push(file);
    }
    assert_ne!(files[0][20..36], files[1][20..36]); // salts
    assert_ne!(files[0][38..54], files[1][38..54]); // seeds
    assert_eq!(files[4][20..36], salt);
    assert_eq!(Key::new(9).unwrap().suite(), Suite::Sha3_256Salted);
    assert_eq!(Key::from_seed(9, &seed).unwrap().export().unwrap(), files[2]);
}

#[test]
fn a_packed_key_is_small_and_its_values_are_the_same() {
    let [packed, slots] = [Store::Packed, Store::Slots].map(|store| {
        let mut key = Key::with(32, Options::new().seed(&[0; 16]).store(store)).unwrap();
        key.puncture(77).unwrap();
        key
    });
    assert!(packed.memory_bytes() < 2000 && slots.memory_bytes() > 2000);
    let data = packed.export().unwrap();
    assert_eq!(data, slots.export().unwrap());
    let [packed, slots] = [Store::Packed, Store::Slots].map(|store| Key::import_to(store, &data).unwrap());
    assert!(packed.memory_bytes() < 2000 && slots.memory_bytes() > 2000);
    assert_eq!(packed.export().unwrap(), data);
    let deep = Key::new(33).unwrap().export().unwrap();
    assert_eq!(Key::import_to(Store::Slots, &deep).unwrap_err(), Error::Depth(33));
}

#[test]
fn a_deep_key_has_its_last_leaf_and_all_of_its_leaves() {
    let last = (1u64 << 63) - 1;
    let mut key = Key::from_seed(63, &[0; 16]).unwrap();
    key.eval_puncture(last).unwrap();
    assert_eq!((key.depth(), key.nodes()), (63, 63));
    assert_eq!(key.puncture(last + 1).unwrap_err(), Error::Range { first: last + 1, last: last + 1 });
    assert_eq!(Key::import(&key.export().unwrap()).unwrap().export().unwrap(), key.export().unwrap());
    key.puncture_range(0..=last).unwrap();
    assert_eq!(key.nodes(), 0);
}

#[test]
fn an_empty_range_changes_nothing() {
    let mut key = Key::from_seed(4, &[0; 16]).unwrap();
    let mut ended = 3..=5;
    assert_eq!(ended.by_ref().count(), 3);
    assert!(ended.is_empty() && key.puncture_range(ended).is_ok());
    #[allow(clippy::reversed_empty_ranges)]
    for empty in [9..=8, 1..=0, 100..=16] {
        key.puncture_range(empty).unwrap();
    }
    assert_eq!(key.nodes(), 1);
    let mut begun = 3..=5;
    begun.next();
    key.puncture_range(begun).unwrap();
    assert!(key.eval(3).is_ok() && key.eval(4).is_err() && key.eval(5).is_err());
    assert_eq!(key.puncture_range(16..=16).unwrap_err(), Error::Range { first: 16, last: 16 });
}

#[test]
fn a_delegated_key_is_the_key_punctured_outside_of_its_range() {
    for suite in [Suite::Sha3_256, Suite::Sha3_256Salted, Suite::Aes128, Suite::MlsSha256] {
        let mut key = Key::with(40, Options::new().suite(suite)).unwrap();
        key.puncture(9).unwrap();
        let part = key.delegate(8..=11).unwrap();
        let mut rest = Key::import(&key.export().unwrap()).unwrap();
        rest.puncture_range(0..=7).unwrap();
        rest.puncture_range(12..=(1 << 40) - 1).unwrap();
        assert_eq!((part.export().unwrap(), part.nodes()), (rest.export().unwrap(), 2));
        key.puncture(10).unwrap();
        part.eval_into(10, &mut vec![0; part.value_bytes()]).unwrap();
        assert_eq!(key.delegate(9..=10).unwrap_err(), Error::Punctured { first: 9, last: 10 });
        assert_eq!(key.delegate(3..=1 << 40).unwrap_err(), Error::Range { first: 3, last: 1 << 40 });
        #[allow(clippy::reversed_empty_ranges)]
        let empty = key.delegate(9..=8);
        assert_eq!(empty.unwrap_err(), Error::Range { first: 9, last: 8 });
    }
}

#[test]
fn what_does_not_fit_a_suite_is_named() {
    let bytes = [0; 16];
    for options in [Options::new().suite(Suite::Sha3_256), Options::new().seed(&bytes)] {
        let error = Key::with(4, options.salt(&bytes)).unwrap_err();
        assert_eq!((error, error.to_string().as_str()), (Error::Salt, "the suite has no salt"));
    }
    let (wide, mls) = ([0; 32], Options::new().suite(Suite::MlsSha256));
    assert_eq!(Key::with(4, mls.salt(&bytes)).unwrap_err(), Error::Salt);
    for options in [mls.seed(&bytes), Options::new().wide_seed(&wide), mls.wide_seed(&wide).suite(Suite::Aes128)] {
        assert_eq!(Key::with(4, options).unwrap_err(), Error::Length);
    }
    for name in ["", "sha3", "AES-128", "sha3-256 "] {
        assert_eq!(name.parse::<Suite>(), Err(Error::Suite));
    }
    for (suite, name) in [
        (Suite::Sha3_256, "sha3-256"),
        (Suite::Sha3_256Salted, "sha3-256-salted"),
        (Suite::Aes128, "aes-128"),
        (Suite::MlsSha256, "mls-sha256"),
    ] {
        assert_eq!(suite.value_bytes(), if suite == Suite::MlsSha256 { 32 } else { 16 });
        assert_eq!((suite.to_string().as_str(), name.parse()), (name, Ok(suite)));
    }
    assert_eq!(Key::with(64, Options::new()).unwrap_err(), Error::Depth(64));
    assert_eq!(Key::with(33, Options::new().store(Store::Slots)).unwrap_err(), Error::Depth(33));
    let shown = format!("{:?}", Options::new().seed(&[77; 16]).suite(Suite::Aes128));
    assert!(shown.contains("Aes128") && !shown.contains("77"), "{shown}");
}

#[test]
fn values_have_as_many_bytes_as_the_suite_says() {
    let mut key = Key::with(6, Options::new().suite(Suite::MlsSha256)).unwrap();
    let copy = Key::import(&key.export().unwrap()).unwrap();
    assert_eq!((key.value_bytes(), copy.value_bytes(), copy.suite()), (32, 32, Suite::MlsSha256));
    let (value, mut many) = (copy.eval_wide(9).unwrap(), [1; 64]);
    assert_eq!(key.eval_many(&[9, 9], &mut many).unwrap(), [true, true]);
    assert_eq!((&many[..32], &many[32..]), (&value[..], &value[..]));
    assert_eq!(key.eval_many(&[9, 9], &mut many[..32]).unwrap_err(), Error::Length);
    assert_eq!((key.eval(9).unwrap_err(), key.eval_puncture(9).unwrap_err()), (Error::Length, Error::Length));
    assert_eq!((key.nodes(), &key.eval_puncture_wide(9).unwrap()), (1, &value));
    assert_eq!(key.eval_wide(9).unwrap_err(), Error::Punctured { first: 9, last: 9 });
    let mut narrow = Key::new(6).unwrap();
    assert_eq!(narrow.value_bytes(), 16);
    assert_eq!((narrow.eval_wide(1).unwrap_err(), narrow.nodes()), (Error::Length, 1));
    assert_eq!((narrow.eval_puncture_wide(1).unwrap_err(), narrow.nodes()), (Error::Length, 1));
}

#[test]
fn errors_name_the_leaf() {
    let mut key = Key::new(8).unwrap();
    assert_eq!(key.eval(256).unwrap_err().to_string(), "leaf 256 is not in the tree");
    assert_eq!(key.puncture_many(&[1, 300]).unwrap_err(), Error::Range { first: 300, last: 300 });
    assert_eq!(key.nodes(), 1);
    assert_eq!(key.puncture_many(&[7, 7, 8]).unwrap(), [true, false, true]);
    assert_eq!(key.puncture(7).unwrap_err().to_string(), "leaf 7 is punctured already");
    let mut out = [1; 32];
    assert_eq!(key.eval_many(&[7, 9], &mut out).unwrap(), [false, true]);
    assert_eq!(out[..16], [0; 16]);
    assert_eq!(key.eval_many(&[7, 9], &mut out[..31]).unwrap_err(), Error::Length);
    assert_eq!(out, [[0; 31].as_slice(), &key.eval(9).unwrap()[15..]].concat()[..]);
    assert_eq!(key.eval_many(&[9, 256], &mut out).unwrap_err(), Error::Range { first: 256, last: 256 });
    assert_eq!(out, [0; 32]);
    assert_eq!(Key::new(0).unwrap_err(), Error::Depth(0));
    assert_eq!(Key::new(64).unwrap_err(), Error::Depth(64));
}

#[test]
fn threads_read_one_key() {
    let key = Key::new(16).unwrap();
    let want = key.eval(5).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..1000).for_each(|_| assert_eq!(key.eval(5).unwrap(), want)));
        }
    });
    std::thread::spawn(move || drop(key)).join().unwrap(); // a key may move to another thread
}

// There is no key that was never made, no copy of one, and none that is closed and can be asked.
has_none!(Key, Clone, Copy, Default);

const FORKED: Option<Error> = Some(Error::Forked);

/// Nothing outside the buffer is written, whatever its length.
fn into(mut call: impl FnMut(&mut [u8]) -> Option<Error>) -> bool {
    [0, 16, 32].into_iter().all(|size| {
        let mut out = [1; 96];
        call(&mut out[32..32 + size]) == FORKED && out[..32] == [1; 32] && out[32 + size..].iter().all(|b| *b == 1)
    })
}

type Asked = (&'static str, fn(&mut Key) -> bool);

/// What each method does with another process's key.
const ASKED: [Asked; 20] = [
    ("delegate", |key| key.delegate(1..=2).err() == FORKED),
    ("depth", |key| key.depth() == 0),
    ("drop", |_| true), // dropped by the test
    ("eval", |key| key.eval(1).err() == FORKED),
    ("eval_into", |key| into(|out| key.eval_into(1, out).err())),
    ("eval_many", |key| into(|out| key.eval_many(&[], out).err()) && into(|out| key.eval_many(&[1, 2], out).err())),
    ("eval_puncture", |key| key.eval_puncture(1).err() == FORKED),
    ("eval_puncture_into", |key| into(|out| key.eval_puncture_into(1, out).err())),
    ("eval_puncture_wide", |key| key.eval_puncture_wide(1).err() == FORKED),
    ("eval_wide", |key| key.eval_wide(1).err() == FORKED),
    ("export", |key| key.export().err() == FORKED),
    ("fmt", |key| format!("{key:?}").contains("depth: 0")),
    ("memory_bytes", |key| key.memory_bytes() == 0),
    ("nodes", |key| key.nodes() == 0),
    ("prefault", |key| key.prefault().err() == FORKED),
    ("puncture", |key| key.puncture(1).err() == FORKED),
    ("puncture_many", |key| key.puncture_many(&[1]).err() == FORKED && key.puncture_many(&[]).err() == FORKED),
    ("puncture_range", |key| key.puncture_range(1..=1 << 40).err() == FORKED),
    ("suite", |key| [Suite::MlsSha256, Suite::Sha3_256Salted].contains(&key.suite())), // as set up
    ("value_bytes", |key| key.value_bytes() == 0),
];

#[test]
fn a_child_cannot_use_its_parents_keys() {
    let source = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/lib.rs")).unwrap();
    assert_eq!(ASKED.map(|(name, _)| name).to_vec(), methods::of(&source, "Key"), "a method that is not asked");
    let mut wide = Key::with(8, Options::new().suite(Suite::MlsSha256)).unwrap();
    let mut deep = Key::new(63).unwrap();
    for (name, ask) in ASKED {
        assert!(methods::in_child(|| ask(&mut wide) && ask(&mut deep)), "{name}");
    }
    assert!(methods::in_child(move || {
        drop((wide, deep));
        Key::new(63).and_then(|mut own| own.eval_puncture(1)).is_ok()
    }));
}

#[test]
fn a_parents_keys_stay_whole_when_a_child_drops_them() {
    let mut key = Key::new(63).unwrap();
    let before = key.export().unwrap();
    assert!(methods::in_child(|| {
        // SAFETY: the child exits without using it again
        unsafe { std::ptr::drop_in_place(&mut key) };
        true
    }));
    assert_eq!((key.export().unwrap(), key.puncture(1)), (before, Ok(())));
}

#[test]
fn the_declarations_are_the_headers() {
    let header = std::fs::read_to_string(format!("{TREE}include/pprf.h")).unwrap();
    let ours = std::fs::read_to_string(format!("{TREE}bindings/rust/pprf-sys/src/lib.rs")).unwrap();
    let name = |line: &str, end: &str| line.split(end).next().unwrap().rsplit([' ', '*']).next().unwrap().to_string();
    let declared: Vec<String> =
        header.lines().filter_map(|l| l.strip_prefix("PPRF_API ")).map(|l| name(l, "(")).collect();
    let bound: Vec<String> =
        ours.lines().filter_map(|l| l.trim().strip_prefix("pub fn ")).map(|l| name(l, "(")).collect();
    assert!(declared.len() > 20);
    assert_eq!(declared, bound);
    for line in ours.lines().filter(|l| l.starts_with("pub const PPRF_")) {
        let words: Vec<&str> = line.trim_end_matches(';').split([' ', ':']).filter(|w| !w.is_empty()).collect();
        let (name, value) = (words[2], words.last().unwrap());
        let found = header.lines().any(|l| {
            let l: Vec<&str> = l.split([' ', ',']).filter(|w| !w.is_empty()).collect();
            l.len() > 2
                && (l[..2] == [name, "="] && l[2] == *value
                    || l[..2] == ["#define", name] && l[2].trim_end_matches('u') == *value)
        });
        assert!(found, "{line}");
    }
    let version = format!("\"{}\"", env!("CARGO_PKG_VERSION"));
    assert!(header.contains(&format!("#define PPRF_VERSION {version}")), "{version}");
}
