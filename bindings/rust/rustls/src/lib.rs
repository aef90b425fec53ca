// SPDX-License-Identifier: Apache-2.0
//! A ticketer for a rustls with the lines of insert.py: tickets are used up after the binder, and give early data.
use rustls::server::ProducesTickets;
use std::sync::Arc;

/// A ticket remains valid until the client has proved that it knows the ticket's secret.
#[derive(Debug)]
pub struct AfterBinder(pub Arc<pprf_rustls::Ticketer>);

impl ProducesTickets for AfterBinder {
    fn enabled(&self) -> bool {
        true
    }

    fn lifetime(&self) -> u32 {
        self.0.lifetime()
    }

    fn encrypt(&self, plain: &[u8]) -> Option<Vec<u8>> {
        self.0.encrypt(plain)
    }

    fn decrypt(&self, ticket: &[u8]) -> Option<Vec<u8>> {
        self.0.open(ticket).map(|mut plain| std::mem::take(&mut *plain))
    }

    fn single_use(&self) -> bool {
        true
    }

    fn redeem(&self, ticket: &[u8]) -> bool {
        self.0.redeem(ticket).is_some()
    }
}
