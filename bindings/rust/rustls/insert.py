#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Copies the crate rustls and inserts the lines of the proposal; changes and removes nothing.

Usage: insert.py CRATE COPY [--without NAME]    CRATE: its directory, as cargo has fetched it
NAME leaves one insertion out, for the tests: trait, binder, tls12, early, announce."""
import pathlib
import re
import shutil
import sys

# name: file; the lines to go through, each after the one before; before or after the last; what is inserted there
INSERTIONS = {
    "trait": ("src/server/server_conn.rs", [r"pub trait ProducesTickets", r"fn decrypt\("], "after", """
    /// Whether `redeem` agrees to a ticket once at most.  Early data is
    /// possible with such tickets.
    fn single_use(&self) -> bool {
        false
    }

    /// Use up a ticket that `decrypt` has opened: in TLS 1.3 once the binder
    /// is verified, in TLS 1.2, which has none, at once.  If the answer is
    /// no, the session is not resumed.
    fn redeem(&self, _ticket: &[u8]) -> bool {
        true
    }
"""),
    "binder": ("src/server/tls13.rs", [r"check_binder\($", r"IncorrectBinder", r"chosen_psk_index = "], "before", """\
                    if self.config.ticketer.enabled()
                        && !self.config.ticketer.redeem(&psk_id.identity.0)
                    {
                        continue;
                    }
"""),
    "tls12": ("src/server/tls12.rs", [r"Ticket received", r"\.decrypt\(.*;$"], "after", """\
                    let data = data.filter(|_| self.config.ticketer.redeem(ticket.bytes()));
"""),
    "early": ("src/server/tls13.rs", [r"fn decide_if_early_data", r"early_data_configured = .*;$"], "after", """\
        let early_data_configured = early_data_configured
            || (config.max_early_data_size > 0 && config.ticketer.single_use());
"""),
    "announce": ("src/server/tls13.rs", [r"fn emit_ticket", r"if config\.max_early_data_size > 0 \{$"], "before", """\
        let stateless = stateless && !config.ticketer.single_use();
"""),
}


def insert(lines, path, through, where, text):
    at = -1
    for wanted in through:
        at = next((i for i in range(at + 1, len(lines)) if re.search(wanted, lines[i])), None)
        if at is None:
            sys.exit(f"insert: {path} has no line {wanted} where it is expected: another version of rustls?")
    at += where == "after"
    lines[at:at] = text.splitlines(keepends=True)


def main(crate, copy, *options):
    without = options[1] if options[:1] == ("--without",) else None
    if without and without not in INSERTIONS:
        sys.exit(f"insert: no insertion {without}")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(crate, copy)
    for name, (path, *how) in INSERTIONS.items():
        if name != without:
            file = pathlib.Path(copy) / path
            lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
            insert(lines, path, *how)
            file.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 5):
        sys.exit(__doc__)
    main(*sys.argv[1:])
