#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Translate the ACSL vocabulary and contracts of ref to Coq: build/coq/spec/c/AcslRef.v.

  acsl.py TREE [OUT]      read TREE/ref/core.h and codec.h with all that they include; write OUT
                          (only if it changes) or the standard output
  acsl.py opt TREE [OUT]  read TREE/opt/slots/slots.acsl: the facts about opt's layout, AcslOpt.v

What is translated: structures, constants, every logic type, function and predicate, every fact
and lemma, and the contracts of core.h and codec.h.  What is passed over, and nothing else: C
declarations and bodies, `ghost' annotations (their contracts are goals of ref/wp), and the
contracts of the other headers (steps of the C proof).  Any other syntax is an error.  Of opt: the
ghost functions LAYOUT, the definitions that they use down to OPAQUE, and each fact that speaks of
these alone.

How ACSL is read: integers and C integers are Z; a structure is a record of its members; memory is
a cell for each scalar, a pointer a block and a cell in it (spec/c/AcslMemory.v); a label is a
memory.  The constant `root', of which nothing is assumed, is what a contract holds for each value of: its
contract has a parameter R, the words of that seed; no definition, fact or lemma may mention it.  Opaque and
recursive logic functions are members of a record `logic': the definitions of
the recursive ones become its equations (`definitions'); each FACT and `reads' clause is a
proposition, and all of them are `facts'; so is each lemma (its proof is WP's).  A contract is:
types and requires before the call give assigns, types and ensures after it; of a ghost function,
which assigns nothing: types and requires give ensures, in one memory."""
import os
import re
import sys

ROOTS = ["ref/core.h", "ref/codec.h"]
CONTRACTS = ["ref/core.h", "ref/codec.h"]
FOLDERS = ["include", "prg", "ref", "opt"]
OPT_ROOTS = ["opt/slots/slots.acsl"]
LAYOUT = ["live_apart_lemma", "pair_slot_injective_lemma", "slot_overwritten_lemma", "puncture_lemma"]
OPAQUE = ["is_punctured"]
ROOT, WORDS = "root", ("struct", "pprf_seed")  # the constant, and the type of the words that stand for it
PREDEFINED = {"__FRAMAC__": "", "__GNUC__": ""}
C_INTS = ["unsigned", "int", "size_t", "uint64_t", "uint32_t", "uint16_t", "uint8_t"]  # c_... of AcslMemory.v
TAKEN = set("""as at by cofix else end exists exists2 fix for forall fun if in is let match
  return then where with Prop Set Type Definition Record using of  logic definitions facts V Z bool
  pointer memory region cell shift span readable writable separated unchanged agree_on""".split())
TOKEN = re.compile(r"""
  (?P<int>0x[0-9a-fA-F]+|\d+) | (?P<id>\\?[A-Za-z_]\w*) | (?P<string>"[^"\n]*") |
  (?P<space>\s+|//[^\n]*) |
  (?P<op><==>|==>|\.\.|->|<=|>=|==|!=|&&|\|\||<<|>>|[-+*/%<>=!?:;,.(){}\[\]&|^~])""", re.X)


class Error(Exception):
    pass


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def tokens(text, where):
    out, pos = [], 0
    while pos < len(text):
        m = TOKEN.match(text, pos)
        if not m:
            raise Error(f"{where}: no token of ACSL: {text[pos:pos + 20]!r}")
        if m.lastgroup != "space":
            out.append(m.group())
        pos = m.end()
    return out


# ---- Files: conditionals, includes, comments ------------------------------------------------

class Source:
    """The C text that the roots include: C tokens, and the annotations between them as
    (file, "annotation", tokens), ghost code as (file, "ghost", text)."""

    def __init__(self, tree, defines, roots):
        self.tree, self.macros, self.seen, self.items = tree, {**PREDEFINED, **defines}, set(), []
        for root in roots:
            self.file(root)

    def file(self, name):
        if name in self.seen:
            return
        self.seen.add(name)
        chunks = re.split(r"(/\*.*?\*/|//[^\n]*)", self.text(name), flags=re.S)
        stack = []
        for chunk in chunks:
            if chunk.startswith(("/*@", "//@")):
                if all(stack):
                    body = chunk[3:-2] if chunk.startswith("/*") else chunk[3:]
                    code = re.match(r"\s*ghost\b(?!\s*\()", body)  # no list of ghost parameters
                    self.items.append((name, "ghost", body[code.end():]) if code else
                                      (name, "annotation", tokens(body, name)))
            elif not chunk.startswith(("/*", "//")):
                for line in re.sub(r"\\\n", " ", chunk).split("\n"):
                    if line.lstrip().startswith("#"):
                        self.directive(name, line.strip(), stack)
                    elif all(stack):
                        self.items += [(name, "c", t) for t in tokens(line, name)]
        if stack:
            raise Error(f"{name}: #endif is missing")

    def text(self, name):
        return read(os.path.join(self.tree, name))

    def directive(self, name, line, stack):
        word, rest = (re.match(r"#\s*(\w+)\s*(.*)", line).groups())
        rest = rest.strip()
        if word in ("ifdef", "ifndef"):
            stack.append((rest in self.macros) == (word == "ifdef"))
        elif word == "if" and re.fullmatch(r"defined\(\w+\)", rest):
            stack.append(rest[8:-1] in self.macros)
        elif word == "else" and stack:
            stack[-1] = not stack[-1]
        elif word == "endif" and stack:
            stack.pop()
        elif word == "define":
            if all(stack):
                macro, params, body = re.match(r"(\w+)(\(.*?\))?\s*(.*)", rest).groups()
                if macro in self.macros and macro not in PREDEFINED:
                    raise Error(f"{name}: {macro} is defined twice")
                self.macros[macro] = body if not params else "(function-like)"
        elif word == "include":
            if all(stack) and not rest.startswith("<"):
                beside = os.path.normpath(os.path.join(os.path.dirname(name), rest.strip('"')))
                found = [f for f in {beside, *(os.path.join(d, rest.strip('"')) for d in FOLDERS)}
                         if os.path.exists(os.path.join(self.tree, f))]
                if len(found) != 1:
                    raise Error(f"{name}: which file is {rest}?")
                self.file(found[0])
        else:
            raise Error(f"{name}: directive not known: {line}")


# ---- The parser ----------------------------------------------------------------------------

class Parser:
    """Recursive descent over one annotation or one C declaration."""

    def __init__(self, toks, where, types):
        self.toks, self.pos, self.where, self.types = toks, 0, where, types

    def fail(self, what):
        near = " ".join(self.toks[max(0, self.pos - 4):self.pos + 4])
        raise Error(f"{self.where}: {what}, near: {near}")

    def peek(self, ahead=0):
        return self.toks[self.pos + ahead] if self.pos + ahead < len(self.toks) else None

    def next(self):
        self.pos += 1
        return self.toks[self.pos - 1] if self.pos <= len(self.toks) else self.fail("text ends")

    def take(self, *words):
        if self.peek() in words:
            return self.next()
        return None

    def want(self, word):
        if self.peek() != word:
            self.fail(f"{word} expected")
        return self.next()

    def name(self):
        t = self.next()
        if not re.fullmatch(r"[A-Za-z_]\w*", t):
            self.fail("name expected")
        return t

    # types: ("integer",) ("boolean",) ("c", name) ("logic", name) ("struct", name) ("ptr", type)
    def base_type(self):
        while self.take("const"):
            pass
        t = self.name()
        if t == "struct":
            return ("struct", self.name())
        if t in ("integer", "boolean"):
            return (t,)
        if t in C_INTS:
            if t == "unsigned":
                self.take("int")
            return ("c", t)
        if t in self.types:
            return ("logic", t)
        return self.fail(f"type not known: {t}")

    def starts_type(self):
        return self.peek() in {"integer", "boolean", "struct", "const", *C_INTS, *self.types}

    def declarator(self, base):
        while self.take("*", "const"):
            if self.toks[self.pos - 1] == "*":
                base = ("ptr", base)
        name = self.name()
        if self.take("["):
            while not self.take("]"):
                self.next()
            base = ("ptr", base)
        return name, base

    def binders(self, end):
        out, base = [], self.base_type()
        while True:
            out.append(self.declarator(base))
            if self.take(end):
                return out
            self.want(",")
            if self.starts_type():
                base = self.base_type()

    def params(self):
        """Each with its own type; the parenthesis is open."""
        out = []
        if self.take(")"):
            return out
        while True:
            out.append(self.declarator(self.base_type()))
            if self.take(")"):
                return out
            self.want(",")
            if not self.starts_type():
                self.fail("a parameter's type expected")

    def labels(self):
        out = []
        if self.take("{"):
            out.append(self.name())
            while self.take(","):
                out.append(self.name())
            self.want("}")
        return out

    # expressions, weakest first: ?:  <==>  ==>  ||  &&  relations  + -  * / %  unary  postfix
    def expr(self):
        e = self.iff()
        if self.take("?"):
            a = self.expr()
            self.want(":")
            return ("cond", e, a, self.expr())
        return e

    def iff(self):
        e = self.implies()
        if self.take("<==>"):
            e = ("iff", e, self.implies())
            if self.peek() == "<==>":
                self.fail("<==> twice: parentheses needed")
        return e

    def implies(self):
        e = self.left_assoc("||")
        return ("implies", e, self.implies()) if self.take("==>") else e

    def left_assoc(self, op):
        under = {"||": lambda: self.left_assoc("&&"), "&&": self.relation}[op]
        e = under()
        while self.take(op):
            e = ({"||": "or", "&&": "and"}[op], e, under())
        return e

    def relation(self):
        terms, ops = [self.arith("+-")], []
        while self.peek() in ("<", "<=", ">", ">=", "==", "!="):
            ops.append(self.next())
            terms.append(self.arith("+-"))
        if not ops:
            return terms[0]
        if len(ops) > 1 and not (set(ops) <= {"<", "<=", "=="} or set(ops) <= {">", ">=", "=="}):
            self.fail("chain of relations in both directions")
        return ("rel", tuple(ops), tuple(terms))

    def arith(self, ops):
        under = (lambda: self.arith("*/%")) if ops == "+-" else self.unary
        e = under()
        while self.peek() in tuple(ops):
            e = ("bin", self.next(), e, under())
        return e

    def unary(self):
        op = self.take("!", "-", "*", "&")
        if op:
            return ({"!": "not", "-": "minus", "*": "deref", "&": "addr"}[op], self.unary())
        e = self.primary()
        while True:
            if self.take("->"):
                e = ("dot", ("deref", e), self.name())
            elif self.take("."):
                e = ("dot", e, self.name())
            elif self.take("["):
                e = ("index", e, self.maybe_range())
                self.want("]")
            else:
                return e

    def maybe_range(self):
        e = self.expr()
        return ("range", e, self.expr()) if self.take("..") else e

    def arguments(self):
        self.want("(")
        out = [self.expr()]
        while self.take(","):
            out.append(self.expr())
        self.want(")")
        return tuple(out)

    def primary(self):
        t = self.next()
        if re.fullmatch(r"0x[0-9a-fA-F]+|\d+", t):
            return ("int", int(t, 0))
        if t == "(":
            e = self.maybe_range()
            self.want(")")
            return e
        if t in ("\\forall", "\\exists"):
            return (t[1:], tuple(self.binders(";")), self.expr())
        if t in ("\\true", "\\false", "\\result", "\\nothing"):
            return (t[1:],)
        if t in ("\\valid", "\\valid_read", "\\separated"):
            return (t[1:], self.arguments())
        if t == "\\old":
            (e,) = self.arguments()
            return ("at", e, "Pre")
        if t == "\\at":
            self.want("(")
            e = self.expr()
            self.want(",")
            label = self.name()
            self.want(")")
            return ("at", e, label)
        if not re.fullmatch(r"[A-Za-z_]\w*", t):
            self.pos -= 1
            self.fail("not a term of the subset that is translated")
        labels = self.labels() if self.peek() == "{" else []
        if self.peek() == "(":
            return ("app", t, tuple(labels), self.arguments())
        if labels:
            self.fail("labels without arguments")
        return ("var", t)

    # annotations
    def globals(self):
        """("type", name) ("def", kind, name, result, labels, params, reads, body)
        ("FACT" | "lemma", name, labels, formula) of a global annotation."""
        out = []
        while self.peek() is not None:
            word = self.name()
            if word == "axiomatic":
                self.name()
                self.want("{")
                while not self.take("}"):
                    out += self.one_global(self.name())
            else:
                out += self.one_global(word)
        return out

    def one_global(self, word):
        if word == "type":
            name = self.name()
            self.types.add(name)
            out = ("type", name)
        elif word in ("logic", "predicate"):
            name, result = self.declarator(self.base_type()) if word == "logic" else (self.name(), None)
            labels = self.labels()
            params = self.params() if self.take("(") else []
            reads = None
            if self.take("reads"):
                reads = self.expr()
            body = self.expr() if self.take("=") else None
            out = ("def", word, name, result, labels, params, reads, body)
        elif word in ("FACT", "lemma"):
            name, labels = self.name(), self.labels()
            self.want(":")
            out = (word, name, labels, self.expr())
        else:
            self.fail(f"annotation not known: {word}")
        self.want(";")
        return [out]

    def contract(self):
        """[(requires | ensures, name or None, formula)] and the assigned locations."""
        clauses, assigns = [], []
        while self.peek() is not None:
            word = self.name()
            if word in ("requires", "ensures"):
                label = self.name() if self.peek(1) == ":" else None
                if label:
                    self.want(":")
                clauses.append((word, label, self.expr()))
            elif word == "assigns":
                assigns.append(self.maybe_range())
                while self.take(","):
                    assigns.append(self.maybe_range())
                if self.take("\\from"):  # where pointers come from says nothing of what is written
                    self.maybe_range()
                    while self.take(","):
                        self.maybe_range()
            else:
                self.fail(f"clause not known: {word}")
            self.want(";")
        if not assigns:
            self.fail("no assigns")
        return clauses, assigns


# ---- What the files declare ----------------------------------------------------------------

class Unit:
    def __init__(self, tree, defines, roots=tuple(ROOTS)):
        self.source = Source(tree, defines, roots)
        self.structs, self.constants, self.globals, self.contracts = {}, {}, [], []
        self.types, self.fact_names, self.counters = set(), [], []
        for name, body in self.source.macros.items():
            if re.fullmatch(r"0x[0-9a-fA-F]+|\d+", body):
                self.constants[name] = int(body, 0)
        self.read()

    def read(self):
        items, pos, contract = self.source.items, 0, None
        while pos < len(items):
            file, kind, value = items[pos]
            if kind == "ghost":
                pos += 1
                self.ghost(file, value)
                continue
            if kind == "annotation":
                pos += 1
                if value[0] in ("requires", "assigns", "ensures"):
                    if contract:
                        raise Error(f"{file}: a contract without a function")
                    contract = (file, value)
                else:
                    self.annotation(file, value)
                continue
            depth, ghost, toks = 0, [], []
            while True:  # one declaration or definition
                if pos == len(items):
                    raise Error(f"{file}: a declaration does not end")
                _, kind, value = items[pos]
                pos += 1
                if kind != "c":
                    if depth == 0 and value[:2] == ["ghost", "("]:
                        ghost = value[2:]
                    elif depth == 0:
                        raise Error(f"{file}: annotation within a declaration: {value[0]}")
                    continue
                toks.append(value)
                depth += {"{": 1, "(": 1, "}": -1, ")": -1}.get(value, 0)
                if depth == 0 and (value == ";" or value == "}" and toks[0] not in
                                   ("struct", "enum", "typedef")
                                   or value == "}" and toks[0] == "struct" and "(" in toks):
                    break
            self.declaration(file, toks, ghost, contract)
            contract = None
        if contract:
            raise Error(f"{contract[0]}: a contract without a function")

    def annotation(self, file, toks):
        self.add(Parser(toks, file, self.types).globals())

    def add(self, found):
        """Of what an annotation declares, all but the constant root, which is declared and no more."""
        for g in found:
            if g[0] == "def" and g[2] == ROOT:
                if g[1] != "logic" or any(g[4:]):
                    raise Error(f"{ROOT} is to be a constant of which nothing is known")
            elif mentions(g, {ROOT}):
                raise Error(f"{g[2] if g[0] == 'def' else g[1]}: of {ROOT} contracts alone may speak")
            else:
                self.globals.append(g)

    def ghost(self, file, text):
        """Of ghost code the variables that count; all else is passed over."""
        m = re.fullmatch(r"\s*unsigned long (\w+)\s*;\s*", text)
        if m:
            self.counters.append(m[1])

    def declaration(self, file, toks, ghost, contract):
        if contract and contract[0] in CONTRACTS:
            self.function(file, toks, ghost, contract)
        elif contract:
            pass
        elif toks[0] == "enum":
            text = " ".join(toks)
            m = re.fullmatch(r"enum \{ (.*?) ,? ?\} ;", text)
            if not m:
                raise Error(f"{file}: enum not understood: {text}")
            for item in m[1].split(" , "):
                name, value = re.fullmatch(r"(\w+) = (\w+)", item.strip()).groups()
                self.constants[name] = int(value, 0)
        elif toks[0] == "struct" and toks[2] == "{":
            p, members = Parser(toks[3:], file, self.types), []
            while not p.take("}"):
                base = p.base_type()
                members.append(p.declarator(base))
                while p.take(","):
                    members.append(p.declarator(base))
                p.want(";")
            self.structs[toks[1]] = members

    def function(self, file, toks, ghost, contract):
        p = Parser(toks, file, self.types)
        result = None if p.take("void") else p.base_type()
        name = p.name()
        p.want("(")
        params = p.params()
        p.want(";")
        clauses, assigns = Parser(contract[1], f"{file}: {name}", self.types).contract()
        if ROOT not in dict(params) and any(mentions(c[2], {ROOT}) for c in clauses):
            params.append(("R", WORDS))
        if ghost:
            params += Parser(ghost, f"{file}: {name}", self.types).params()
        self.contracts.append((name, result, params, clauses, assigns))


class OptUnit(Unit):
    """ref's vocabulary, and of opt's text what LAYOUT speaks of: `vocabulary'."""

    def __init__(self, tree, defines, vocabulary=None):
        self.pieces, self.own, self.vocabulary = [], [], vocabulary
        super().__init__(tree, defines, tuple(OPT_ROOTS))
        found = [c[0] for c in self.contracts]
        for name in LAYOUT:
            if found.count(name) != 1:
                raise Error(f"{'two contracts' if name in found else 'no contract'} of {name}")
        self.select()

    def annotation(self, file, toks):
        """Of opt's files one definition or fact each, not parsed yet."""
        if not file.startswith("opt/"):
            super().annotation(file, toks)
            return
        starts = [i for i, t in enumerate(toks)
                  if t in ("logic", "predicate", "FACT", "lemma", "type", "axiomatic")]
        for i, end in zip(starts, starts[1:] + [len(toks)]):
            piece = toks[i:end]
            if piece[0] != "axiomatic":
                self.pieces.append((file, piece[:len(piece) - piece[::-1].index(";")]))

    def ghost(self, file, text):
        if not file.startswith("opt/"):
            return
        form = r"/@((?:(?!/@).)*?)@/([^;{}/]*;)"
        rest = re.sub(r"//[^\n]*", "", re.sub(form, "", text, flags=re.S)).strip()
        if rest:
            raise Error(f"{file}: ghost code is not a list of contracts: {rest[:40]!r}")
        for contract, declaration in re.findall(form, text, re.S):
            toks = tokens(declaration, file)
            if toks[toks.index("(") - 1] in LAYOUT:
                self.function(file, toks, [], (file, tokens(contract, file)))

    def select(self):
        def named(toks):
            return {t for t, u in zip(toks, toks[1:]) if u in ("(", "{") and re.match(r"[a-z]", t)}
        names = {}
        for file, toks in self.pieces:
            if toks[0] in ("logic", "predicate"):
                name = toks[1 if toks[0] == "predicate" else 2]
                if name in names:
                    raise Error(f"{file}: {name} is defined twice")
                if name in OPAQUE and "=" in toks:
                    del toks[toks.index("="):-1]
                names[name] = toks
        if self.vocabulary is None:
            todo = [n for c in self.contracts for n in self.applied(c[3])]
            self.vocabulary = set()
            while todo:
                name = todo.pop()
                if name in names and name not in self.vocabulary:
                    self.vocabulary.add(name)
                    todo += named(names[name][2:])
        known = self.vocabulary | {g[2] for g in self.globals if g[0] == "def"}
        for file, toks in self.pieces:
            if toks[0] == "FACT":
                used = named(toks[2:])
                wanted = used <= known and used & self.vocabulary
            else:
                wanted = any(toks is names[n] for n in self.vocabulary if n in names)
            if wanted:
                self.own += Parser(toks, file, self.types).globals()
        self.add(self.own)

    def applied(self, e):
        if not isinstance(e, (tuple, list)):
            return []
        return list(e[1:2]) * (e[:1] == ("app",)) + [n for x in e for n in self.applied(x)]


# ---- Coq -----------------------------------------------------------------------------------

INT = ("integer",)


def mentions(e, names):
    """Whether an expression has one of these variables."""
    return isinstance(e, tuple) and (e[:1] == ("var",) and e[1] in names or any(mentions(x, names) for x in e))


def plain(t):
    return INT if t[0] == "c" else t


def ident(name):
    return name + "_" if name in TAKEN else name


def flat(kind, e):
    """The members of nested conjunctions or disjunctions."""
    return flat(kind, e[1]) + flat(kind, e[2]) if e[0] == kind else [e]


class Coq:
    sort = "logic"

    def __init__(self, unit):
        self.u, self.out, self.used = unit, [], []
        self.defs, self.counting = {}, False
        for g in unit.globals:
            if g[0] == "def":
                if g[2] in self.defs:
                    raise Error(f"{g[2]} is defined twice")
                self.defs[g[2]] = g
        self.recursive = {n for n, g in self.defs.items() if g[7] and self.calls(g[7], n)}
        self.opaque = {n for n, g in self.defs.items() if g[7] is None}

    def calls(self, e, name):
        if isinstance(e, tuple):
            return (e[:2] == ("app", name)) or any(self.calls(x, name) for x in e)
        return False

    def type(self, t, inside=False):
        if t[0] in ("integer", "c"):
            return "Z"
        if t[0] == "boolean":
            return "bool"
        if t[0] == "ptr":
            return "pointer"
        if t[0] == "struct":
            self.struct(t[1])
            return t[1]
        return f"{t[1]}_t" if inside else f"({t[1]}_t V)"

    def struct(self, name):
        if name not in self.u.structs:
            raise Error(f"struct {name} is not known")
        return self.u.structs[name]

    def cells(self, t):
        if t[0] == "c":
            return 1
        if t[0] == "struct":
            return sum(self.cells(m) for _, m in self.struct(t[1]))
        raise Error(f"no cells for {t}")

    def load(self, memory, t, pointer):
        if t[0] == "c":
            return f"(cell {memory} {pointer})"
        if t[0] == "struct":
            self.struct(t[1])
            return f"({t[1]}_at {memory} {pointer})"
        raise Error(f"cannot read {t}")

    # -- expressions; env: variables -> (Coq name, type); labels: ACSL label -> Coq memory
    def term(self, e, env, labels, here):
        """(Coq, type)"""
        kind = e[0]
        if kind == "int":
            return str(e[1]), INT
        if kind in ("true", "false"):
            return kind, ("boolean",)
        if kind == "result":
            if "\\result" not in env:
                raise Error("\\result outside an ensures, or of a void function")
            return env["\\result"]
        if kind == "var":
            name = e[1]
            if name in env:
                return env[name]
            if name == ROOT:
                return f"(seed_value V {self.root(env)})", self.defs["seed_value"][3]
            if name in self.u.counters:
                if not self.counting:
                    raise Error(f"{name} outside an ensures")
                return "after" if here == "Post" else "before", INT
            if name in self.u.constants:
                if name not in self.used:
                    self.used.append(name)
                return name, INT
            g = self.defs.get(name)
            if g and not g[5] and not g[4] and g[1] == "logic":
                return self.apply(e[1], (), (), env, labels, here)
            raise Error(f"name not known: {name}")
        if kind == "minus":
            return f"(- {self.int(e[1], env, labels, here)})", INT
        if kind == "bin":
            op, (a, at) = e[1], self.term(e[2], env, labels, here)
            if at[0] == "ptr":
                if op != "+":
                    raise Error("pointers: only p + k")
                k = self.int(e[3], env, labels, here)
                return f"(shift {self.cells(at[1])} {a} {k})", at
            b = self.int(e[3], env, labels, here)
            if plain(at) != INT:
                raise Error(f"{op} of {at}")
            if op in "/%":
                return f"(Z.{'quot' if op == '/' else 'rem'} {a} {b})", INT
            return f"({a} {op} {b})", INT
        if kind == "cond":
            c = self.boolean(e[1], env, labels, here)
            (a, at), (b, bt) = (self.term(x, env, labels, here) for x in e[2:])
            if plain(at) != plain(bt):
                raise Error("branches of different types")
            return f"(if {c} then {a} else {b})", plain(at)
        if kind == "app":
            if e[1] in self.defs and self.defs[e[1]][1] == "logic":
                return self.apply(e[1], e[2], e[3], env, labels, here)
            raise Error(f"no logic function: {e[1]}")
        if kind == "at":
            if e[2] not in labels:
                raise Error(f"label not known: {e[2]}")
            return self.term(e[1], env, labels, labels[e[2]])
        if kind == "dot":
            s, t = self.term(e[1], env, labels, here)
            if t[0] != "struct":
                raise Error(f"member of {t}")
            members = dict(self.struct(t[1]))
            if e[2] not in members:
                raise Error(f"struct {t[1]} has no member {e[2]}")
            m = members[e[2]]
            return f"({t[1]}_{e[2]} {s})", INT if m[0] == "c" else m
        if kind in ("deref", "index"):
            p, t = self.location(e, env, labels, here)
            if here is None:
                raise Error("memory is read without a label")
            return self.load(here, t, p), plain(t)
        if kind == "addr":
            p, t = self.location(e[1], env, labels, here)
            return p, ("ptr", t)
        if kind in ("rel", "and", "or", "not"):
            return self.boolean(e, env, labels, here), ("boolean",)
        raise Error(f"no term: {kind}")

    def root(self, env):
        """The words whose seed the root has."""
        if env.get("R") != (self.pname("R"), WORDS):
            raise Error(f"{ROOT} outside a contract")
        return env["R"][0]

    def int(self, e, env, labels, here):
        a, t = self.term(e, env, labels, here)
        if plain(t) != INT:
            raise Error(f"an integer expected, not {t}")
        return a

    def location(self, e, env, labels, here):
        """(pointer, type of what lies there) of *p and p[i]"""
        if e[0] == "deref":
            p, t = self.term(e[1], env, labels, here)
        elif e[0] == "index":
            p, t = self.term(("bin", "+", e[1], e[2]), env, labels, here)
        else:
            raise Error(f"no place in memory: {e[0]}")
        if t[0] != "ptr":
            raise Error(f"no pointer: {t}")
        return p, t[1]

    def region(self, e, env, labels, here):
        """The cells at p, at p + (lo .. hi)"""
        lo, hi = "0", "0"
        if e[0] == "bin" and e[1] == "+" and e[3][0] == "range":
            lo, hi = (self.int(x, env, labels, here) for x in e[3][1:])
            e = e[2]
        p, t = self.term(e, env, labels, here)
        if t[0] != "ptr":
            raise Error(f"no pointer: {t}")
        return f"(span {self.cells(t[1])} {p} {lo} {hi})"

    def assigned(self, e, env, labels, here):
        """The cells of the location *p, p[i], p[lo .. hi]"""
        if e[0] == "deref":
            return self.region(e[1], env, labels, here)
        if e[0] == "index":
            return self.region(("bin", "+", e[1], e[2]), env, labels, here)
        raise Error(f"no location: {e[0]}")

    def apply(self, name, given, args, env, labels, here):
        g = self.defs[name]
        _, _, _, result, formal, params, _, _ = g
        if len(args) != len(params):
            raise Error(f"{name}: {len(args)} arguments for {len(params)}")
        if given:
            if len(given) != len(formal) or any(x not in labels for x in given):
                raise Error(f"{name}: labels {given}")
            memories = [labels[x] for x in given]
        elif not formal:
            memories = []
        elif len(formal) == 1 and here is not None:
            memories = [here]
        else:
            raise Error(f"{name}: labels are needed")
        words = [ident(name), "V", *memories]
        for a, (_, want) in zip(args, params):
            text, got = self.term(a, env, labels, here)
            if plain(got) != plain(want):
                raise Error(f"{name}: {got} given for {want}")
            words.append(text)
        return "(" + " ".join(words) + ")", plain(result) if result else None

    REL = {"<": "<", "<=": "<=", ">": ">", ">=": ">=", "==": "=", "!=": "<>"}
    BOOL = {"<": "<?", "<=": "<=?", ">": ">?", ">=": ">=?", "==": "=?"}

    def links(self, e, env, labels, here):
        """A chain of relations as (op, left, right, type)"""
        terms = [self.term(t, env, labels, here) for t in e[2]]
        for op, (a, at), (b, bt) in zip(e[1], terms, terms[1:]):
            if plain(at) != plain(bt) or (op not in ("==", "!=") and plain(at) != INT):
                raise Error(f"{at} {op} {bt}")
            yield op, a, b, plain(at)

    def boolean(self, e, env, labels, here):
        """As a bool: conditions"""
        def sub(x):
            return self.boolean(x, env, labels, here)
        if e[0] == "rel":
            parts = []
            for op, a, b, t in self.links(e, env, labels, here):
                if t != INT:
                    raise Error("a condition compares integers only")
                parts.append(f"(negb ({a} =? {b}))" if op == "!=" else f"({a} {self.BOOL[op]} {b})")
            return parts[0] if len(parts) == 1 else "(" + " && ".join(parts) + ")"
        if e[0] in ("and", "or"):
            return f"({sub(e[1])} {'&&' if e[0] == 'and' else '||'} {sub(e[2])})"
        if e[0] == "not":
            return f"(negb {sub(e[1])})"
        text, t = self.term(e, env, labels, here)
        if t != ("boolean",):
            raise Error(f"a condition expected, not {t}")
        return text

    def prop(self, e, env, labels, here):
        def sub(x):
            return self.prop(x, env, labels, here)
        kind = e[0]
        if kind == "rel":
            parts = [f"{a} {self.REL[op]} {b}" for op, a, b, _ in self.links(e, env, labels, here)]
            return "(" + " /\\ ".join(parts) + ")"
        if kind in ("and", "or"):
            op = {"and": " /\\ ", "or": " \\/ "}[kind]
            return "(" + op.join(sub(x) for x in flat(kind, e)) + ")"
        if kind in ("implies", "iff"):
            return f"({sub(e[1])} {'->' if kind == 'implies' else '<->'} {sub(e[2])})"
        if kind == "not":
            return f"(~ {sub(e[1])})"
        if kind in ("true", "false"):
            return kind.capitalize()
        if kind in ("forall", "exists"):
            inner, words = dict(env), []
            for name, t in e[1]:
                inner[name] = (ident(name), plain(t))
                words.append(f"({ident(name)} : {self.type(t)})")
            return f"({kind} {' '.join(words)}, {self.prop(e[2], inner, labels, here)})"
        if kind == "at":
            if e[2] not in labels:
                raise Error(f"label not known: {e[2]}")
            return self.prop(e[1], env, labels, labels[e[2]])
        if kind in ("valid", "valid_read", "separated"):
            regions = [self.region(x, env, labels, here) for x in e[1]]
            if kind == "separated":
                return f"(separated [{'; '.join(regions)}])"
            if here is None or len(regions) != 1:
                raise Error(f"\\{kind}: one location at a label")
            return f"({'writable' if kind == 'valid' else 'readable'} {here} {regions[0]})"
        if kind == "app" and e[1] in self.defs and self.defs[e[1]][1] == "predicate":
            return self.apply(e[1], e[2], e[3], env, labels, here)[0]
        text, t = self.term(e, env, labels, here)
        if t == ("boolean",):
            return f"({text} = true)"
        raise Error(f"no predicate: {kind} of type {t}")

    # -- the file
    def say(self, *lines):
        self.out += lines

    def pname(self, name):
        """What a parameter is called."""
        return ident(name)

    def env(self, params):
        return {n: (self.pname(n), plain(t)) for n, t in params}

    def binders(self, labels, params):
        return "".join([f" ({x} : memory)" for x in labels] +
                       [f" ({self.pname(n)} : {self.type(t)})" for n, t in params])

    def scope(self, labels):
        return {x: x for x in labels}, labels[0] if len(labels) == 1 else None

    def arrow(self, g):
        kinds = ["memory"] * len(g[4]) + [self.type(t, True) for _, t in g[5]]
        return " -> ".join(kinds + [self.type(g[3], True) if g[3] else "Prop"])

    def in_context(self, what, f):
        try:
            return f()
        except Error as why:
            raise Error(f"{what}: {why}") from None

    def whole(self):
        for g in self.u.globals:
            if g[0] == "def" and (g[2] in self.recursive or g[2] in self.opaque):
                for t in [t for _, t in g[5]] + ([g[3]] if g[3] else []):
                    if t[0] == "struct":
                        raise Error(f"{g[2]}: a structure in the signature of a logic function")
        structs = [self.struct_text(n) for n, m in self.u.structs.items()
                   if all(t[0] in ("c", "struct") for _, t in m)]
        members = [f"{g[1]}_t : Type" if g[0] == "type" else f"{ident(g[2])} : {self.arrow(g)}"
                   for g in self.u.globals
                   if g[0] == "type" or g[0] == "def" and g[2] in self.recursive | self.opaque]
        facts, lemmas, equations = [], [], []
        for g in self.u.globals:
            if g[0] == "def":
                self.in_context(g[2], lambda g=g: self.definition(g, equations, facts))
            elif g[0] in ("FACT", "lemma"):
                labels, here = self.scope(g[2])
                text = "".join(f"forall ({x} : memory), " for x in g[2]) + self.in_context(
                    g[1], lambda g=g: self.prop(g[3], {}, labels, here))
                (facts if g[0] == "FACT" else lemmas).append((g[1], text))
        body, self.out = self.out, []
        for c in self.u.contracts:
            self.in_context(c[0], lambda c=c: self.contract(*c))
        contracts, self.out = self.out, []
        self.say("(* Written by proofs/tools/acsl.py from the ACSL of ref/: not to be edited. *)",
                 "From Coq Require Import ZArith Bool List.",
                 "From Pprf.spec Require Import AcslMemory.",
                 "Import ListNotations.", "Local Open Scope Z_scope.", "",
                 "(* Constants and structures of the headers. *)")
        self.say(*[f"Definition {n} : Z := {self.u.constants[n]}." for n in sorted(self.used)], "")
        for s in structs:
            self.say(*s, "")
        self.say("(* Logic functions that may be any, or are defined by recursion. *)")
        self.record("logic", "Type", members)
        self.say("", "(* The vocabulary. *)", *body)
        self.say("", "(* The recursive definitions. *)")
        self.record("definitions (V : logic)", "Prop", [f"{n}_def : {p}" for n, p in equations])
        self.say("", "(* What the proofs of the C code take as axioms: FACT, reads; and lemmas. *)")
        self.say(*[f"Definition fact_{n} (V : logic) : Prop :=\n  {p}." for n, p in facts])
        self.say(*[f"Definition lemma_{n} (V : logic) : Prop :=\n  {p}." for n, p in lemmas])
        self.record("facts (V : logic)", "Prop", [f"{n}_holds : fact_{n} V" for n, _ in facts])
        self.say("", "(* The contracts. *)", *contracts)
        return "\n".join(self.out) + "\n"

    def record(self, name, sort, members):
        words = name.split()[0]
        self.say(f"Record {name} : {sort} := {words}_intro {{",
                 *[f"  {m};" for m in members], "}.")

    def struct_text(self, name):
        members, at, offset = self.u.structs[name], [], 0
        for n, t in members:
            at.append(f"{name}_{n} := " + self.load("L", t, f"(shift 1 p {offset})"))
            offset += self.cells(t)
        return [f"Record {name} : Type := {name}_intro {{ " +
                "; ".join(f"{name}_{n} : {self.type(t)}" for n, t in members) + " }.",
                f"Definition {name}_cells : Z := {offset}.",
                f"Definition {name}_at (L : memory) (p : pointer) : {name} :=",
                f"  {{| {'; '.join(at)} |}}."]

    def definition(self, g, equations, facts):
        _, kind, name, result, labels, params, reads, body = g
        if name in self.recursive:
            variables = self.binders(labels, params)
            scope, here = self.scope(labels)
            if kind != "logic":
                raise Error("recursive predicate")
            text, t = self.term(body, self.env(params), scope, here)
            if plain(t) != plain(result):
                raise Error(f"{t}, not {result}")
            call = " ".join([ident(name), "V", *labels, *[ident(n) for n, _ in params]])
            equations.append((name, f"forall{variables}, {call} = {text}"))
        elif name not in self.opaque:
            scope, here = self.scope(labels)
            if kind == "logic":
                text, t = self.term(body, self.env(params), scope, here)
                if plain(t) != plain(result):
                    raise Error(f"{t}, not {result}")
                sort = self.type(result)
            else:
                text, sort = self.prop(body, self.env(params), scope, here), "Prop"
            head = f"{ident(name)} (V : {self.sort}){self.binders(labels, params)}"
            self.say(f"Definition {head} : {sort} :=", f"  {text}.")
        if reads is not None:
            if len(labels) != 1:
                raise Error("reads: one label")
            region = self.assigned(reads, self.env(params), {}, None)
            call = [" ".join([ident(name), "V", x, *[ident(n) for n, _ in params]])
                    for x in ("L1", "L2")]
            facts.append((f"{name}_reads", f"forall{self.binders(['L1', 'L2'], params)}, "
                          f"agree_on L1 L2 {region} -> {call[0]} = {call[1]}"))

    def contract(self, name, result, params, clauses, assigns):
        """The contract, and if it assigns a counter its clauses on that in a definition of their own: memory
        has no cell for it, so it has two values, before and after."""
        counters = [e[1] for e in assigns if e[0] == "var" and e[1] in self.u.counters]
        assigns = [e for e in assigns if not (e[0] == "var" and e[1] in counters)]
        costs = [c for c in clauses if mentions(c[2], self.u.counters)]
        clauses = [c for c in clauses if c not in costs]
        if len(counters) > 1 or bool(counters) != bool(costs) or any(c[0] != "ensures" for c in costs):
            raise Error("a counter that is assigned and not bounded, or bounded and not assigned")
        variables = self.binders([], params)
        names = " ".join(self.pname(n) for n, _ in params)
        typed = [f"c_{t[1]} {self.pname(n)}" for n, t in params if t[0] == "c"]
        typed += [f"c_{t[1][1]} (cell M {self.pname(n)})" for n, t in params
                  if t[0] == "ptr" and t[1][0] == "c"]
        env = self.env(params)
        self.say(f"Definition {name}_typed (M : memory){variables} : Prop :=",
                 "  " + (" /\\ ".join(typed) or "True") + ".")
        after = f"(V : {self.sort}) (Pre Post : memory){variables}"
        if result:
            after += f" (result : {self.type(result)})"
        for word, head in (("requires", f"(V : {self.sort}) (Pre : memory){variables}"),
                           ("ensures", after)):
            scope = {"Pre": "Pre", "Old": "Pre", "Here": "Pre"}
            inner, here = dict(env), "Pre"
            if word == "ensures":
                scope.update(Here="Post", Post="Post")
                here = "Post"
                if result:
                    inner["\\result"] = ("result", plain(result))
            members, count = [], 0
            for kind, label, formula in clauses:
                if kind == word:
                    count += 1
                    members.append(f"{name}_{word}_{label or count} : " + self.in_context(
                        f"{word} {label or count}",
                        lambda f=formula: self.prop(f, inner, scope, here)))
            if not count:
                raise Error(f"no {word}")
            self.record(f"{name}_{word} {head}", "Prop", members)
        places = [] if assigns == [("nothing",)] else [
            self.assigned(e, env, {"Pre": "Pre", "Old": "Pre", "Here": "Pre"}, "Pre")
            for e in assigns]
        ends = [f"unchanged Pre Post [{'; '.join(places)}]", f"{name}_typed Post {names}",
                f"{name}_ensures V Pre Post {names}" + (" result" if result else "")]
        if result:
            if result[0] != "c":
                raise Error("result of a type that is no C integer")
            ends.insert(-1, f"c_{result[1]} result")
        self.say(f"Definition {name}_contract {after} : Prop :=",
                 f"  {name}_typed Pre {names} -> {name}_requires V Pre {names} ->",
                 "  " + " /\\\n  ".join(ends) + ".", "")
        if costs:
            inner = dict(env, **({"\\result": ("result", plain(result))} if result else {}))
            scope = {"Pre": "Pre", "Old": "Pre", "Here": "Post", "Post": "Post"}
            self.counting = True
            bounds = [self.in_context(f"ensures {label}", lambda f=f: self.prop(f, inner, scope, "Post"))
                      for _, label, f in costs]
            self.counting = False
            self.say(f"Definition {name}_cost {after} (before after : Z) : Prop :=",
                     f"  {name}_typed Pre {names} -> {name}_requires V Pre {names} ->",
                     "  " + " /\\\n  ".join(bounds) + ".", "")


class OptCoq(Coq):
    """A layout: a tree as in AcslRef.v, and opt's own functions."""
    sort = "layout"

    def whole(self):
        own, equations, facts = self.u.own, [], []
        members = [f"{ident(g[2])} : {self.arrow(g)}" for g in own
                   if g[0] == "def" and g[2] in self.recursive | self.opaque]
        for g in own:
            if g[0] == "def":
                self.in_context(g[2], lambda g=g: self.definition(g, equations, facts))
            else:
                facts.append((g[1], self.in_context(
                    g[1], lambda g=g: self.prop(g[3], {}, {}, None))))
        body, self.out = self.out, []
        for c in sorted(self.u.contracts, key=lambda c: LAYOUT.index(c[0])):
            self.in_context(c[0], lambda c=c: self.contract(*c))
        contracts, self.out = self.out, []
        self.say("(* Written by proofs/tools/acsl.py from the ACSL of opt/: not to be edited. *)",
                 "From Coq Require Import ZArith Bool.",
                 "From Pprf.spec Require Import AcslMemory AcslRef.",
                 "Local Open Scope Z_scope.", "",
                 "(* A tree; functions that are defined by recursion; a set of leaves, any. *)")
        self.record("layout", "Type", ["layout_tree :> logic", *members])
        self.say("", "(* The vocabulary. *)", *body)
        self.say("", "(* The recursive definitions. *)")
        self.record("layout_definitions (V : layout)", "Prop",
                    [f"{n}_def : {p}" for n, p in equations])
        self.say("", "(* Facts, and the contracts of ghost functions. *)")
        self.say(*[f"Definition fact_{n} (V : layout) : Prop :=\n  {p}." for n, p in facts])
        self.say(*contracts)
        self.record("layout_facts (V : layout)", "Prop", [f"{n}_holds : fact_{n} V" for n in
                                                          [n for n, _ in facts] + LAYOUT])
        return "\n".join(self.out) + "\n"

    def contract(self, name, result, params, clauses, assigns):
        if result or assigns != [("nothing",)]:
            raise Error("a ghost function that assigns or returns something")
        kinds = [k for k, _, _ in clauses]
        if kinds != sorted(kinds, reverse=True) or "ensures" not in kinds:
            raise Error("requires, then ensures")
        labels = ["L"] if any(t[0] == "ptr" for _, t in params) else []
        given = [f"c_{t[1]} {ident(n)}" for n, t in params if t[0] == "c"]
        texts = [(k, self.prop(f, self.env(params), {}, "L" if labels else None))
                 for k, _, f in clauses]
        given += [f for k, f in texts if k == "requires"]
        self.say(f"Definition fact_{name} (V : layout) : Prop :=",
                 f"  forall{self.binders(labels, params)},",
                 "  " + " -> ".join(given) + " ->",
                 "  " + " /\\\n  ".join(f for k, f in texts if k == "ensures") + ".")


def check_declarations(definitions, declarations):
    """The code's proofs see the recursive functions declared only: no axiom but the facts, the
    same facts, nothing declared that is not defined, with the same signature."""
    def split(unit):
        facts = [g for g in unit.globals if g[0] in ("FACT", "lemma")]
        return facts, {g[2]: g for g in unit.globals if g[0] == "def"}
    if [u.source.macros.get("FACT") for u in (definitions, declarations)] != ["lemma", "axiom"]:
        raise Error("FACT is a lemma with the definitions, an axiom without")
    facts, defs = split(definitions)
    seen, decls = split(declarations)
    if facts != seen:
        odd = [g[1] for g in facts + seen if facts.count(g) != seen.count(g)]
        raise Error(f"facts proven and facts used differ: {' '.join(odd)}")
    for name, g in decls.items():
        if name not in defs:
            raise Error(f"{name} is declared and not defined")
        d = defs[name]
        same = d[2] == g[2] and d[4:6] == g[4:6] and (g[7] is None or d[7] == g[7])
        boolean = d[3] == ("boolean",) and g[1] == "predicate"
        if not same or (d[3] != g[3] and not boolean) or (d[1] != g[1] and not boolean):
            raise Error(f"{name} is declared otherwise than defined")


def check_axioms(tree):
    """`axiom' and `admit' stand nowhere: a fact is FACT, an axiom in the code and a lemma in wp/.
    And a function that a header of ref or prg declares has its contract there alone: two would be merged."""
    for where, _, names in (walk for d in FOLDERS for walk in os.walk(os.path.join(tree, d))):
        for name in sorted(n for n in names if n.endswith((".c", ".h", ".acsl"))):
            text = read(os.path.join(where, name))
            in_opt = os.path.relpath(where, tree).split(os.sep)[0] == "opt"
            for note in re.finditer(r"/\*@.*?\*/|//@[^\n]*", text, re.S):
                bad = re.search(r"\b(axiom|admit)\b", note.group())
                if bad:
                    raise Error(f"{name}: {bad[1]}: a fact is to be a FACT")
                contract = re.match(r"/[/*]@\s*(requires|assigns|ensures|behavior|terminates|"
                                    r"decreases|assumes|complete|disjoint)\b", note.group())
                if not in_opt and contract and name.endswith(".c") and not re.match(
                        r"\s*static\b", text[note.end():]):
                    raise Error(f"{name}: contract of a function that is not static")


def translate(tree):
    check_axioms(tree)
    definitions = Unit(tree, {"GGM_DEFINITIONS": ""})
    check_declarations(definitions, Unit(tree, {}))
    # what a declaration reads is a fact about the definition
    reads = {g[2]: g[6] for g in Unit(tree, {}).globals if g[0] == "def" and g[6]}
    definitions.globals = [g[:6] + (reads.get(g[2]),) + g[7:] if g[0] == "def" else g
                           for g in definitions.globals]
    return Coq(definitions).whole()


def translate_opt(tree):
    definitions = OptUnit(tree, {"GGM_DEFINITIONS": ""})
    declarations = OptUnit(tree, {}, definitions.vocabulary)
    check_declarations(definitions, declarations)
    if definitions.contracts != declarations.contracts:
        raise Error("contracts proven and contracts used differ")
    return OptCoq(definitions).whole()


def command(usage, name, translate, error):
    """The command line of a translation: to standard output, or to a file if that changes."""
    if len(sys.argv) not in (2, 3):
        sys.exit(usage)
    try:
        text = translate(sys.argv[1])
    except error as why:
        sys.exit(f"{name}: {why}")
    if len(sys.argv) == 2:
        sys.stdout.write(text)
    elif not os.path.exists(sys.argv[2]) or read(sys.argv[2]) != text:
        os.makedirs(os.path.dirname(sys.argv[2]), exist_ok=True)
        with open(sys.argv[2], "w", encoding="utf-8") as f:
            f.write(text)


if __name__ == "__main__":
    if sys.argv[1:2] == ["opt"]:
        del sys.argv[1]
        command(__doc__, "acsl", translate_opt, Error)
    else:
        command(__doc__, "acsl", translate, Error)
