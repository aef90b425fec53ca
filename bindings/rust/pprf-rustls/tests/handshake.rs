// SPDX-License-Identifier: Apache-2.0
//! rustls against itself in memory: and copies of a client's first flight.
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::ProducesTickets;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, ClientConnection, HandshakeKind, RootCertStore, ServerConfig, ServerConnection};
use std::sync::Arc;

#[path = "../../methods.rs"]
mod methods;

fn deliver(s: &mut ServerConnection, wire: &[u8]) {
    let mut rest = wire;
    while !rest.is_empty() {
        s.read_tls(&mut rest).unwrap();
        s.process_new_packets().unwrap();
    }
}

/// A connection: how it was made, and the client's first flight.
fn connect(client: &Arc<ClientConfig>, server: &Arc<ServerConfig>) -> (HandshakeKind, Vec<u8>) {
    let mut c = ClientConnection::new(client.clone(), ServerName::try_from("x").unwrap()).unwrap();
    let mut s = ServerConnection::new(server.clone()).unwrap();
    let mut first = Vec::new();
    for _ in 0..8 {
        let mut wire = Vec::new();
        while c.wants_write() {
            c.write_tls(&mut wire).unwrap();
        }
        deliver(&mut s, &wire);
        if first.is_empty() {
            first = wire;
        }
        let mut wire = Vec::new();
        while s.wants_write() {
            s.write_tls(&mut wire).unwrap();
        }
        let mut rest = &wire[..];
        while !rest.is_empty() {
            c.read_tls(&mut rest).unwrap();
            c.process_new_packets().unwrap();
        }
    }
    assert!(!c.is_handshaking() && !s.is_handshaking());
    (s.handshake_kind().unwrap(), first)
}

#[test]
fn a_ticket_resumes_one_connection() {
    let made = rcgen::generate_simple_self_signed(["x".to_string()]).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    for version in [&TLS13, &TLS12] {
        let ours = pprf_rustls::Ticketer::new(10, 600).unwrap();
        let stock = rustls::crypto::ring::Ticketer::new().unwrap();
        for (ticketer, want) in [
            (stock, [true; 3]), // control: rustls's own ticketer
            (ours.clone() as Arc<dyn rustls::server::ProducesTickets>, [false; 3]),
        ] {
            let chain: Vec<CertificateDer<'static>> = vec![made.cert.der().clone()];
            let key = PrivateKeyDer::try_from(made.key_pair.serialize_der()).unwrap();
            let mut server = ServerConfig::builder_with_protocol_versions(&[version])
                .with_no_client_auth()
                .with_single_cert(chain, key)
                .unwrap();
            server.ticketer = ticketer;
            let client = ClientConfig::builder_with_protocol_versions(&[version])
                .with_root_certificates(roots.clone())
                .with_no_client_auth();
            let (client, server) = (Arc::new(client), Arc::new(server));
            assert_eq!(connect(&client, &server).0, HandshakeKind::Full);
            let (kind, flight) = connect(&client, &server);
            assert_eq!(kind, HandshakeKind::Resumed);
            let copies = [(); 3].map(|()| {
                let mut s = ServerConnection::new(server.clone()).unwrap();
                deliver(&mut s, &flight);
                s.handshake_kind() == Some(HandshakeKind::Resumed)
            });
            assert_eq!(copies, want, "{version:?}: whether a copy of the first flight is resumed");
        }
        let m = ours.metrics();
        assert_eq!((m.redeemed, m.refused), (1, 3), "{version:?}: {m:?}");
    }
}

#[test]
fn a_tree_deeper_than_the_names_of_tickets_is_refused() {
    assert_eq!(pprf_rustls::Ticketer::new(33, 600).err(), Some(pprf::Error::Depth(33)));
    assert!(pprf_rustls::Ticketer::new(32, 600).is_ok());
}

has_none!(pprf_rustls::Ticketer, Clone, Copy, Default);

#[test]
fn in_a_child_tickets_are_refused_and_none_is_made() {
    type Asked = (&'static str, fn(&pprf_rustls::Ticketer, &[u8]) -> bool);
    const ASKED: [Asked; 8] = [
        ("decrypt", |t, ticket| t.decrypt(ticket).is_none()),
        ("enabled", |t, _| t.enabled()),
        ("encrypt", |t, _| t.encrypt(b"x").is_none()),
        ("fmt", |t, _| format!("{t:?}").contains("Ticketer")),
        ("lifetime", |t, _| t.lifetime() == 600),
        ("metrics", |t, _| t.metrics().redeemed == 0 && t.metrics().nodes == 0),
        ("open", |t, ticket| t.open(ticket).is_none()),
        ("redeem", |t, ticket| t.redeem(ticket).is_none()),
    ];
    let source = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/lib.rs")).unwrap();
    assert_eq!(ASKED.map(|(name, _)| name).to_vec(), methods::of(&source, "Ticketer"), "a method that is not asked");
    let tickets = pprf_rustls::Ticketer::new(10, 600).unwrap();
    let ticket = tickets.encrypt(b"x").unwrap();
    for (name, ask) in ASKED {
        assert!(methods::in_child(|| ask(&tickets, &ticket)), "{name}");
    }
    assert_eq!(tickets.redeem(&ticket).as_deref().map(|p| &p[..]), Some(&b"x"[..]));
}
