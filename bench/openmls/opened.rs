// SPDX-License-Identifier: Apache-2.0
//! A module that build.sh adds to a copy of OpenMLS's `schedule`. It makes the tree of the
//! application exporter, which is private to the crate, callable. It computes nothing itself.
use super::pprf::{Pprf, PprfError, Prefix16};
use crate::{
    binary_tree::array_representation::TreeSize, ciphersuite::Secret,
    tree::secret_tree::derive_child_secrets,
};
use openmls_traits::{crypto::OpenMlsCrypto, types::Ciphersuite};

/// As `ApplicationExportTree`: 2^16 leaves.
pub struct Tree(Pprf<Prefix16>);

impl Tree {
    /// A tree with one node, the root.
    pub fn new(root: &[u8]) -> Self {
        let size = TreeSize::from_leaf_count(u16::MAX as u32);
        Tree(Pprf::new_with_size(Secret::from_slice(root), size))
    }

    /// Evaluate at a leaf and puncture it: there is no other operation.
    pub fn evaluate(
        &mut self,
        crypto: &impl OpenMlsCrypto,
        suite: Ciphersuite,
        leaf: u16,
        out: &mut [u8],
    ) -> Result<(), PprfError> {
        out.copy_from_slice(self.0.evaluate(crypto, suite, &leaf)?.as_slice());
        Ok(())
    }
}

/// A chain of that many expansions of a seed: only its PRG calls.
pub fn expansions(crypto: &impl OpenMlsCrypto, suite: Ciphersuite, root: &[u8], n: u64) -> u8 {
    let mut seed = Secret::from_slice(root);
    for _ in 0..n {
        seed = derive_child_secrets(&seed, crypto, suite).unwrap().0;
    }
    seed.as_slice()[0]
}
