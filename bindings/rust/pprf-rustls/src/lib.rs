// SPDX-License-Identifier: Apache-2.0
//! Session tickets for rustls servers that are used once and cannot be decrypted afterwards, not
//! even by an attacker who steals the server.
//!
//! ```
//! # fn f(config: &mut rustls::ServerConfig) -> Result<(), pprf::Error> {
//! config.ticketer = pprf_rustls::Ticketer::new(20, 7200)?; // 2^20 tickets a key, good for two hours
//! # Ok(()) }
//! ```
//!
//! Every ticket is sealed under a leaf of a puncturable key.  Opening it punctures the leaf; tickets past their
//! lifetime are punctured by range when the next one is made or offered, or by [`Ticketer::metrics`],
//! which a server that may be idle calls from a timer; a key that is used up gives way to the next.
//!
//! Limits.  rustls asks for the session before it has verified that the client knows its secret: an
//! attacker who copies a ClientHello in transit can use up its ticket, and the client then makes a
//! full handshake.  rustls 0.23 takes no early data with any stateless ticket.  The session that
//! rustls receives is not wiped, nor is what ring derives from a ticket's key.  An observer of two
//! tickets can tell whether one key made them, and which was made first.  The state belongs to one
//! process.  rustls does not say for which configuration a ticket is opened: give each
//! configuration with different client-certificate rules its own ticketer.
use pprf::{Error, Key};
use ring::{aead, rand};
use rustls::server::ProducesTickets;
use std::fmt;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use zeroize::Zeroizing;

const NAME_BYTES: usize = 12; // the key's random number, then the leaf's number
const MARKS: u32 = 16; // a time of issue is known to within lifetime / MARKS
const MAX_KEYS: usize = 8;

/// Counters and current contents of a ticketer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// Tickets made.
    pub issued: u64,
    /// Tickets redeemed, each once.
    pub redeemed: u64,
    /// Tickets that were used or expired, including copies, and bytes that are not our tickets.
    pub refused: u64,
    /// Keys begun after the first.
    pub rotations: u64,
    /// Keys dropped before their last ticket had expired: the depth is too small.
    pub dropped: u64,
    /// Keys held.
    pub keys: usize,
    /// Seeds held.
    pub nodes: usize,
}

/// A key and the tickets made with it.
struct Generation {
    id: u64,
    key: Key,
    next: u64,                   // first leaf not issued yet
    expired: u64,                // leaves below this are punctured
    marks: Vec<(Duration, u64)>, // leaves below this were issued at that time or earlier; ascending
}

struct State {
    held: Vec<Generation>, // the last one issues tickets
    count: Metrics,
}

/// Single-use tickets, for `ServerConfig::ticketer`.
pub struct Ticketer {
    state: Mutex<State>,
    depth: u32,
    lifetime: u32,
    now: fn() -> Duration,
}

impl fmt::Debug for Ticketer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ticketer").field("depth", &self.depth).field("lifetime", &self.lifetime).finish_non_exhaustive()
    }
}

/// Time since boot, including suspend, which [`std::time::Instant`] does not count.
fn since_boot() -> Duration {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: now is a local variable
    if unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &mut now) } != 0 {
        return Duration::MAX; // no clock: all tickets have expired
    }
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

fn random() -> Result<u64, Error> {
    let bytes: [u8; 8] = rand::generate(&rand::SystemRandom::new()).map_err(|_| Error::Crypto)?.expose();
    Ok(u64::from_be_bytes(bytes))
}

fn begin(depth: u32) -> Result<Generation, Error> {
    Ok(Generation { id: random()?, key: Key::new(depth)?, next: 0, expired: 0, marks: Vec::new() })
}

/// A leaf's value seals only one ticket, so the nonce may be constant.
fn cipher(value: &pprf::Value) -> Option<aead::LessSafeKey> {
    aead::UnboundKey::new(&aead::AES_128_GCM, &value[..]).ok().map(aead::LessSafeKey::new)
}

fn nonce() -> aead::Nonce {
    aead::Nonce::assume_unique_for_key([0; 12])
}

impl State {
    /// Puncture expired tickets, and drop keys whose tickets have all expired.
    fn expire(&mut self, limit: Option<Duration>) {
        let Some(limit) = limit else { return };
        for g in &mut self.held {
            let passed = g.marks.iter().take_while(|(at, _)| *at <= limit).count();
            let due = g.marks.drain(..passed).next_back().map_or(g.expired, |(_, next)| next);
            if due > g.expired {
                match g.key.puncture_range(g.expired..=due - 1) {
                    Ok(()) | Err(Error::Punctured { .. }) => g.expired = due,
                    Err(_) => g.marks.insert(0, (limit, due)), // try again later
                }
            }
        }
        let last = self.held.last().map(|g| g.id);
        self.held.retain(|g| Some(g.id) == last || g.expired < g.next);
    }

    /// The key, leaf and content of an intact, unused ticket.
    fn find(&mut self, ticket: &[u8]) -> Option<(&mut Generation, u64, Zeroizing<Vec<u8>>)> {
        let (name, sealed) = ticket.split_at_checked(NAME_BYTES)?;
        let id = u64::from_be_bytes(name[..8].try_into().ok()?);
        let leaf = u64::from(u32::from_be_bytes(name[8..].try_into().ok()?));
        let g = self.held.iter_mut().find(|g| g.id == id && leaf < g.next)?;
        let value = g.key.eval(leaf).ok()?;
        let mut plain = Zeroizing::new(sealed.to_vec());
        let length = cipher(&value)?.open_in_place(nonce(), aead::Aad::from(name), &mut plain).ok()?.len();
        plain.truncate(length);
        Some((g, leaf, plain))
    }
}

impl Ticketer {
    /// depth: a key gives 2^depth tickets, 1..=32.  lifetime: seconds for which a ticket is valid,
    /// and up to a sixteenth more; less than 1 counts as 1, more than seven days (RFC 8446, 4.6.1)
    /// as seven days.
    pub fn new(depth: u32, lifetime: u32) -> Result<Arc<Ticketer>, Error> {
        Ticketer::with_clock(depth, lifetime, since_boot)
    }

    fn with_clock(depth: u32, lifetime: u32, now: fn() -> Duration) -> Result<Arc<Ticketer>, Error> {
        if depth > 32 {
            return Err(Error::Depth(depth)); // a ticket's name has 32 bits of leaf
        }
        let held = vec![begin(depth)?];
        let lifetime = lifetime.clamp(1, 604_800);
        Ok(Arc::new(Ticketer { state: Mutex::new(State { held, count: Metrics::default() }), depth, lifetime, now }))
    }

    /// Also expires due tickets.
    pub fn metrics(&self) -> Metrics {
        let state = self.lock();
        let nodes = state.held.iter().map(|g| g.key.nodes()).sum();
        Metrics { keys: state.held.len(), nodes, ..state.count }
    }

    fn lifetime_and(&self, parts: u32) -> Duration {
        Duration::from_secs(self.lifetime.into()) / parts
    }

    /// The state, after removal of expired tickets.  A thread that panicked has left the keys
    /// intact, because each change is one call.
    fn lock(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.expire((self.now)().checked_sub(self.lifetime_and(1)));
        state
    }

    /// The name and the value of the next leaf.
    fn take(&self) -> Result<([u8; NAME_BYTES], pprf::Value), Error> {
        let (now, mut state) = ((self.now)(), self.lock());
        if state.held.last().is_none_or(|g| g.next >> self.depth != 0) {
            state.held.push(begin(self.depth)?);
            state.count.rotations += 1;
            if state.held.len() > MAX_KEYS {
                state.held.remove(0);
                state.count.dropped += 1;
            }
        }
        let step = self.lifetime_and(MARKS);
        let g = state.held.last_mut().ok_or(Error::NoMemory)?;
        let (leaf, value) = (g.next, g.key.eval(g.next)?);
        g.next += 1;
        // the last mark covers a sixteenth of the lifetime and is dated to its end
        match g.marks.last_mut() {
            Some((at, next)) if now < *at => *next = g.next,
            _ => g.marks.push((now.saturating_add(step), g.next)),
        }
        let mut name = [0; NAME_BYTES];
        name[..8].copy_from_slice(&g.id.to_be_bytes());
        name[8..].copy_from_slice(&(leaf as u32).to_be_bytes());
        state.count.issued += 1;
        Ok((name, value))
    }

    /// The content of an intact, unused, unexpired ticket, which remains valid.  For TLS libraries
    /// that call `redeem` later, once the client has proved that it knows the ticket's secret.
    pub fn open(&self, ticket: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let mut state = self.lock();
        match state.find(ticket) {
            Some((_, _, plain)) => Some(plain),
            None => {
                state.count.refused += 1;
                None
            }
        }
    }

    /// Opens a ticket and uses it up: of several calls, only one gets its content.
    pub fn redeem(&self, ticket: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let mut state = self.lock();
        let plain = state.find(ticket).and_then(|(g, leaf, plain)| g.key.puncture(leaf).ok().map(|()| plain));
        match plain {
            Some(_) => state.count.redeemed += 1,
            None => state.count.refused += 1,
        }
        plain
    }
}

impl ProducesTickets for Ticketer {
    fn enabled(&self) -> bool {
        true
    }

    fn lifetime(&self) -> u32 {
        self.lifetime
    }

    fn encrypt(&self, plain: &[u8]) -> Option<Vec<u8>> {
        let (name, value) = self.take().ok()?;
        let mut ticket = Vec::with_capacity(NAME_BYTES + plain.len() + aead::MAX_TAG_LEN);
        ticket.extend_from_slice(&name);
        ticket.extend_from_slice(plain);
        let tag = cipher(&value)?
            .seal_in_place_separate_tag(nonce(), aead::Aad::from(&name), &mut ticket[NAME_BYTES..])
            .ok()?;
        ticket.extend_from_slice(tag.as_ref());
        Some(ticket)
    }

    fn decrypt(&self, ticket: &[u8]) -> Option<Vec<u8>> {
        self.redeem(ticket).map(|mut plain| mem::take(&mut *plain))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    thread_local!(static PASSED: Cell<u64> = const { Cell::new(0) });

    /// A clock that the test moves.
    fn clock() -> Duration {
        Duration::from_secs(1_000_000 + PASSED.get())
    }

    fn pass(seconds: u64) {
        PASSED.set(PASSED.get() + seconds);
    }

    #[test]
    fn a_ticket_opens_once_and_only_whole() {
        let tickets = Ticketer::new(8, 60).unwrap();
        let ticket = tickets.encrypt(b"secret").unwrap();
        for i in 0..ticket.len() {
            let mut bad = ticket.clone();
            bad[i] ^= 1;
            assert_eq!(tickets.decrypt(&bad), None, "byte {i}");
            assert_eq!(tickets.decrypt(&ticket[..i]), None, "{i} bytes");
        }
        assert_eq!(Ticketer::new(8, 60).unwrap().decrypt(&ticket), None);
        assert_eq!(tickets.decrypt(&ticket).as_deref(), Some(&b"secret"[..]));
        assert_eq!(tickets.decrypt(&ticket), None);
        assert_eq!(tickets.metrics().redeemed, 1);
    }

    #[test]
    fn a_lifetime_is_one_second_to_seven_days() {
        for (given, is) in [(0, 1), (1, 1), (7200, 7200), (604_800, 604_800), (604_801, 604_800), (u32::MAX, 604_800)] {
            assert_eq!(Ticketer::new(4, given).unwrap().lifetime(), is);
        }
    }

    #[test]
    fn a_ticket_that_is_opened_alone_stays_good() {
        let tickets = Ticketer::new(8, 60).unwrap();
        let ticket = tickets.encrypt(b"secret").unwrap();
        for _ in 0..3 {
            assert_eq!(tickets.open(&ticket).as_deref().map(|p| &p[..]), Some(&b"secret"[..]));
        }
        assert_eq!(tickets.metrics().redeemed, 0);
        assert!(tickets.redeem(&ticket).is_some());
        assert_eq!((tickets.open(&ticket), tickets.redeem(&ticket)), (None, None));
        assert_eq!((tickets.metrics().redeemed, tickets.metrics().refused), (1, 2));
    }

    #[test]
    fn of_many_copies_one_is_redeemed() {
        let tickets = Ticketer::new(10, 60).unwrap();
        for _ in 0..100 {
            let ticket = tickets.encrypt(b"x").unwrap();
            let open = || tickets.decrypt(&ticket).is_some();
            let taken: usize = std::thread::scope(|scope| {
                let all: Vec<_> = (0..4).map(|_| scope.spawn(open)).collect();
                all.into_iter().map(|thread| usize::from(thread.join().unwrap())).sum()
            });
            assert_eq!(taken, 1);
        }
    }

    #[test]
    fn tickets_expire() {
        let tickets = Ticketer::with_clock(6, 160, clock).unwrap();
        let (early, kept) = (tickets.encrypt(b"early").unwrap(), tickets.encrypt(b"kept").unwrap());
        pass(100);
        let late = tickets.encrypt(b"late").unwrap();
        assert!(tickets.decrypt(&kept).is_some());
        pass(71); // the lifetime and a sixteenth of it
        assert_eq!(tickets.decrypt(&early), None);
        assert!(tickets.decrypt(&late).is_some());
        assert_eq!(tickets.metrics().keys, 1);
    }

    #[test]
    fn keys_give_way() {
        let tickets = Ticketer::with_clock(2, 60, clock).unwrap();
        let made: Vec<_> = (0..10).map(|_| tickets.encrypt(b"x").unwrap()).collect();
        assert_eq!((tickets.metrics().keys, tickets.metrics().rotations), (3, 2));
        for ticket in &made {
            assert!(tickets.decrypt(ticket).is_some() && tickets.decrypt(ticket).is_none());
        }
        pass(120);
        assert_eq!(tickets.metrics().keys, 1);
        for _ in 0..4 * (MAX_KEYS + 1) {
            tickets.encrypt(b"x").unwrap();
        }
        assert_eq!(tickets.metrics().keys, MAX_KEYS);
        assert!(tickets.metrics().dropped > 0);
    }

    /// In a time namespace in which the system booted a day earlier.
    #[test]
    fn the_clock_runs_in_suspend() {
        const ASKED: &str = "PPRF_TEST_CLOCK";
        if std::env::var_os(ASKED).is_some() {
            println!("since boot: {}", since_boot().as_secs());
            return;
        }
        let out = std::process::Command::new("unshare")
            .args(["--user", "--map-root-user", "--time", "--boottime", "86400"])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "tests::the_clock_runs_in_suspend", "--nocapture"])
            .env(ASKED, "1")
            .output();
        let now = since_boot().as_secs();
        let said = out.map(|out| String::from_utf8_lossy(&out.stdout).into_owned()).unwrap_or_default();
        match said.split("since boot: ").nth(1).and_then(|rest| rest.split_whitespace().next()) {
            Some(there) => assert!(there.parse::<u64>().unwrap() + 3600 > now + 86400, "{said}"),
            None => println!("skipped: no time namespace is available here"),
        }
    }
}
