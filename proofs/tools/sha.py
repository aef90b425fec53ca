#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Translates the portable SHA-256 of prg/sha256.c to Coq: build/coq/spec/sha/ShaCode.v.

  sha.py TREE [OUT]    read TREE/prg/sha256.c; write OUT (only if it changes) or standard output

The C preprocessor expands the macros. Then opt_sha256_scalar and compress are run statement by
statement, and their operations on words are written as functions of spec/sha/WordCode.v:

  - a uint32_t or uint64_t, and each of a structure or an array, is a variable; its value is never looked at;
  - int and unsigned are numbers known here, computed as C does: loops run, conditions are decided, and a loop
    whose end depends on a word is an error;
  - constant tables are numbers, too;
  - a call of compress is a call in Coq; what its arguments point to are arguments, and results unless it is const.
    A call of another function runs the function's body, as proofs/tools/aes.py does.

Any other syntax is an error, and so are an integer that overflows, a shift by the width of its
type, an index out of range, a uint64_t put into a uint32_t without a cast, and a variable that is
read before it is set."""
import aes
import keccak
from acsl import command
from aes import Number, Word, tokens

SOURCE = "prg/sha256.c"
CONDITION = None  # the file has no other preprocessor condition
FUNCTION, CALLED = "opt_sha256_scalar", "compress"
WIDTHS = {"uint32_t": 32, "uint64_t": 64}
INTS = ("int", "unsigned")
TYPES = "uint32_t", "uint64_t", *INTS


class Error(aes.Error):
    pass


class Parser(aes.Parser):
    def at_type(self):
        return self.tokens[self.at:self.at + 1] in [["const"], ["struct"]] + [[t] for t in TYPES]

    def base_type(self):
        const = self.taken("const")
        if self.peek("uint32_t"):
            return self.word(), const
        base, _ = super().base_type()
        return base, const

    def parameters(self):
        """An array is a pointer to its elements."""
        out = []
        while True:
            base, const = self.base_type()
            kind, name = self.declarator(base, const)
            if kind[0] == "array":
                kind = ("pointer", base, const, kind[2])
            out.append((name, kind))
            if self.at == len(self.tokens):
                return out
            self.take(",")

    def statement(self):
        if not self.peek("for"):
            return super().statement()
        self.take("for", "(")
        first = self.declaration()
        condition = self.expression()
        self.take(";")
        counter, sign = self.name(), self.word()
        if sign not in ("++", "+="):
            raise Error(f"{sign}: ++ or += expected")
        step = 1 if sign == "++" else self.number()
        self.take(")")
        return ("for", first, condition, counter, step, self.statement())

    def unary(self):
        for kind in TYPES:
            if self.taken("(", kind, ")"):
                return ("cast", kind, self.unary())
        if self.taken("*"):
            return ("at", self.unary())
        return super().unary()

    @staticmethod
    def constant(word):
        digits = word.rstrip("uUlL")
        value, suffix = int(digits, 0), word[len(digits):].upper()
        unsigned = digits[:2].lower() == "0x" and value >= 2 ** 31 or suffix == "U"
        if suffix in ("", "U") and value < (2 ** 32 if unsigned else 2 ** 31):
            return ("number", "unsigned" if unsigned else "int", value)
        if suffix in ("UL", "ULL") and value < 2 ** 64:
            return ("word", "uint64_t", value)
        raise Error(f"{word}: not a constant known here")


class Fixed:
    """A word of a constant table."""

    def __init__(self, value):
        self.value = value


def leaves(memory):
    """The words of an object, in order."""
    if isinstance(memory, (Word, Fixed)):
        return [memory]
    if isinstance(memory, Number):
        raise Error("an int among the words of an argument")
    return [w for m in (memory.values() if isinstance(memory, dict) else memory) for w in leaves(m)]


class Run(aes.Run):
    """Like aes.Run; a word is the value ("uint32_t" or "uint64_t", term)."""

    def __init__(self, text, called=None):
        super().__init__(text)
        self.statements, self.called, self.tables = [], called, {}

    def struct(self, name):
        if name not in self.structs:
            m = keccak.one(rf"\bstruct {name}\s*(?=\{{)", self.text, f"struct {name}")
            self.structs[name] = Parser(tokens(keccak.braces(self.text, m.end()))).members()
        return self.structs[name]

    def function(self, name):
        if name not in self.functions:
            m = keccak.one(rf"\b(struct \w+|uint32_t|uint64_t|void)\s+{name}\s*\(([^()]*)\)\s*(?=\{{)",
                           self.text, name)
            result = tuple(m[1].split()) if " " in m[1] else m[1]
            self.functions[name] = (result, Parser(tokens(m[2])).parameters(),
                                    Parser(tokens(keccak.braces(self.text, m.end()))).body())
        return self.functions[name]

    def table(self, name):
        """A constant of the file."""
        if name not in self.tables:
            m = keccak.one(rf"\bstatic\s+const\s+(struct \w+|uint32_t|uint64_t)\s+{name}\s*(\[\w*\])?\s*=\s*(?=\{{)",
                           self.text, f"{name}: neither declared here nor a constant table")
            kind = tuple(m[1].split()) if " " in m[1] else m[1]
            initial = Parser(["{", *tokens(keccak.braces(self.text, m.end())), "}"]).braces()
            if m[2]:
                size = int(m[2][1:-1], 0) if m[2] != "[]" else len(initial[1])
                kind = ("array", kind, size)
            self.tables[name] = kind, self.fixed(kind, initial)
        return self.tables[name]

    def fixed(self, kind, initial):
        if kind in WIDTHS:
            value = ("int", 0) if initial is None else self.value(initial, {})
            if value[0] not in INTS:
                raise Error("a table of what are no numbers")
            return Fixed(value[1])
        if kind[0] not in ("array", "struct") or initial is not None and initial[0] != "braces":
            raise Error(f"a table with {kind}")
        kinds = [kind[1]] * kind[2] if kind[0] == "array" else [k for _, k in self.struct(kind[1])]
        parts = [] if initial is None else initial[1]
        if len(parts) > len(kinds):
            raise Error("too many values in a table")
        out = [self.fixed(k, parts[i] if i < len(parts) else None) for i, k in enumerate(kinds)]
        return out if kind[0] == "array" else {n: o for (n, _), o in zip(self.struct(kind[1]), out)}

    # -- memory
    def new(self, kind):
        return super().new("uint64_t" if kind in WIDTHS else kind)

    def load(self, kind, memory):
        if isinstance(memory, Fixed):
            return (kind, f"Const {memory.value:#x}")
        if kind[0] == "array":
            return (*kind[:2], [self.load(kind[1], m) for m in memory])
        value = super().load(kind, memory)
        return (kind, value[1]) if kind in WIDTHS else value

    def store(self, kind, memory, value):
        if isinstance(memory, Fixed):
            raise Error("a constant is assigned")
        if kind in WIDTHS:
            if kind == "uint32_t" and value[0] == "uint64_t":
                raise Error("a uint64_t where uint32_t is expected")
            self.statements.append(("Assign", memory.index, self.as_word(value)))
            memory.set = True
        elif kind[0] == "array" and value[:2] == kind[:2] and len(value[2]) == kind[2]:
            for m, v in zip(memory, value[2]):
                self.store(kind[1], m, v)
        elif kind[0] == "struct" and value[:2] == kind:
            for name, k in self.struct(kind[1]):
                self.store(k, memory[name], value[2][name])
        else:
            super().store(kind, memory, value)

    @staticmethod
    def as_word(value):
        if value[0] in WIDTHS:
            return value[1]
        if value[0] in INTS:
            return f"Const {value[1]:#x}"
        raise Error(f"{value[0]} where a word is expected")

    # -- statements
    def next_block(self, depth):
        pass

    def statement(self, s, scope, depth):
        if s[0] != "for":
            super().statement(s, scope, depth)
            return
        _, first, condition, counter, step, body = s
        mark, scope, rounds = self.top, dict(scope), 0
        self.statement(first, scope, depth + 1)
        what, memory = scope[counter] if counter in scope else (None, None)
        if what != "unsigned" or [d[1] for d in first[1]] != [counter]:
            raise Error(f"{counter}: not the loop's counter")
        while self.decided(condition, scope):
            self.inner([body] if body[0] != "block" else body[1], scope, depth + 1)
            memory.value, rounds = (memory.value + step) % 2 ** 32, rounds + 1
            if rounds > 1000:
                raise Error("a loop that long")
        self.top = mark

    def call(self, name, args, pure):
        if name != self.called:
            return super().call(name, args, pure)
        result, parameters, _ = self.function(name)
        if len(parameters) != len(args):
            raise Error(f"{name}: {len(args)} arguments")
        terms, written, read = [], [], []
        for (parameter, kind), value in zip(parameters, args):
            if kind[0] == "pointer":
                if value[0] != "pointer" or value[1][0] != kind[1]:
                    raise Error(f"{name}: {parameter} is another pointer")
                if len(kind) == 4 and len(value[1][1]) != kind[3]:
                    raise Error(f"{name}: {parameter} points to an array of another size")
                terms += [self.load("uint64_t", w)[1] for w in leaves(value[1][1])]
                (read if kind[2] else written).extend(leaves(value[1][1]))
            else:
                terms += self.words(kind, value)
        if pure and written:
            raise Error(f"{name}: an argument is not const, in an expression")
        if any(isinstance(w, Fixed) for w in written):
            raise Error("a constant is assigned")
        if len({id(w) for w in written}) < len(written) or {id(w) for w in written} & {id(w) for w in read}:
            raise Error(f"{name}: two arguments point to one object")
        memory = None if result == "void" else self.new(result)
        written += [] if memory is None else leaves(memory)
        self.statements.append(("Call", [w.index for w in written], terms))
        for w in written:
            w.set = True
        return None if memory is None else self.load(result, memory)

    def words(self, kind, value):
        """The terms of an argument that is not a pointer."""
        if kind in WIDTHS:
            if kind == "uint32_t" and value[0] == "uint64_t":
                raise Error("a uint64_t where uint32_t is expected")
            return [self.as_word(value)]
        if kind[0] == "array":
            return [t for v in value[2] for t in self.words(kind[1], v)]
        if kind[0] == "struct" and value[:2] == kind:
            return [t for n, k in self.struct(kind[1]) for t in self.words(k, value[2][n])]
        raise Error(f"{value[:2]} where {kind} is expected")

    # -- expressions
    def place(self, e, scope):
        if e[0] == "name" and e[1] not in scope and e[1] not in self.enum:
            return self.table(e[1])
        return super().place(e, scope)

    def value(self, e, scope):
        if e[0] == "number":
            return e[1:]
        if e[0] == "word":
            return (e[1], f"Const {e[2]:#x}")
        if e[0] == "cast":
            return self.cast(e[1], self.value(e[2], scope))
        if e[0] == "not":
            value = self.value(e[1], scope)
            if value[0] not in WIDTHS:
                raise Error(f"~ of {value[0]}")
            return (value[0], f"Not {WIDTHS[value[0]]} ({value[1]})")
        return super().value(e, scope)

    def cast(self, kind, value):
        if kind in INTS:
            if value[0] not in INTS:
                raise Error(f"a cast of {value[0]} to {kind}")
            return self.number(kind, value[1])
        if value[0] in INTS:
            return (kind, f"Const {value[1]:#x}")
        if value[0] not in WIDTHS:
            raise Error(f"a cast of {value[0]}")
        if WIDTHS[value[0]] <= WIDTHS[kind]:
            return (kind, value[1])
        return (kind, f"Cast {WIDTHS[kind]} ({value[1]})")

    def binary(self, sign, a, b):
        if a[0] in INTS and b[0] in INTS:
            return super().binary(sign, a, b)
        if sign in aes.SHIFTS and a[0] in WIDTHS and b[0] in INTS:
            width = WIDTHS[a[0]]
            if b[1] >= width:
                raise Error(f"{sign} {b[1]}: as wide as its type")
            return (a[0], f"{aes.SHIFTS[sign]} {width} ({a[1]}) {b[1]}")
        if sign in [*aes.WORDS, "+"] and all(v[0] in WIDTHS or v[0] in INTS for v in (a, b)):
            kind = "uint64_t" if "uint64_t" in (a[0], b[0]) else "uint32_t"
            sign = f"Add {WIDTHS[kind]}" if sign == "+" else aes.WORDS[sign]
            return (kind, f"{sign} ({self.as_word(a)}) ({self.as_word(b)})")
        raise Error(f"{a[0]} {sign} {b[0]}: not known here")


class Program:
    """A function: the variables are its arguments, then its own and those of the functions that it
    calls."""

    def __init__(self, text, name, called=None):
        run, scope, written = Run(text, called), {}, []
        result, parameters, body = run.function(name)
        self.name, self.widths = name, []
        for parameter, kind in parameters:
            if kind[0] == "pointer":
                what = ("array", kind[1], kind[3]) if len(kind) == 4 else kind[1]
                memory = run.new(what)
                scope[parameter] = (kind, ("pointer", (kind[1], memory)))
                if not kind[2]:
                    written += list(zip(self.kinds(run, what), leaves(memory)))
            else:
                what, memory = kind, run.new(kind)
                scope[parameter] = (kind, memory)
            self.widths += [WIDTHS[k] for k in self.kinds(run, what)]
            for w in leaves(memory):
                w.set = True
        value = run.run(body, scope)
        if (value is None) != (result == "void"):
            raise Error("a return too few or too many")
        self.returned = [run.load(k, w)[1] for k, w in written]
        self.returned += [] if value is None else self.flat(run, result, value)
        if not self.returned:
            raise Error("no value is returned")
        self.statements, self.variables = run.statements, run.most

    def kinds(self, run, kind):
        """The types of an object's words."""
        if kind in WIDTHS:
            return [kind]
        if kind[0] == "struct":
            return [t for _, k in run.struct(kind[1]) for t in self.kinds(run, k)]
        if kind[0] == "array":
            return self.kinds(run, kind[1]) * kind[2]
        raise Error(f"an argument with {kind}")

    def flat(self, run, kind, value):
        """The terms of the returned value; an int in it is a constant."""
        if kind in INTS and value[0] in INTS:
            return [f"Const {run.number(kind, value[1])[1]:#x}"]
        if kind[0] == "struct" and value[:2] == kind:
            return [t for n, k in run.struct(kind[1]) for t in self.flat(run, k, value[2][n])]
        if kind[0] == "array":
            return [t for v in value[2] for t in self.flat(run, kind[1], v)]
        return run.words(kind, value)

    def text(self):
        def line(s):
            if s[0] == "Assign":
                return f"Assign {s[1]} ({s[2]})"
            return f"Call [:: {'; '.join(map(str, s[1]))}]\n      [:: {'; '.join(s[2])}]"
        return f"""Definition {self.name} : function := {{|
  parameters := [:: {'; '.join(map(str, self.widths))}]%num;
  variables := {self.variables};
  body := [::
    {(";" + chr(10) + "    ").join(line(s) for s in self.statements)}];
  returned := [:: {'; '.join(self.returned)}]
|}}.
"""


def translate(tree):
    text, programs = keccak.preprocess(tree, SOURCE, CONDITION, [FUNCTION, CALLED]), []
    for name, called in ((CALLED, None), (FUNCTION, CALLED)):
        try:
            programs.append(Program(text, name, called))
        except keccak.Error as why:
            raise Error(f"{name}: {why}") from None
    programs[0].name = "opt_sha256_" + CALLED  # Fips180.v also defines a compress
    return "\n".join([
        "(* Written by proofs/tools/sha.py from prg/sha256.c: not to be edited. *)",
        "From Coq Require Import NArith.", "From mathcomp Require Import all_ssreflect.",
        "From Pprf.spec Require Import WordCode.", "", *[p.text() for p in programs]])


if __name__ == "__main__":
    command(__doc__, "sha", translate, keccak.Error)  # its errors are reported as ours
