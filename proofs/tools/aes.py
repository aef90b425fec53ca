#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Translates the portable AES of prg/aes.c to Coq: build/coq/spec/aes/AesCode.v.

  aes.py TREE [OUT]    read TREE/prg/aes.c; write OUT (only if it changes) or standard output

The C preprocessor expands the macros. Then opt_aes_bitsliced is run statement by statement, and its
operations on uint64_t are written as assignments of a program of spec/keccak/LaneCode.v:
  - a uint64_t, also in a structure or an array, is a variable, whose value is never examined;
  - int and unsigned are numbers with known values, computed as in C: loops are run and conditions decided;
    a loop whose end depends on a uint64_t is an error;
  - a call runs the function's body with its own variables, which are free again afterwards; its result is
    first put into the caller's variables; pointers are followed.

Any other syntax is an error, and so are an integer that overflows, a shift by the width of its
type, an index out of range, and a variable that is read before it is set."""
import re

import keccak
from acsl import command

SOURCE = "prg/aes.c"
FUNCTION = "opt_aes_bitsliced"
TOKEN = re.compile(
    r"\s*((?:0[xX][0-9a-fA-F]+|[1-9]\d*|0)[uUlL]*|[A-Za-z_]\w*|<<|>>|->|\+\+|\|\||&&|==|!=|<=|>="
    r"|[-+*^&|]=|[-+*^&|~()\[\]{},;:?=<>.])")
# lowest precedence first
BINARY = [["||"], ["&&"], ["|"], ["^"], ["&"], ["==", "!="], ["<", ">", "<=", ">="], ["<<", ">>"],
          ["+", "-"], ["*"]]
WORDS = {"^": "Xor", "&": "And", "|": "Or"}
SHIFTS = {"<<": "Shl", ">>": "Shr"}
NUMBERS = {
    "||": lambda a, b: int(bool(a or b)), "&&": lambda a, b: int(bool(a and b)), "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b, "&": lambda a, b: a & b, "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b), "<": lambda a, b: int(a < b), ">": lambda a, b: int(a > b),
    "<=": lambda a, b: int(a <= b), ">=": lambda a, b: int(a >= b), "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b, "+": lambda a, b: a + b, "-": lambda a, b: a - b,
    "*": lambda a, b: a * b}
TRUTHS = ["||", "&&", "==", "!=", "<", ">", "<=", ">="]  # of type int


class Error(keccak.Error):
    pass


def tokens(text):
    return keccak.tokens(text, TOKEN, Error)


class Parser:
    """Parses statements and expressions to tuples whose first element is their kind."""
    BINARY = BINARY

    def __init__(self, words):
        self.tokens, self.at = words, 0

    def peek(self, *want):
        return self.tokens[self.at:self.at + len(want)] == list(want)

    def take(self, *want):
        if not self.peek(*want):
            raise Error(f"{' '.join(self.tokens[self.at:self.at + 8])}: {' '.join(want)} expected")
        self.at += len(want)

    def taken(self, *want):
        if self.peek(*want):
            self.at += len(want)
            return True
        return False

    def word(self):
        if self.at == len(self.tokens):
            raise Error("the end: more expected")
        self.at += 1
        return self.tokens[self.at - 1]

    def name(self):
        word = self.word()
        if not re.fullmatch(r"[A-Za-z_]\w*", word):
            raise Error(f"{word}: a name expected")
        return word

    # -- types: "uint64_t", "unsigned", "int", ("struct", name), ("array", type, n), ("pointer", type, const)
    def at_type(self):
        return self.tokens[self.at:self.at + 1] in (
            ["const"], ["struct"], ["uint64_t"], ["unsigned"], ["int"])

    def base_type(self):
        const = self.taken("const")
        word = self.name()
        if word == "struct":
            return ("struct", self.name()), const
        if word not in ("uint64_t", "unsigned", "int"):
            raise Error(f"{word}: not a type known here")
        return word, const

    def declarator(self, base, const):
        if self.taken("*"):
            return ("pointer", base, const), self.name()
        name = self.name()
        if self.taken("["):
            base = ("array", base, self.number())
            self.take("]")
        return base, name

    def number(self):
        word = self.word()
        if not re.fullmatch(r"0[xX][0-9a-fA-F]+|\d+", word):
            raise Error(f"{word}: a number expected")
        return int(word, 0)

    def members(self):
        """struct { ... }: name and type of each member."""
        out = []
        while self.at < len(self.tokens):
            base, const = self.base_type()
            while True:
                kind, name = self.declarator(base, const)
                out.append((name, kind))
                if not self.taken(","):
                    break
            self.take(";")
        return out

    def parameters(self):
        out = []
        while True:
            kind, name = self.declarator(*self.base_type())
            out.append((name, kind))
            if self.at == len(self.tokens):
                return out
            self.take(",")

    # -- statements
    def body(self):
        out = []
        while self.at < len(self.tokens):
            out.append(self.statement())
        return out

    def statement(self):
        if self.taken("{"):
            out = []
            while not self.taken("}"):
                out.append(self.statement())
            return ("block", out)
        if self.at_type():
            return self.declaration()
        if self.taken("for"):
            self.take("(")
            first = self.declaration()
            condition = self.expression()
            self.take(";")
            counter = self.name()
            self.take("++", ")")
            return ("for", first, condition, counter, self.statement())
        if self.taken("if"):
            self.take("(")
            condition = self.expression()
            self.take(")")
            then = self.statement()
            if self.peek("else"):
                raise Error("else: not known here")
            return ("if", condition, then)
        if self.taken("return"):
            value = self.expression()
            self.take(";")
            return ("return", value)
        left = self.expression()
        sign = self.word()
        if sign == ";":
            return ("expression", left)
        if sign not in ("=", "^=", "|=", "&=", "+=", "-=", "*="):
            raise Error(f"{sign}: = or ; expected")
        right = self.expression()
        self.take(";")
        return ("assign", left, right if sign == "=" else ("binary", sign[:-1], left, right))

    def declaration(self):
        base, const = self.base_type()
        out = []
        while True:
            kind, name = self.declarator(base, const)
            out.append((kind, name, self.initial() if self.taken("=") else None))
            if not self.taken(","):
                break
        self.take(";")
        return ("declare", out)

    def initial(self):
        return self.braces() if self.peek("{") else self.expression()

    def braces(self):
        self.take("{")
        out = [self.initial()]
        while self.taken(","):
            out.append(self.initial())
        self.take("}")
        return ("braces", out)

    # -- expressions
    def expression(self):
        condition = self.binary(0)
        if not self.taken("?"):
            return condition
        then = self.expression()
        self.take(":")
        return ("conditional", condition, then, self.expression())

    def binary(self, level):
        if level == len(self.BINARY):
            return self.unary()
        left = self.binary(level + 1)
        while self.tokens[self.at:self.at + 1] and self.tokens[self.at] in self.BINARY[level]:
            sign = self.word()
            left = ("binary", sign, left, self.binary(level + 1))
        return left

    def unary(self):
        if self.taken("~"):
            return ("not", self.unary())
        if self.taken("&"):
            return ("address", self.unary())
        if self.peek("(", "struct"):
            self.take("(")
            kind, _ = self.base_type()
            self.take(")")
            return ("literal", kind, self.braces())
        return self.postfix()

    def postfix(self):
        if self.taken("("):
            e = self.expression()
            self.take(")")
        elif re.match(r"\d", self.tokens[self.at] if self.at < len(self.tokens) else ""):
            e = self.constant(self.word())
        else:
            e = ("name", self.name())
        while True:
            if self.taken("."):
                e = ("member", e, self.name())
            elif self.taken("->"):
                e = ("member", ("at", e), self.name())
            elif self.taken("["):
                e = ("element", e, self.expression())
                self.take("]")
            elif e[0] == "name" and self.taken("("):
                args = []
                while not self.taken(")"):
                    if args:
                        self.take(",")
                    args.append(self.expression())
                e = ("call", e[1], args)
            else:
                return e

    @staticmethod
    def constant(word):
        digits = word.rstrip("uUlL")
        value, suffix = int(digits, 0), word[len(digits):].upper()
        if suffix in ("UL", "ULL") and value < 2 ** 64:
            return ("uint64_t", f"Const {value:#x}")
        if suffix == "" and value < 2 ** 31:
            return ("int", value)
        raise Error(f"{word}: not a constant known here")


class Word:
    """A uint64_t in memory: a variable in Coq."""

    def __init__(self, index):
        self.index, self.set = index, False


class Number:
    """An int or unsigned in memory; None before it is set."""

    def __init__(self):
        self.value = None


class Run:
    """Runs the function. A value is ("uint64_t", term), ("int" or "unsigned", number), ("struct",
    name, {member: value}) or ("pointer", object); an object is a Word, a Number, or a dict or
    list of objects."""

    def __init__(self, text):
        self.text, self.top, self.most = text, 0, 0
        self.blocks, self.inside = [[]], 0
        self.functions, self.structs = {}, {}
        self.enum = {}
        for m in re.finditer(r"\benum\s*\{([^{}]*)\}", text):
            for name, value in re.findall(r"(\w+)\s*=\s*(\d+)\s*(?:,|$)", m[1].strip()):
                if name in self.enum:
                    raise Error(f"{name}: twice in an enum")
                self.enum[name] = ("int", int(value))

    # -- declarations of the file
    def struct(self, name):
        if name not in self.structs:
            m = keccak.one(rf"\bstruct {name}\s*(?=\{{)", self.text, f"struct {name}")
            self.structs[name] = Parser(tokens(keccak.braces(self.text, m.end()))).members()
        return self.structs[name]

    def function(self, name):
        if name not in self.functions:
            m = keccak.one(rf"\b(struct \w+|uint64_t|void)\s+{name}\s*\(([^()]*)\)\s*(?=\{{)", self.text, name)
            result = tuple(m[1].split()) if " " in m[1] else m[1]
            self.functions[name] = (result, Parser(tokens(m[2])).parameters(),
                                    Parser(tokens(keccak.braces(self.text, m.end()))).body())
        return self.functions[name]

    # -- memory
    def new(self, kind):
        if kind == "uint64_t":
            self.top += 1
            self.most = max(self.most, self.top)
            return Word(self.top - 1)
        if kind in ("int", "unsigned"):
            return Number()
        if kind[0] == "struct":
            return {name: self.new(k) for name, k in self.struct(kind[1])}
        if kind[0] == "array":
            return [self.new(kind[1]) for _ in range(kind[2])]
        raise Error(f"a variable of type {kind}")

    def load(self, kind, memory):
        if isinstance(memory, Word):
            if not memory.set:
                raise Error("a variable is read before it is set")
            return ("uint64_t", f"Var {memory.index}")
        if isinstance(memory, Number):
            if memory.value is None:
                raise Error("a variable is read before it is set")
            return (kind, memory.value)
        if isinstance(memory, list):
            return ("pointer", (kind, memory))
        return ("struct", kind[1], {n: self.load(k, memory[n]) for n, k in self.struct(kind[1])})

    def store(self, kind, memory, value):
        if kind == "uint64_t":
            self.blocks[-1].append((memory.index, self.as_word(value)))
            memory.set = True
        elif kind in ("int", "unsigned"):
            if value[0] not in ("int", "unsigned"):
                raise Error(f"{value[0]} where {kind} is expected")
            memory.value = self.number(kind, value[1])[1]
        elif kind[0] == "struct" and value[:2] == kind:
            for name, k in self.struct(kind[1]):
                if isinstance(memory[name], list):
                    raise Error("an array is assigned")
                self.store(k, memory[name], value[2][name])
        else:
            raise Error(f"{value[:2]} where {kind} is expected")

    def fresh(self, kind, value):
        """The value in new variables, so that it keeps its value when others are assigned."""
        memory = self.new(kind)
        self.store(kind, memory, value)
        return self.load(kind, memory)

    @staticmethod
    def as_word(value):
        if value[0] == "uint64_t":
            return value[1]
        if value[0] in ("int", "unsigned"):
            return f"Const {value[1]:#x}"
        raise Error(f"{value[0]} where uint64_t is expected")

    @staticmethod
    def number(kind, value):
        if kind == "unsigned":
            return kind, value % 2 ** 32
        if not 0 <= value < 2 ** 31:
            raise Error(f"{value}: an int that is negative or overflows")
        return kind, value

    # -- statements
    def call(self, name, args, pure):
        """Run a function on these values; returns its result, in new variables of the caller."""
        if self.inside > 20:
            raise Error(f"{name}: calls too deep")
        result, parameters, body = self.function(name)
        if len(parameters) != len(args):
            raise Error(f"{name}: {len(args)} arguments")
        memory = None if result == "void" else self.new(result)
        mark, scope = self.top, {}
        for (parameter, kind), value in zip(parameters, args):
            if kind[0] == "pointer":
                if value[0] != "pointer" or value[1][0] != kind[1]:
                    raise Error(f"{name}: {parameter} is another pointer")
                if pure and not kind[2]:
                    raise Error(f"{name}: {parameter} is not const, in an expression")
                scope[parameter] = (kind, value)
            else:
                scope[parameter] = (kind, self.new(kind))
                self.store(kind, scope[parameter][1], value)
        self.inside += 1
        value = self.run(body, scope)
        self.inside -= 1
        if (value is None) != (memory is None):
            raise Error(f"{name}: a return too few or too many")
        if memory is not None:
            self.store(result, memory, value)
        self.top = mark
        return None if memory is None else self.load(result, memory)

    def run(self, body, scope):
        """The returned value; only the last statement may return."""
        for k, statement in enumerate(body):
            if statement[0] == "return":
                if k != len(body) - 1:
                    raise Error("a statement after return")
                self.next_block(0)
                return self.value(statement[1], scope)
            self.statement(statement, scope, 0)
        return None

    def next_block(self, depth):
        """Called before each statement of the function that is run, or of a loop in it."""
        if self.inside == 0 and depth < 2 and self.blocks[-1]:
            self.blocks.append([])

    def statement(self, s, scope, depth):
        self.next_block(depth)
        kind = s[0]
        if kind == "block":
            self.inner(s[1], scope, depth)
        elif kind == "declare":
            for declared in s[1]:
                self.declare(*declared, scope)
        elif kind == "for":
            _, first, condition, counter, body = s
            mark, scope, rounds = self.top, dict(scope), 0
            self.statement(first, scope, depth + 1)
            what, memory = scope[counter] if counter in scope else (None, None)
            if what != "unsigned" or [d[1] for d in first[1]] != [counter]:
                raise Error(f"{counter}: not the loop's counter")
            while self.decided(condition, scope):
                self.inner([body] if body[0] != "block" else body[1], scope, depth + 1)
                memory.value, rounds = (memory.value + 1) % 2 ** 32, rounds + 1
                if rounds > 1000:
                    raise Error("a loop that long")
            self.top = mark
        elif kind == "if":
            if self.decided(s[1], scope):
                self.inner([s[2]], scope, depth)
        elif kind == "assign":
            what, memory = self.place(s[1], scope)
            value = self.value(s[2], scope)
            if value[0] == "struct":
                value = self.fresh(what, value)
            self.store(what, memory, value)
        elif kind == "expression" and s[1][0] == "call":
            if self.call(s[1][1], [self.value(a, scope) for a in s[1][2]], False) is not None:
                raise Error(f"{s[1][1]}: its result is not used")
        else:
            raise Error(f"{kind}: a statement not known here")

    def inner(self, statements, scope, depth):
        mark, scope = self.top, dict(scope)
        for s in statements:
            self.statement(s, scope, depth)
        self.top = mark

    def declare(self, kind, name, initial, scope):
        if name in self.enum:
            raise Error(f"{name}: declared twice")
        if kind[0] == "pointer":
            if initial is None:
                raise Error(f"{name}: a pointer without a value")
            value = self.value(initial, scope)
            if value[0] != "pointer" or value[1][0] != kind[1]:
                raise Error(f"{name}: another pointer")
            scope[name] = (kind, value)
            return
        if initial is not None and initial[0] != "braces":
            value = self.value(initial, scope)
            if value[0] == "struct":  # its variables first, so that this one's come after them
                value = self.fresh(kind, value)
        memory = self.new(kind)
        if initial is None:
            pass
        elif initial[0] == "braces":
            self.fill(kind, memory, initial, scope)
        else:
            self.store(kind, memory, value)
        scope[name] = (kind, memory)

    def fill(self, kind, memory, initial, scope):
        """An initializer; members that it does not name are 0."""
        if kind[0] not in ("struct", "array"):
            self.store(kind, memory, ("int", 0) if initial is None else self.value(initial, scope))
            return
        if initial is not None and initial[0] != "braces":
            if kind[0] == "array":
                raise Error("an array without braces")
            self.store(kind, memory, self.value(initial, scope))
            return
        parts = [] if initial is None else initial[1]
        places = ([(k, memory[n]) for n, k in self.struct(kind[1])] if kind[0] == "struct"
                  else [(kind[1], m) for m in memory])
        if len(parts) > len(places):
            raise Error("too many values in an initializer")
        for k, (what, place) in enumerate(places):
            self.fill(what, place, parts[k] if k < len(parts) else None, scope)

    def decided(self, e, scope):
        value = self.value(e, scope)
        if value[0] not in ("int", "unsigned"):
            raise Error(f"a condition on {value[0]}")
        return value[1] != 0

    # -- expressions
    def place(self, e, scope):
        """The type and the object that an expression names."""
        if e[0] == "name":
            if e[1] not in scope:
                raise Error(f"{e[1]} not declared")
            return scope[e[1]]
        if e[0] == "at":
            value = self.value(e[1], scope)
            if value[0] != "pointer":
                raise Error("-> of what is no pointer")
            return value[1]
        if e[0] == "member":
            kind, memory = self.place(e[1], scope)
            if kind[0] != "struct" or e[2] not in memory:
                raise Error(f"no member {e[2]}")
            return dict(self.struct(kind[1]))[e[2]], memory[e[2]]
        if e[0] == "element":
            value, index = self.value(e[1], scope), self.value(e[2], scope)
            if value[0] != "pointer" or not isinstance(value[1][1], list):
                raise Error("an element of what is no array")
            if index[0] not in ("int", "unsigned") or not index[1] < len(value[1][1]):
                raise Error(f"{index[1]}: not an index of the array")
            return value[1][0], value[1][1][index[1]]
        raise Error(f"{e[0]}: no place in memory")

    def type_of(self, e, scope):
        """The type of an expression that is not evaluated. C gives ?: the common type of its
        branches, whichever is chosen; here both must have the same type."""
        kind = e[0]
        if kind in ("int", "unsigned", "uint64_t"):
            return kind
        if kind in ("number", "word", "cast", "literal"):
            return e[1]
        if kind == "name":
            return "int" if e[1] in self.enum else self.place(e, scope)[0]
        if kind == "not":
            return self.type_of(e[1], scope)
        if kind == "call":
            return self.function(e[1])[0]
        if kind in ("at", "member", "element"):
            of = self.type_of(e[1], scope)
            return dict(self.struct(of[1])).get(e[2]) if kind == "member" else of[1]
        if kind == "binary" and e[1] in TRUTHS:
            return "int"
        if kind == "binary" and e[1] in SHIFTS:
            return self.type_of(e[2], scope)
        if kind in ("binary", "conditional"):
            types = [self.type_of(part, scope) for part in e[-2:]]
            if kind == "conditional" and types[0] != types[1]:
                raise Error(f"?: of {types[0]} and {types[1]}")
            for wide in ("uint64_t", "uint32_t", "unsigned", "int"):
                if wide in types:
                    return wide
            return types[0]
        raise Error(f"{kind}: in ?:, not known here")

    def value(self, e, scope):
        kind = e[0]
        if kind in ("int", "uint64_t"):
            return e
        if kind == "name" and e[1] in self.enum:
            return self.enum[e[1]]
        if kind in ("name", "member", "element", "at"):
            if kind == "member" and e[1][0] in ("call", "literal"):
                raise Error(f"a member of a {e[1][0]}")
            what, memory = self.place(e, scope)
            if what[0] == "pointer":
                return memory
            if what[0] == "array":
                return ("pointer", (what[1], memory))
            return self.load(what, memory)
        if kind == "address":
            return ("pointer", self.place(e[1], scope))
        if kind == "call":
            return self.call(e[1], [self.value(a, scope) for a in e[2]], True)
        if kind == "literal":
            memory = self.new(e[1])
            self.fill(e[1], memory, e[2], scope)
            return self.load(e[1], memory)
        if kind == "conditional":
            self.type_of(e, scope)
            return self.value(e[2] if self.decided(e[1], scope) else e[3], scope)
        if kind == "not":
            value = self.value(e[1], scope)
            if value[0] != "uint64_t":
                raise Error(f"~ of {value[0]}")
            return ("uint64_t", f"Not ({value[1]})")
        if kind == "binary":
            return self.binary(e[1], self.value(e[2], scope), self.value(e[3], scope))
        raise Error(f"{kind}: an expression not known here")

    def binary(self, sign, a, b):
        numbers = [v[0] in ("int", "unsigned") for v in (a, b)]
        if all(numbers):
            kind = "unsigned" if "unsigned" in (a[0], b[0]) else "int"
            if sign in SHIFTS:
                kind = a[0]
                if b[1] >= 32:
                    raise Error(f"{sign} {b[1]}: as wide as its type")
            value = NUMBERS[sign](a[1], b[1])
            return self.number("int" if sign in TRUTHS else kind, value)
        if sign in SHIFTS and numbers[1] and a[0] == "uint64_t":
            if b[1] >= 64:
                raise Error(f"{sign} {b[1]}: as wide as its type")
            return ("uint64_t", f"{SHIFTS[sign]} ({a[1]}) {b[1]}")
        if sign in WORDS:
            return ("uint64_t", f"{WORDS[sign]} ({self.as_word(a)}) ({self.as_word(b)})")
        raise Error(f"{a[0]} {sign} {b[0]}: not known here")


class Program:
    """A function as a program: the variables are its arguments, then its own and those of the
    functions that it calls."""

    def __init__(self, text, name):
        run = Run(text)
        _, parameters, body = run.function(name)
        scope = {}
        for parameter, kind in parameters:
            scope[parameter] = (kind, run.new(kind))
            self.set(scope[parameter][1])
        self.arguments, result = run.top, run.run(body, scope)
        self.name, self.most = name, run.most
        self.blocks = [b for b in run.blocks if b]
        self.returned = self.flat(result)
        self.places = {n: self.first(m) for n, (kind, m) in scope.items() if kind[0] == "struct"}

    def set(self, memory):
        if isinstance(memory, Word):
            memory.set = True
        elif isinstance(memory, dict):
            for m in memory.values():
                self.set(m)
        else:
            raise Error("an argument that is no uint64_t and no structure of them")

    def flat(self, value):
        if value is None or value[0] == "pointer":
            raise Error("no value is returned")
        return ([t for v in value[2].values() for t in self.flat(v)] if value[0] == "struct"
                else [Run.as_word(value)])

    def first(self, memory):
        while not isinstance(memory, Word):
            memory = memory[0] if isinstance(memory, list) else list(memory.values())[0]
        return memory.index

    def text(self):
        def block(assignments):
            return "  [::\n    " + ";\n    ".join(f"({v}, {e})" for v, e in assignments) + "]"
        short = self.name.replace("opt_", "")
        places = [f"Definition {short}_{n} : nat := {k}.\n" for n, k in self.places.items()]
        return f"""{''.join(places)}
(* The statements of the function and of its loops. *)
Definition {short}_blocks : seq block := [::
{(";" + chr(10)).join(block(b) for b in self.blocks)}].

Definition {self.name} : program := {{|
  variables := {self.most};
  before := flatten {short}_blocks;
  first := 0; limit := 0; step := 1;
  body := [::];
  after := [::];
  returned := [:: {'; '.join(self.returned)}]
|}}.
"""


def translate(tree):
    try:
        program = Program(keccak.preprocess(tree, SOURCE, None, [FUNCTION]), FUNCTION)
    except keccak.Error as why:
        raise Error(f"{FUNCTION}: {why}") from None
    return "\n".join([
        "(* Written by proofs/tools/aes.py from prg/aes.c: not to be edited. *)",
        "From Coq Require Import NArith.", "From mathcomp Require Import all_ssreflect.",
        "From Pprf.spec Require Import LaneCode.", "", program.text()])


if __name__ == "__main__":
    command(__doc__, "aes", translate, Error)
