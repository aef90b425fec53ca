// SPDX-License-Identifier: Apache-2.0
//! A payment in the early data of a first flight, and copies of that flight.
use after_binder::AfterBinder;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::ProducesTickets;
use rustls::version::{TLS12, TLS13};
use rustls::{
    ClientConfig, ClientConnection, Error, HandshakeKind, PeerMisbehaved, RootCertStore, ServerConfig,
    ServerConnection, SupportedProtocolVersion,
};
use std::io::{Read, Write};
use std::sync::Arc;

const PAYMENT: &[u8] = b"PAY 100";

struct Pair {
    client: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
}

fn pair(ticketer: Arc<dyn ProducesTickets>, version: &'static SupportedProtocolVersion) -> Pair {
    let made = rcgen::generate_simple_self_signed(["x".to_string()]).unwrap();
    let chain: Vec<CertificateDer<'static>> = vec![made.cert.der().clone()];
    let mut roots = RootCertStore::empty();
    roots.add(chain[0].clone()).unwrap();
    let key = PrivateKeyDer::try_from(made.key_pair.serialize_der()).unwrap();
    let mut server = ServerConfig::builder_with_protocol_versions(&[version])
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    server.ticketer = ticketer;
    server.max_early_data_size = 1024;
    let mut client = ClientConfig::builder_with_protocol_versions(&[version])
        .with_root_certificates(roots)
        .with_no_client_auth();
    client.enable_early_data = true;
    Pair { client: Arc::new(client), server: Arc::new(server) }
}

fn ours() -> Arc<pprf_rustls::Ticketer> {
    pprf_rustls::Ticketer::new(10, 600).unwrap()
}

fn flight_of(c: &mut ClientConnection) -> Vec<u8> {
    let mut wire = Vec::new();
    while c.wants_write() {
        c.write_tls(&mut wire).unwrap();
    }
    wire
}

impl Pair {
    fn client(&self) -> ClientConnection {
        ClientConnection::new(self.client.clone(), ServerName::try_from("x").unwrap()).unwrap()
    }

    /// What a server does with arriving bytes: accepts a connection, or why not.
    fn deliver(&self, wire: &[u8]) -> Result<ServerConnection, Error> {
        let mut s = ServerConnection::new(self.server.clone()).unwrap();
        let mut rest = wire;
        while !rest.is_empty() {
            s.read_tls(&mut rest).unwrap();
            s.process_new_packets()?;
        }
        Ok(s)
    }

    /// Continue to the end of the handshake and the tickets after it.
    fn finish(&self, c: &mut ClientConnection, s: &mut ServerConnection) {
        for _ in 0..8 {
            let mut wire = Vec::new();
            while s.wants_write() {
                s.write_tls(&mut wire).unwrap();
            }
            let mut rest = &wire[..];
            while !rest.is_empty() {
                c.read_tls(&mut rest).unwrap();
                c.process_new_packets().unwrap();
            }
            let wire = flight_of(c);
            let mut rest = &wire[..];
            while !rest.is_empty() {
                s.read_tls(&mut rest).unwrap();
                s.process_new_packets().unwrap();
            }
        }
        assert!(!c.is_handshaking() && !s.is_handshaking());
    }

    fn full(&self) {
        let mut c = self.client();
        let mut s = self.deliver(&flight_of(&mut c)).unwrap();
        self.finish(&mut c, &mut s);
        assert_eq!(s.handshake_kind(), Some(HandshakeKind::Full));
    }

    /// A client with a ticket, and its first flight, with the payment in it if early data is
    /// allowed.
    fn resuming(&self) -> (ClientConnection, Vec<u8>) {
        let mut c = self.client();
        if let Some(mut early) = c.early_data() {
            early.write_all(PAYMENT).unwrap();
        }
        let wire = flight_of(&mut c);
        (c, wire)
    }
}

fn early(s: &mut ServerConnection) -> Vec<u8> {
    let mut got = Vec::new();
    if let Some(mut data) = s.early_data() {
        data.read_to_end(&mut got).unwrap();
    }
    got
}

/// The flight with a wrong binder, which is the end of the ClientHello, the flight's first record.
fn with_a_bad_binder(flight: &[u8]) -> Vec<u8> {
    let mut bad = flight.to_vec();
    let hello = 5 + usize::from(u16::from_be_bytes([bad[3], bad[4]]));
    bad[hello - 1] ^= 1;
    bad.truncate(hello);
    bad
}

#[test]
fn a_payment_is_delivered_once_and_replays_are_refused() {
    let tickets = ours();
    let pair = pair(Arc::new(AfterBinder(tickets.clone())), &TLS13);
    pair.full();
    let (mut c, flight) = pair.resuming();
    let mut s = pair.deliver(&flight).unwrap();
    assert_eq!(early(&mut s), PAYMENT);
    for _ in 0..3 {
        let mut copy = pair.deliver(&flight).unwrap();
        assert_eq!(early(&mut copy), b"");
        assert_eq!(copy.handshake_kind(), Some(HandshakeKind::Full));
    }
    pair.finish(&mut c, &mut s);
    assert!(c.is_early_data_accepted());
    assert_eq!(s.handshake_kind(), Some(HandshakeKind::Resumed));
    assert_eq!((tickets.metrics().redeemed, tickets.metrics().refused), (1, 3));
    // the connection has issued a successor
    let (_, flight) = pair.resuming();
    assert_eq!(early(&mut pair.deliver(&flight).unwrap()), PAYMENT);
}

#[test]
fn of_copies_at_the_same_time_one_is_delivered() {
    for _ in 0..10 {
        let pair = pair(Arc::new(AfterBinder(ours())), &TLS13);
        pair.full();
        let (_, flight) = pair.resuming();
        let copy = || !early(&mut pair.deliver(&flight).unwrap()).is_empty();
        let delivered: usize = std::thread::scope(|scope| {
            let all: Vec<_> = (0..4).map(|_| scope.spawn(copy)).collect();
            all.into_iter().map(|thread| usize::from(thread.join().unwrap())).sum()
        });
        assert_eq!(delivered, 1);
    }
}

#[test]
fn a_copy_with_a_bad_binder_burns_nothing() {
    let tickets = ours();
    let pair = pair(Arc::new(AfterBinder(tickets.clone())), &TLS13);
    pair.full();
    let (mut c, flight) = pair.resuming();
    for _ in 0..3 {
        let refused = pair.deliver(&with_a_bad_binder(&flight)).err();
        assert_eq!(refused, Some(Error::PeerMisbehaved(PeerMisbehaved::IncorrectBinder)));
    }
    assert_eq!(tickets.metrics().redeemed, 0);
    let mut s = pair.deliver(&flight).unwrap();
    assert_eq!(early(&mut s), PAYMENT);
    pair.finish(&mut c, &mut s);
    assert_eq!(s.handshake_kind(), Some(HandshakeKind::Resumed));
}

/// Without the hook: the behaviour of rustls with a ticketer that uses up tickets when it decrypts
/// them.
#[test]
fn control_a_ticketer_without_the_hook_gets_no_early_data_and_loses_the_ticket_to_a_bad_binder() {
    let pair = pair(ours(), &TLS13);
    pair.full();
    let (mut c, flight) = pair.resuming();
    assert!(pair.deliver(&with_a_bad_binder(&flight)).is_err());
    let mut s = pair.deliver(&flight).unwrap();
    assert_eq!(early(&mut s), b"");
    pair.finish(&mut c, &mut s);
    assert_eq!(s.handshake_kind(), Some(HandshakeKind::Full));
}

/// TLS 1.2 has no binder, so the hook is called when the ticket is decrypted.
#[test]
fn a_tls_1_2_ticket_resumes_one_connection() {
    let pair = pair(Arc::new(AfterBinder(ours())), &TLS12);
    pair.full();
    let (_, flight) = pair.resuming();
    let kinds = [(); 3].map(|()| pair.deliver(&flight).unwrap().handshake_kind());
    assert_eq!(kinds[0], Some(HandshakeKind::Resumed));
    assert!(kinds[1..].iter().all(|kind| *kind != Some(HandshakeKind::Resumed)), "{kinds:?}");
}
