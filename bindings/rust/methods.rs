// SPDX-License-Identifier: Apache-2.0
//! For tests.  Rust has no reflection: a type's methods are read from the source, so that a test can ask for each.

/// The names of the methods that users can call on a value of a type, including trait methods, in
/// ascending order.
pub fn of(source: &str, name: &str) -> Vec<String> {
    let mut found = Vec::new();
    for item in syn::parse_file(source).unwrap().items {
        let syn::Item::Impl(block) = item else { continue };
        if !matches!(&*block.self_ty, syn::Type::Path(of) if of.path.is_ident(name)) {
            continue;
        }
        for item in block.items {
            let syn::ImplItem::Fn(f) = item else { continue };
            let public = block.trait_.is_some() || matches!(f.vis, syn::Visibility::Public(_));
            if public && f.sig.receiver().is_some() {
                found.push(f.sig.ident.to_string());
            }
        }
    }
    found.sort();
    assert!(found.len() > 3, "{found:?}");
    found
}

/// Whether the check holds in a child of fork.  It must not panic.
pub fn in_child(check: impl FnOnce() -> bool) -> bool {
    extern "C" {
        fn fork() -> i32;
        fn waitpid(child: i32, status: *mut i32, options: i32) -> i32;
        fn _exit(status: i32) -> !;
    }
    // SAFETY: the child needs no lock but malloc's, and leaves no test; status is ours
    unsafe {
        let child = fork();
        if child == 0 {
            _exit(i32::from(!check()))
        }
        let mut status = 1;
        assert_eq!(waitpid(child, &mut status, 0), child);
        status == 0
    }
}

/// Compiles only if a type has no Clone, Copy or Default: if it had one, two candidates would be
/// ambiguous.
#[macro_export]
macro_rules! has_none {
    ($type:ty, $($of:path),+) => {$(const _: fn() = || {
        trait Of<A> {
            fn is() {}
        }
        impl<T: ?Sized> Of<()> for T {}
        impl<T: ?Sized + $of> Of<u8> for T {}
        <$type as Of<_>>::is()
    };)+};
}
