#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Translate the ACSL contracts of opt's API to Coq: build/coq/spec/c/AcslApi.v.

  acsl_api.py TREE [OUT]         read TREE/opt/core.c with all that it includes; write OUT (only if it
                                 changes) or the standard output
  acsl_api.py packed TREE [OUT]  the same for AcslPacked.v: what CLOSED names means in memory

What is translated: the contracts of API, every definition that they mention, and of a definition that
acsl.py leaves open in AcslOpt.v (`is_punctured') the equation.  How: as acsl.py does; besides, a member of a
structure is the cell at its place, an array within a structure lies in it, a pointer in memory is a number
in its cell (`points' says where it leads, and may be any function), and a ghost variable that no contract
assigns is a member of the record `api', and so are key_root, the words of the root's seed, and the places of
global arrays.  What CLOSED names is a member too: the contracts need nothing else of the packed store.  AcslPacked.v
has every definition that CLOSED's mention, over a record `paged': an `api', and what is defined by recursion; the
definitions of CLOSED are equations there."""
import os
import re
import sys

sys.dont_write_bytecode = True
import acsl  # noqa: E402  (beside this file)
from acsl import INT, Error, ident, plain  # noqa: E402

ROOTS = ["opt/core.c"]
API = ["pprf_eval", "pprf_punct", "pprf_eval_punct", "pprf_punct_range", "pprf_node_count"]
CLOSED = ["packed_key", "packed_punctured", "value_apart", "apart_from_packed"]
NULL = ("ptr", None)


class Parser(acsl.Parser):
    """Besides: << >> &, \\null, names of structures by typedef, the length of an array."""
    typedefs = {}

    def base_type(self):
        while self.take("const"):
            pass
        if self.peek() in self.typedefs:
            return ("struct", self.typedefs[self.next()])
        return super().base_type()

    def starts_type(self):
        return super().starts_type() or self.peek() in self.typedefs

    def member(self, base, constants):
        while self.take("*", "const"):
            if self.toks[self.pos - 1] == "*":
                base = ("ptr", base)
        name = self.name()
        if self.take("["):
            length = self.next()
            self.want("]")
            base = ("array", base, constants[length] if length in constants else int(length, 0))
        return name, base

    def relation(self):
        terms, ops = [self.bits()], []
        while self.peek() in ("<", "<=", ">", ">=", "==", "!="):
            ops.append(self.next())
            terms.append(self.bits())
        if not ops:
            return terms[0]
        if len(ops) > 1 and not (set(ops) <= {"<", "<=", "=="} or set(ops) <= {">", ">=", "=="}):
            self.fail("chain of relations in both directions")
        return ("rel", tuple(ops), tuple(terms))

    def bits(self):
        e = self.shifts()
        while self.take("&"):
            e = ("bin", "&", e, self.shifts())
        return e

    def shifts(self):
        e = self.arith("+-")
        while self.peek() in ("<<", ">>"):
            e = ("bin", self.next(), e, self.arith("+-"))
        return e

    def primary(self):
        if self.peek() == "(" and self.peek(1) in ("struct", *acsl.C_INTS):
            self.next()
            base = self.base_type()
            while self.take("*"):
                base = ("ptr", base)
            self.want(")")
            return ("cast", base, self.unary())
        return ("null",) if self.take("\\null") else super().primary()


class Macros(acsl.Source):
    """The same text, with the macros that have parameters expanded in annotations."""

    def __init__(self, tree, defines, roots):
        self.functions = {}
        super().__init__(tree, defines, roots)
        self.items = [(f, k, self.expand(v, f) if k == "annotation" else v) for f, k, v in self.items]

    def directive(self, name, line, stack):
        include = re.match(r'#\s*include\s+"(.*)"', line)
        if include and all(stack):  # as C does: beside the file first
            beside = os.path.join(os.path.dirname(name), include[1])
            if os.path.exists(os.path.join(self.tree, beside)):
                self.file(beside)
                return
        super().directive(name, line, stack)
        m = re.match(r"#\s*define\s+(\w+)\(([\w\s,]*)\)\s*(.*)", line)
        if m and all(stack):
            try:
                self.functions[m[1]] = [p.strip() for p in m[2].split(",")], acsl.tokens(m[3], name)
            except Error:
                pass  # C that no annotation can mean

    def text(self, name):
        """Macros with annotations are steps of proofs: no contract uses them."""
        return re.sub(r"^[ \t]*#[ \t]*define(?:\\\n|[^\n])*", lambda m: "" if "/*@" in m[0] else m[0],
                      super().text(name), flags=re.M)

    def expand(self, toks, where):
        out, i = [], 0
        while i < len(toks):
            macro = self.functions.get(toks[i])
            plain_macro = self.macros.get(toks[i])
            if macro and toks[i + 1:i + 2] == ["("]:
                depth, arguments, i = 1, [[]], i + 2
                while depth:
                    t = toks[i]
                    depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(t, 0)
                    if depth == 1 and t == ",":
                        arguments.append([])
                    elif depth:
                        arguments[-1].append(t)
                    i += 1
                if len(arguments) != len(macro[0]):
                    raise Error(f"{where}: {len(arguments)} arguments of a macro")
                given = dict(zip(macro[0], arguments))
                body = [x for t in macro[1] for x in given.get(t, [t])]
                out += self.expand(body, where)
            elif plain_macro and re.fullmatch(r"0x[0-9a-fA-F]+|\d+", plain_macro) and \
                    toks[i] == "ALL_BITS":
                out, i = out + [plain_macro], i + 1
            else:
                out, i = out + [toks[i]], i + 1
        return out


class ApiUnit(acsl.Unit):
    def __init__(self, tree, layout, defines):
        self.pieces, self.own, self.variables = [], [], {}
        self.source = Macros(tree, defines, ROOTS)
        self.structs, self.constants, self.globals, self.contracts = {}, {}, [], []
        self.types, self.fact_names, self.counters = set(), [], []
        for name, body in self.source.macros.items():
            if re.fullmatch(r"(0x[0-9a-fA-F]+|\d+)u?", body):
                self.constants[name] = int(body.rstrip("u"), 0)
        self.constants["OPT_PAGE_SEEDS"] = self.page_seeds()
        Parser.typedefs = {}
        self.read()
        for name in API:
            count = [c[0] for c in self.contracts].count(name)
            if count != 1:
                raise Error(f"{count or 'no'} contracts of {name}")
        self.contracts.sort(key=lambda c: API.index(c[0]))
        if layout:
            self.select(layout)

    def page_seeds(self):
        """The one constant that C computes from a type: two words of 8 bytes are a seed."""
        count = re.fullmatch(r"\((\w+) / sizeof\(struct pprf_seed\)\)", self.source.macros["OPT_PAGE_SEEDS"])
        return self.constants[count[1]] // 16

    def annotation(self, file, toks):
        if not file.startswith("opt/"):
            if toks[0] in ("logic", "predicate", "axiomatic", "lemma", "FACT"):
                self.add(acsl.Parser(toks, file, self.types).globals())
            return
        starts = [i for i, t in enumerate(toks)
                  if t in ("logic", "predicate", "FACT", "lemma", "type", "axiomatic")]
        for i, end in zip(starts, starts[1:] + [len(toks)]):
            piece = toks[i:end]
            if piece[0] in ("logic", "predicate"):
                self.pieces.append((file, piece[:len(piece) - piece[::-1].index(";")]))

    def ghost(self, file, text):
        m = re.fullmatch(r"\s*(struct\s+)?(\w+)\s+(\w+)\s*;\s*", text)
        if m:
            self.variables[m[3]] = ("struct", m[2]) if m[1] else ("c", m[2])
        else:
            super().ghost(file, text)

    def declaration(self, file, toks, ghost, contract):
        if toks[0] == "typedef" and toks[1] == "struct" and len(toks) == 5:
            Parser.typedefs[toks[3]] = toks[2]
        elif contract and "(" in toks and toks[toks.index("(") - 1] in API:
            if not file.startswith("opt/"):
                raise Error(f"{file}: a contract of {toks[toks.index('(') - 1]}")
            end, depth = toks.index("("), 0
            while True:
                depth += {"(": 1, ")": -1}.get(toks[end], 0)
                end += 1
                if not depth:
                    break
            self.function(file, toks[:end] + [";"], ghost, contract)
        elif toks[0] == "struct" and toks[2:3] == ["{"] and "(" not in toks:
            p, members = Parser(toks[3:], file, self.types), []
            while not p.take("}"):
                base = p.base_type()
                members.append(p.member(base, self.constants))
                while p.take(","):
                    members.append(p.member(base, self.constants))
                p.want(";")
            self.structs[toks[1]] = members
        elif toks[0] == "extern" and toks[-2:] == ["]", ";"] and toks.count("[") == 1:
            p = Parser(toks[1:], file, self.types)
            name, array = p.declarator(p.base_type())
            self.variables[name] = array
        elif toks[0] == "enum":
            super().declaration(file, toks, ghost, None)

    def function(self, file, toks, ghost, contract):
        p = Parser(toks, file, self.types)
        result = None if p.take("void") else p.base_type()
        name = p.name()
        p.want("(")
        params = p.params()
        p.want(";")
        if ghost:
            raise Error(f"{name}: ghost parameters")
        clauses, assigns = Parser(contract[1], f"{file}: {name}", self.types).contract()
        if acsl.ROOT not in dict(params) and any(acsl.mentions(c[2], {acsl.ROOT}) for c in clauses):
            self.variables["key_root"] = acsl.WORDS
        self.contracts.append((name, result, params, clauses, assigns))

    def named(self):
        """Of each definition its file and tokens; of one that is declared too, those with the body."""
        names = {}
        for file, toks in self.pieces:
            name = toks[min(toks.index(t) for t in "{(=;" if t in toks) - 1]
            body = "=" in toks
            if name not in names or body:
                if name in names and "=" in names[name][1]:
                    raise Error(f"{file}: {name} is defined twice")
                names[name] = (file, toks)
        return names

    def select(self, layout):
        """The definitions that the contracts mention, directly or through others, but those of AcslOpt.v."""
        names = self.named()

        def parsed(name):
            file, toks = names[name]
            if name in CLOSED:
                toks = toks[:toks.index("=")] + [";"]
            return Parser(toks, file, self.types).globals()[0]
        todo = [n for c in self.contracts for n in self.applied([c[3], c[4]])]
        found, order = {}, list(names)
        given = {g[2] for g in layout.own if g[0] == "def"}
        while todo:
            name = todo.pop()
            if name in names and name not in found:
                g = parsed(name)
                found[name] = g
                if g[7] is not None and (name not in given or name in acsl.OPAQUE):
                    todo += self.applied(g[7])
        for name in CLOSED:
            if name not in found:
                raise Error(f"{name}: no contract speaks of it")
        self.given = [g for g in layout.own if g[0] == "def"]
        self.own = [found[n] for n in order if n in found and n not in given]
        self.equations = [found[n] for n in order if n in found and n in acsl.OPAQUE]
        self.globals += self.given
        self.add(self.own)

    applied = acsl.OptUnit.applied


class PackedUnit(ApiUnit):
    """Besides: the definitions that those of CLOSED mention (`pages'), and those of CLOSED (`meant')."""

    def select(self, layout):
        super().select(layout)
        names = self.named()

        def parsed(name):
            return Parser(names[name][1], names[name][0], self.types).globals()[0]
        self.meant, found = [parsed(n) for n in CLOSED], {}
        given = {g[2] for g in self.globals if g[0] == "def"}
        todo = [n for g in self.meant for n in self.applied(g[7])]
        while todo:
            name = todo.pop()
            if name in names and name not in found and name not in given:
                found[name] = parsed(name)
                todo += self.applied(found[name][7])
        self.pages = [found[n] for n in names if n in found]
        self.add(self.pages)


class ApiCoq(acsl.Coq):
    sort = "api"

    def __init__(self, unit, constants):
        super().__init__(unit)
        self.known, self.touched = constants, set()
        self.variables = {n: t for n, t in unit.variables.items()}

    def type(self, t, inside=False):
        return f"({t[1]}_t api_layout)" if inside and t[0] == "logic" else super().type(t, inside)

    # -- places
    def cells(self, t):
        if t[0] == "ptr":
            return 1
        if t[0] == "array":
            return t[2] * self.cells(t[1])
        return super().cells(t)

    def place(self, e, env, labels, here):
        """(pointer, type) of an expression that names a place in memory; None if it names none."""
        if e[0] == "deref":
            p, t = self.term(e[1], env, labels, here)
        elif e[0] == "dot":
            base = self.place(e[1], env, labels, here)
            if base is None:
                return None
            p, t = base
            if t[0] != "struct":
                raise Error(f"member of {t}")
            offset = 0
            for name, m in self.struct(t[1]):
                if name == e[2]:
                    return f"(shift 1 {p} {offset})" if offset else p, m
                offset += self.cells(m)
            raise Error(f"struct {t[1]} has no member {e[2]}")
        elif e[0] == "index":
            base = self.place(e[1], env, labels, here)
            if base is not None and base[1][0] == "array":
                k = self.int(e[2], env, labels, here)
                return f"(shift {self.cells(base[1][1])} {base[0]} {k})", base[1][1]
            p, t = self.term(("bin", "+", e[1], e[2]), env, labels, here)
        else:
            return None
        if t[0] != "ptr":
            raise Error(f"no pointer: {t}")
        return p, t[1]

    def location(self, e, env, labels, here):
        found = self.place(e, env, labels, here)
        if found is None:
            raise Error(f"no place in memory: {e[0]}")
        return found

    def load(self, memory, t, pointer):
        if t[0] == "ptr":
            return f"(points V (cell {memory} {pointer}))"
        return super().load(memory, t, pointer)

    def term(self, e, env, labels, here):
        kind = e[0]
        if kind == "null":
            return "(null V)", NULL
        if kind == "var" and e[1] not in env and e[1] in self.variables:
            self.touched.add(e[1])
            return f"({e[1]} V)", plain(self.variables[e[1]])
        if kind == "bin" and e[1] in ("&", "<<", ">>"):
            a, b = (self.int(x, env, labels, here) for x in e[2:])
            name = {"&": "land", "<<": "shiftl", ">>": "shiftr"}[e[1]]
            return f"(Z.{name} {a} {b})", INT
        if kind == "cast":
            a, t = self.term(e[2], env, labels, here)
            if t != e[1]:  # of an array within a structure to a pointer to its first element
                raise Error(f"a cast of {t} to {e[1]}")
            return a, t
        if kind in ("dot", "deref", "index"):
            found = self.place(e, env, labels, here)
            if found is not None:
                p, t = found
                if t[0] == "array":
                    return p, ("ptr", t[1])
                if here is None:
                    raise Error("memory is read without a label")
                return self.load(here, t, p), plain(t)
        return super().term(e, env, labels, here)

    def root(self, env):
        self.touched.add("key_root")
        return "(key_root V)"

    def links(self, e, env, labels, here):
        terms = [self.term(t, env, labels, here) for t in e[2]]
        for op, (a, at), (b, bt) in zip(e[1], terms, terms[1:]):
            null = NULL in (at, bt) and at[0] == bt[0] == "ptr" and op in ("==", "!=")
            if not null and (plain(at) != plain(bt) or (op not in ("==", "!=") and plain(at) != INT)):
                raise Error(f"{at} {op} {bt}")
            yield op, a, b, plain(at)

    def boolean(self, e, env, labels, here):
        if e[0] == "rel" and e[1] == ("==",):
            ((_, a, b, t),) = self.links(e, env, labels, here)
            if t[0] == "ptr":
                return f"(pointer_eqb {a} {b})"
        return super().boolean(e, env, labels, here)

    def region(self, e, env, labels, here):
        if e[0] == "bin" and e[1] == "+" and e[3][0] == "range":
            return super().region(e, env, labels, here)
        if e[0] == "addr" and e[1][0] == "index" and e[1][2][0] == "range":
            return super().region(("bin", "+", *e[1][1:]), env, labels, here)
        p, t = self.term(e, env, labels, here)
        if t[0] != "ptr" or t == NULL:
            raise Error(f"no pointer: {t}")
        return f"(span {self.cells(t[1])} {p} 0 0)"

    def assigned(self, e, env, labels, here):
        if e[0] == "index" and e[2][0] == "range":
            base = self.place(e[1], env, labels, here)
            if base is None or base[1][0] != "array":
                return self.region(("bin", "+", e[1], e[2]), env, labels, here)
        p, t = self.location(e, env, labels, here)
        return f"(span {self.cells(t)} {p} 0 0)"

    # -- names: a parameter may be called as a predicate is
    def pname(self, name):
        return name + "_p" if name in self.defs else ident(name)

    def whole(self):
        equations, members = [], []
        own = self.u.own
        self.out = []
        for g in own:
            if g[2] in self.recursive or g[2] in CLOSED:
                members.append(f"{ident(g[2])} : {self.arrow(g)}")
            elif g[7] is None:
                raise Error(f"{g[2]} is declared and not defined")
        for g in own:
            self.in_context(g[2], lambda g=g: self.definition(g, equations, []))
        for _, kind, name, _, labels, params, _, body in self.u.equations:
            scope, here = self.scope(labels)
            text = self.in_context(name, lambda: self.prop(body, self.env(params), scope, here))
            call = " ".join([ident(name), "V", *labels, *[self.pname(n) for n, _ in params]])
            equations.append((name, f"forall{self.binders(labels, params)}, {call} <-> {text}"))
        body, self.out = self.out, []
        for c in self.u.contracts:
            self.in_context(c[0], lambda c=c: self.contract(*c))
        contracts, self.out = self.out, []
        for n in sorted(self.touched):
            members.append(f"{n} : {self.type(self.variables[n])}")
        members += ["points : Z -> pointer", "null : pointer"]
        self.say("(* Written by proofs/tools/acsl_api.py from the ACSL of opt/: not to be edited. *)",
                 "From Coq Require Import ZArith Bool List.",
                 "From Pprf.spec Require Import AcslMemory AcslRef AcslOpt.",
                 "Import ListNotations.", "Local Open Scope Z_scope.", "",
                 "(* Constants that AcslRef.v has not. *)")
        self.say(*[f"Definition {n} : Z := {self.u.constants[n]}." for n in sorted(self.used)
                   if n not in self.known], "",
                 "(* A layout, what is defined by recursion, ghost variables that nothing assigns, and pointers. *)")
        self.record("api", "Type", ["api_layout :> layout", *members])
        self.say("", "(* The vocabulary. *)", *body)
        self.say("", "(* The recursive definitions, and that of the set of punctured leaves. *)")
        self.record("api_definitions (V : api)", "Prop", [f"{n}_def : {p}" for n, p in equations])
        self.say("", "(* The contracts. *)", *contracts)
        return "\n".join(self.out) + "\n"


class PackedCoq(ApiCoq):
    sort = "paged"

    def whole(self):
        equations, members = [], []
        for g in self.u.pages:
            if g[7] is None:
                raise Error(f"{g[2]} is declared and not defined")
            if g[2] in self.recursive:
                members.append(f"{ident(g[2])} : {self.arrow(g)}")
            self.in_context(g[2], lambda g=g: self.definition(g, equations, []))
        for _, _, name, _, labels, params, _, body in self.u.meant:
            scope, here = self.scope(labels)
            text = self.in_context(name, lambda: self.prop(body, self.env(params), scope, here))
            call = " ".join([ident(name), "V", *labels, *[self.pname(n) for n, _ in params]])
            equations.append((name, f"forall{self.binders(labels, params)}, {call} <-> {text}"))
        body, self.out = self.out, []
        self.say("(* Written by proofs/tools/acsl_api.py from the ACSL of opt/: not to be edited. *)",
                 "From Coq Require Import ZArith Bool List.",
                 "From Pprf.spec Require Import AcslMemory AcslRef AcslOpt AcslApi.",
                 "Import ListNotations.", "Local Open Scope Z_scope.", "",
                 "(* Constants that AcslApi.v has not. *)")
        self.say(*[f"Definition {n} : Z := {self.u.constants[n]}." for n in sorted(self.used)
                   if n not in self.known], "",
                 "(* What the contracts need, and what is defined by recursion. *)")
        self.record("paged", "Type", ["paged_api :> api", *members])
        self.say("", "(* The vocabulary. *)", *body)
        self.say("", "(* The recursive definitions, and those that AcslApi.v leaves open. *)")
        self.record("packed_definitions (V : paged)", "Prop", [f"{n}_def : {p}" for n, p in equations])
        return "\n".join(self.out) + "\n"


def translate(tree, packed=False):
    layout = acsl.OptUnit(tree, {"GGM_DEFINITIONS": ""})
    ref = acsl.Coq(acsl.Unit(tree, {"GGM_DEFINITIONS": ""}))
    ref.whole()
    definitions = (PackedUnit if packed else ApiUnit)(tree, layout, {"GGM_DEFINITIONS": ""})
    declarations = ApiUnit(tree, None, {})
    if definitions.contracts != declarations.contracts:
        raise Error("contracts proven and contracts used differ")
    api = ApiCoq(definitions, set(ref.used))
    text = api.whole()
    if not packed:
        return text
    coq = PackedCoq(definitions, set(ref.used) | set(api.used))
    used = declarations.named()
    for g in definitions.pages + definitions.meant:
        if g[2] not in coq.recursive and used.get(g[2]) != definitions.named()[g[2]]:
            raise Error(f"{g[2]} proven and {g[2]} used differ")
    return coq.whole()


def translate_packed(tree):
    return translate(tree, True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["packed"]:
        del sys.argv[1]
        acsl.command(__doc__, "acsl_api", translate_packed, Error)
    else:
        acsl.command(__doc__, "acsl_api", translate, Error)
