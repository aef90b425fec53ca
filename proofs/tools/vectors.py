#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Translates the functions on vectors to Coq, including loads and stores:
build/coq/spec/aes/AesVectorCode.v and build/coq/spec/keccak/KeccakVectorCode.v.

  vectors.py aes TREE [OUT]       read TREE/prg/aes_instructions.c, its x86-64 part; write OUT (only if it
                                  changes) or standard output
  vectors.py keccak TREE [OUT]    the same for the functions on vectors in TREE/prg/keccak.c

The C preprocessor expands the macros. Each function is run statement by statement, as in aes.py,
and its operations on words, vectors and seeds in memory are written as a function of
spec/aes/VectorCode.v:
  - a uint64_t or a vector is a variable, whose value is never examined;
  - int and unsigned are numbers with known values; calls are followed, loops unrolled and conditions decided;
  - step[i].seed, .left and .right are places of seeds, accessed only by loads and stores;
  - for (unsigned h = height; h > 0; h--) stays a loop, and if (copath != NULL) stays a conditional store.

An intrinsic is written by name, with its arguments in C's order; VectorCode.v defines its meaning.
Any other syntax is an error, and so are an intrinsic not in the list below, an integer that
overflows, a shift by the width of its type, an index out of range, and a variable that is read
before it is set."""
import os
import re
import subprocess

import aes
import keccak
from acsl import command

AES_SOURCE = "prg/aes_instructions.c"
KECCAK_SOURCE = "prg/keccak.c"
KECCAK_FUNCTIONS = ["opt_keccak_avx2_x4", "opt_keccak_avx512_x4", "opt_keccak_avx512_x8", "opt_keccak_avx512",
                    "opt_salted_avx2_x4", "opt_salted_avx512_x4", "opt_salted_avx512_x8", "opt_salted_avx512",
                    "opt_keccak_avx512_descend", "opt_salted_avx512_descend"]
AES_FUNCTIONS = ["opt_aes_ni", "opt_aes_ni_x4", "opt_aes_vaes_x4", "opt_aes_vaes_x8", "opt_aes_ni_descend"]
# All preprocessor conditions of each file; #else belongs to the one before it.
CONDITIONS = {
    "prg/aes_instructions.c": ["if OPT_AES_X86 || OPT_AES_ARM", "if OPT_AES_X86", "if OPT_AES_ARM"],
    "prg/aes.h": [
        "ifndef PPRF_PRG_AES_H", "if defined(__x86_64__)", "else",
        "if defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && \\",
        "ifdef __clang__", "else", "else"],
    "prg/lanes.h": ["ifndef PPRF_OPT_LANES_H", "ifdef __FRAMAC__"],
    "prg/keccak.c": ["if OPT_KECCAK_X86"],
    "prg/keccak.h": ["ifndef PPRF_OPT_KECCAK_H", "if defined(__x86_64__)", "else"],
}
AES_FILES = ["prg/aes_instructions.c", "prg/aes.h", "prg/lanes.h"]
KECCAK_FILES = ["prg/keccak.c", "prg/keccak.h", "prg/lanes.h"]
STEP = "const struct pprf_seed * seed ; struct pprf_seed * left , * right ; uint64_t start ; unsigned height ;"
TYPES = {**keccak.TYPES, "opt_step": STEP}
PREPROCESS = [w for w in keccak.PREPROCESS if w != "-P"]

TOKEN = re.compile(
    r"\s*((?:0[xX][0-9a-fA-F]+|[1-9]\d*|0)[uUlL]*|[A-Za-z_]\w*|<<|>>|->|\+\+|--|\|\||&&|==|!=|<=|>="
    r"|[-+*^&|]=|[-+*%^&|~()\[\]{},;:?=<>.])")
BINARY = [*aes.BINARY[:-1], ["*", "%"]]
NUMBERS = {**aes.NUMBERS, "%": lambda a, b: a % b}
WORDS = {"^": "xor64", "&": "and64", "|": "or64", "+": "add64", "*": "mul64", "<<": "shl64", ">>": "shr64"}
VECTORS = ["__m128i", "__m256i", "__m512i"]
ROUNDS = 9  # a loop with at least this many rounds is a cipher's: each round becomes a separate piece

# _mm_NAME: result, arguments; "word" is a long long, "bits" an int, "imm" an immediate operand
X, Y, Z = VECTORS
INTRINSICS = {
    "_mm_set_epi64x": (X, ["word"] * 2), "_mm_set_epi32": (X, ["bits"] * 4), "_mm_set1_epi32": (X, ["bits"]),
    "_mm_xor_si128": (X, [X, X]), "_mm_slli_si128": (X, [X, "imm"]), "_mm_shuffle_epi8": (X, [X, X]),
    "_mm_shuffle_epi32": (X, [X, "imm"]), "_mm_aesenc_si128": (X, [X, X]), "_mm_aesenclast_si128": (X, [X, X]),
    "_mm_aeskeygenassist_si128": (X, [X, "imm"]),
    "_mm_cvtsi64_si128": (X, ["word"]), "_mm_cvtsi128_si64": ("long long", [X]), "_mm_rol_epi64": (X, [X, "imm"]),
    "_mm_ternarylogic_epi64": (X, [X, X, X, "imm"]),
    "_mm256_castsi128_si256": (Y, [X]), "_mm256_castsi256_si128": (X, [Y]),
    "_mm256_inserti128_si256": (Y, [Y, X, "imm"]), "_mm256_extracti128_si256": (X, [Y, "imm"]),
    "_mm256_unpacklo_epi64": (Y, [Y, Y]), "_mm256_unpackhi_epi64": (Y, [Y, Y]),
    "_mm256_set_epi64x": (Y, ["word"] * 4), "_mm256_set1_epi64x": (Y, ["word"]),
    "_mm256_xor_si256": (Y, [Y, Y]), "_mm256_or_si256": (Y, [Y, Y]), "_mm256_andnot_si256": (Y, [Y, Y]),
    "_mm256_slli_epi64": (Y, [Y, "imm"]), "_mm256_srli_epi64": (Y, [Y, "imm"]), "_mm256_rol_epi64": (Y, [Y, "imm"]),
    "_mm256_ternarylogic_epi64": (Y, [Y, Y, Y, "imm"]),
    "_mm512_castsi256_si512": (Z, [Y]), "_mm512_castsi512_si256": (Y, [Z]),
    "_mm512_inserti64x4": (Z, [Z, Y, "imm"]), "_mm512_extracti64x4_epi64": (Y, [Z, "imm"]),
    "_mm512_unpacklo_epi64": (Z, [Z, Z]), "_mm512_unpackhi_epi64": (Z, [Z, Z]),
    "_mm512_set1_epi64": (Z, ["word"]), "_mm512_rol_epi64": (Z, [Z, "imm"]),
    "_mm512_castsi128_si512": (Z, [X]), "_mm512_castsi512_si128": (X, [Z]),
    "_mm512_inserti32x4": (Z, [Z, X, "imm"]), "_mm512_extracti32x4_epi32": (X, [Z, "imm"]),
    "_mm512_set_epi64": (Z, ["word"] * 8), "_mm512_set4_epi64": (Z, ["word"] * 4),
    "_mm512_set1_epi32": (Z, ["bits"]), "_mm512_xor_si512": (Z, [Z, Z]),
    "_mm512_ternarylogic_epi64": (Z, [Z, Z, Z, "imm"]), "_mm512_shuffle_epi8": (Z, [Z, Z]),
    "_mm512_bslli_epi128": (Z, [Z, "imm"]), "_mm512_aesenc_epi128": (Z, [Z, Z]),
    "_mm512_aesenclast_epi128": (Z, [Z, Z]),
}
LOAD, STORE = "_mm_loadu_si128", "_mm_storeu_si128"


class Error(aes.Error):
    pass


def tokens(text):
    return keccak.tokens(re.sub(r"^#pragma GCC unroll \d+$", "", text, flags=re.M), TOKEN, Error)


class Parser(aes.Parser):
    """Parses, besides what aes.py does: vectors, casts, * of a pointer, else, h--, i += 2, .member
    = value, (void)name."""
    BINARY = BINARY

    def at_type(self):
        return super().at_type() or self.tokens[self.at:self.at + 1] in [[v] for v in VECTORS]

    def base_type(self):
        if self.peek("const") or self.tokens[self.at:self.at + 1] not in [[v] for v in VECTORS]:
            const = self.taken("const")
            if self.tokens[self.at:self.at + 1] in [[v] for v in VECTORS]:
                return self.name(), const
            kind, again = super().base_type()
            if const and again:
                raise Error("const twice")
            return kind, const or again
        return self.name(), False

    def cast_type(self):
        """The type in parentheses that begins here, or None."""
        for words, kind in [(("long", "long"), "long long"), (("int",), "int"), (("uint32_t",), "unsigned"),
                            (("uint64_t",), "uint64_t"),
                            (("const", "void", "*"), ("pointer", "void", True)),
                            (("void", "*"), ("pointer", "void", False)),
                            (("const", X, "*"), ("pointer", X, True)), ((X, "*"), ("pointer", X, False))]:
            if self.taken("(", *words, ")"):
                return kind
        return None

    def statement(self):
        if self.peek("for"):
            self.take("for", "(")
            first = self.declaration()
            condition = self.expression()
            self.take(";")
            counter = self.name()
            way = self.word()
            if way not in ("++", "--", "+="):
                raise Error(f"{way}: ++, -- or += expected")
            step = self.number() if way == "+=" else 1
            self.take(")")
            if way == "--":
                return ("down", first, condition, counter, self.statement())
            return ("for", first, condition, counter, step, self.statement())
        if self.taken("(", "void", ")"):
            self.name()
            self.take(";")
            return ("block", [])
        if self.taken("if"):
            self.take("(")
            condition = self.expression()
            self.take(")")
            then = self.statement()
            return ("if", condition, then, self.statement() if self.taken("else") else None)
        return super().statement()

    def braces(self):
        if self.peek("{", "."):
            self.take("{", ".")
            name = self.name()
            self.take("=")
            value = self.initial()
            self.take("}")
            return ("designated", name, value)
        return super().braces()

    def unary(self):
        kind = self.cast_type()
        if kind is not None:
            return ("cast", kind, self.unary())
        if self.taken("*"):
            return ("at", self.unary())
        return super().unary()

    @staticmethod
    def constant(word):
        digits = word.rstrip("uUlL")
        value, suffix = int(digits, 0), word[len(digits):].upper()
        if suffix in ("UL", "ULL") and value < 2 ** 64:
            return ("uint64_t", f"Word {value:#x}")
        if suffix == "U" and value < 2 ** 32:
            return ("unsigned", value)
        if suffix == "" and digits.startswith("0x") and 2 ** 63 <= value < 2 ** 64:
            return ("uint64_t", f"Word {value:#x}")  # no long is that large
        return aes.Parser.constant(word)


class Given:
    """A caller's object that is only read: its value."""

    def __init__(self, value):
        self.value = value


class Place:
    """The place of a seed: a pointer of VectorCode.v."""

    def __init__(self, term):
        self.term = term


class Copath:
    """The array copath."""


class Run(aes.Run):
    """Runs the function. Values are as in aes.py, and ("long long", term); (a vector's type, term);
    ("bytes", term), a seed that was stored as a vector; ("count", k), the loop's counter h - k;
    ("height", term)."""

    def __init__(self, text):
        super().__init__(text)
        self.parts, self.path, self.places, self.whole = [self.blocks], [], {}, True
        self.again, self.guarded, self.pure = None, False, False

    # -- declarations of the file
    def parser(self, text):
        return Parser(tokens(text))

    def struct(self, name):
        if name not in self.structs:
            m = keccak.one(rf"\bstruct {name}\s*(?=\{{)", self.text, f"struct {name}")
            self.structs[name] = self.parser(keccak.braces(self.text, m.end())).members()
        return self.structs[name]

    def function(self, name):
        if name not in self.functions:
            m = keccak.one(rf"\b(struct \w+|uint64_t|void|{'|'.join(VECTORS)})\s+{name}\s*\(([^()]*)\)\s*(?=\{{)",
                           self.text, name)
            result = tuple(m[1].split()) if " " in m[1] else m[1]
            self.functions[name] = (result, self.parser(m[2]).parameters(),
                                    self.parser(keccak.braces(self.text, m.end())).body())
        return self.functions[name]

    def table(self, name):
        """static const uint8_t name[n] = { ... }: known numbers; with uint64_t: words."""
        m = keccak.one(rf"\bstatic const (uint8_t|uint64_t) {name}\[(\d+)\] = (?=\{{)", self.text,
                       f"the table {name}")
        numbers = [w.strip() for w in keccak.braces(self.text, m.end()).split(",")]
        digits = 2 if m[1] == "uint8_t" else 16
        if len(numbers) != int(m[2]) or not all(re.fullmatch(rf"0x[0-9a-f]{{1,{digits}}}", w) for w in numbers):
            raise Error(f"the table {name} is not so many numbers of its type")
        if m[1] == "uint64_t":
            return ("array", "uint64_t", len(numbers)), [Given(("uint64_t", f"Word {w}")) for w in numbers]
        return ("array", "int", len(numbers)), [Given(("int", int(w, 16))) for w in numbers]

    # -- memory
    def variable(self):
        self.top += 1
        self.most = max(self.most, self.top)
        return aes.Word(self.top - 1)

    def new(self, kind):
        if kind in VECTORS:
            return self.variable()
        memory = super().new(kind)
        if kind == ("struct", "pprf_seed"):
            memory[""] = self.variable() if self.whole else None  # its 16 bytes, if a vector is stored there
        return memory

    def load(self, kind, memory):
        if isinstance(memory, Given):
            return memory.value
        if isinstance(memory, aes.Word) and kind in VECTORS:
            if not memory.set:
                raise Error("a variable is read before it is set")
            return (kind, f"Var {memory.index}")
        if kind == ("struct", "pprf_seed"):
            if isinstance(memory, Place):
                raise Error("a seed in memory is read by a load only")
            if memory[""] is not None and memory[""].set:
                return ("bytes", f"Var {memory[''].index}")
        return super().load(kind, memory)

    def emit(self, statement):
        self.blocks[-1].append(statement)

    def assign(self, memory, term):
        self.emit(f"Assign {memory.index} ({term})")
        memory.set = True

    def store(self, kind, memory, value):
        if isinstance(memory, (Given, Place, Copath)):
            raise Error("an assignment to what is only read, or only stored to")
        if kind == "uint64_t":
            self.assign(memory, self.as_word(value))
        elif kind in VECTORS:
            if value[0] != kind:
                raise Error(f"{value[0]} where {kind} is expected")
            self.assign(memory, value[1])
        elif kind == ("struct", "pprf_seed"):
            if memory[""] is not None:
                memory[""].set = False
            super().store(kind, memory, value)
        else:
            super().store(kind, memory, value)

    def store_vector(self, pointer, value):
        """_mm_storeu_si128"""
        if pointer[0] != "pointer" or pointer[1][0] != X or value[0] != X:
            raise Error(f"{STORE} of {pointer[:1]}, {value[0]}")
        memory = pointer[1][1]
        if self.pure:
            raise Error(f"{STORE} within an expression")
        if isinstance(memory, Place):
            self.emit(f"{'StoreUnlessNull' if self.guarded else 'Store'} ({memory.term}) ({value[1]})")
        elif isinstance(memory, dict) and memory.get("") is not None and not self.guarded:
            self.assign(memory[""], value[1])
            memory["lo"].set = memory["hi"].set = False
        else:
            raise Error(f"{STORE} to what is no seed")

    @staticmethod
    def as_word(value):
        if value[0] == "uint64_t":
            return value[1]
        if value[0] in ("int", "unsigned") and value[1] >= 0:
            return f"Word {value[1]:#x}"
        raise Error(f"{value[0]} where uint64_t is expected")

    # -- statements
    def call(self, name, args, pure):
        outside = self.pure
        self.path.append(name)
        self.pure = outside or pure
        value = super().call(name, args, pure)
        self.path.pop()
        self.pure = outside
        return value

    def declare(self, kind, name, initial, scope):
        if initial is not None and initial[0] == "designated":
            if kind[0] != "struct":
                raise Error(f"{name}: a member of what is no structure")
            members = dict(self.struct(kind[1]))
            if initial[1] not in members:
                raise Error(f"no member {initial[1]}")
            scope[name] = (kind, self.new(kind))
            for n, k in self.struct(kind[1]):
                self.fill(k, scope[name][1][n], initial[2] if n == initial[1] else None, scope)
        else:
            super().declare(kind, name, initial, scope)
        first = self.first(scope[name][1])
        if first is not None:
            self.places.setdefault("_".join([*self.path, name]), set()).add(first)

    def first(self, memory):
        while isinstance(memory, (list, dict)):
            memory = memory[0] if isinstance(memory, list) else list(memory.values())[0]
        return memory.index if isinstance(memory, aes.Word) else None

    def next_block(self, depth):
        if self.inside == 0 and depth == 0 and self.blocks[-1]:
            self.blocks.append([])

    def statement(self, s, scope, depth):
        kind = s[0]
        if kind == "for":
            self.next_block(depth)
            self.for_loop(s, scope, depth)
        elif kind == "down":
            self.kept_loop(s, scope, depth)
        elif kind == "if":
            self.next_block(depth)
            if self.asks_for_copath(s[1], scope):
                if s[3] is not None or self.guarded:
                    raise Error("more than a store under copath != NULL")
                before, mark, known = sum(map(len, self.blocks)), self.top, self.numbers(scope)
                self.guarded = True
                self.inner([s[2]], scope, depth + 1)
                self.guarded = False
                # besides stores: values of variables that are used nowhere else
                written = [re.match(r"Assign (\d+)|StoreUnlessNull \(Copath", w) for w in sum(self.blocks, [])[before:]]
                if not written or not all(w and (w[1] is None or int(w[1]) >= mark) for w in written):
                    raise Error("more than a store to copath under copath != NULL")
                if self.numbers(scope) != known:
                    raise Error("a number changes under copath != NULL")
            elif self.decided(s[1], scope):
                self.inner([s[2]], scope, depth + 1)
            elif s[3] is not None:
                self.inner([s[3]], scope, depth + 1)
        elif kind == "expression" and s[1][0] == "call" and s[1][1] == STORE:
            self.next_block(depth)
            if len(s[1][2]) != 2:
                raise Error(f"{STORE}: {len(s[1][2])} arguments")
            self.store_vector(*[self.value(a, scope) for a in s[1][2]])
        else:
            super().statement(s, scope, depth)

    def for_loop(self, s, scope, depth):
        """Written out."""
        _, first, condition, counter, step, body = s
        mark, scope, rounds, pieces = self.top, dict(scope), 0, len(self.blocks)
        super().statement(first, scope, depth + 1)
        what, memory = scope[counter] if counter in scope else (None, None)
        if what != "unsigned" or [d[1] for d in first[1]] != [counter]:
            raise Error(f"{counter}: not the loop's counter")
        while self.decided(condition, scope):
            self.blocks.append([])
            self.inner([body] if body[0] != "block" else body[1], scope, depth + 1)
            memory.value, rounds = (memory.value + step) % 2 ** 32, rounds + 1
            if rounds > 1000:
                raise Error("a loop that long")
        if rounds < ROUNDS:
            self.blocks[pieces - 1:] = [sum(self.blocks[pieces - 1:], [])]
        else:
            self.blocks.append([])
        self.top = mark

    def kept_loop(self, s, scope, depth):
        """for (unsigned h = height; h > 0; h--): at most once per function, kept as a loop."""
        _, first, condition, counter, body = s
        if self.inside or depth or self.again is not None:
            raise Error("a loop downwards that is not the function's only one")
        if (first != ("declare", [("unsigned", counter, ("name", "height"))]) or counter in scope
                or condition != ("binary", ">", ("name", counter), ("int", 0))):
            raise Error(f"{counter}: not from height down to 1")
        if self.value(("name", "height"), scope) != ("top", None):
            raise Error("height: not the argument")
        known = self.numbers(scope)
        self.again, mark = counter, self.top
        self.blocks = [[]]
        self.parts.append(self.blocks)
        scope = {**scope, counter: ("unsigned", Given(("count", 0)))}
        for statement in body[1] if body[0] == "block" else [body]:
            self.statement(statement, scope, 0)
        if self.numbers(scope)[:len(known)] != known:
            raise Error("a number of the function changes in the loop")
        self.top = mark
        self.blocks = [[]]
        self.parts.append(self.blocks)

    def numbers(self, scope):
        """All int and unsigned of the function; those that differ between rounds are unknown."""
        def inside(memory):
            if isinstance(memory, aes.Number):
                return [memory.value]
            if isinstance(memory, (list, dict)):
                return sum(map(inside, memory if isinstance(memory, list) else memory.values()), [])
            return []
        return sum((inside(m) for _, m in scope.values() if not isinstance(m, tuple)), [])

    def asks_for_copath(self, e, scope):
        null = ("cast", ("pointer", "void", False), ("int", 0))
        return (e == ("binary", "!=", ("name", "copath"), null) and "copath" in scope
                and isinstance(scope["copath"][1][1][1], Copath))

    # -- expressions
    def place(self, e, scope):
        if e[0] == "name" and e[1] not in scope:
            return self.table(e[1])
        if e[0] == "member" and isinstance(self.place(e[1], scope)[1], Place):
            raise Error("half a seed in memory")
        if e[0] == "element":
            value, index = self.value(e[1], scope), self.value(e[2], scope)
            if value[0] == "pointer" and isinstance(value[1][1], Copath):
                if index[0] != "count":
                    raise Error("an element of copath that is not at the counter")
                return value[1][0], Place(f"Copath {index[1]}")
            if index[0] == "int" and index[1] < 0:
                raise Error(f"{index[1]}: not an index of the array")
        return super().place(e, scope)

    def value(self, e, scope):
        kind = e[0]
        if kind == "unsigned":
            return e
        if kind == "call" and e[1].startswith("_mm"):
            return self.intrinsic(e[1], [self.value(a, scope) for a in e[2]])
        if kind == "cast":
            return self.cast(e[1], self.value(e[2], scope))
        if kind in ("name", "element"):
            what, memory = self.place(e, scope) if e[0] != "name" or e[1] not in self.enum else (None, None)
            if isinstance(memory, Given):
                return memory.value
        return super().value(e, scope)

    def cast(self, kind, value):
        if kind[0] == "pointer":
            if value[0] != "pointer":
                raise Error(f"a pointer made of {value[0]}")
            # from a pointer to a seed, by way of void *, to one to a vector of the same size
            way = {("struct", "pprf_seed"): "void", "void": X}.get(value[1][0])
            if kind[1] != way:
                raise Error(f"{kind[1]} * made of {value[1][0]} *")
            return ("pointer", (way, value[1][1]))
        if kind == "long long" and value[0] in ("uint64_t", "int", "unsigned"):
            return ("long long", self.as_word(value))
        if kind == "uint64_t" and value[0] in ("uint64_t", "long long"):
            return ("uint64_t", value[1])
        if kind == "uint64_t" and value[0] in ("int", "unsigned"):
            return ("uint64_t", self.as_word(value))
        if kind in ("int", "unsigned") and value[0] in ("int", "unsigned"):
            number = value[1] % 2 ** 32
            return (kind, number - 2 ** 32 if kind == "int" and number >= 2 ** 31 else number)
        raise Error(f"{kind} made of {value[0]}")

    @staticmethod
    def number(kind, value):
        if kind == "int" and -2 ** 31 <= value < 0:
            return kind, value  # the result of a cast can only be stored and passed on
        return aes.Run.number(kind, value)

    def binary(self, sign, a, b):
        if (a[0] in ("int", "unsigned") and a[1] < 0) or (b[0] in ("int", "unsigned") and b[1] < 0):
            raise Error(f"{sign} of an int that is negative")
        if all(v[0] in ("int", "unsigned") for v in (a, b)):
            if sign == "%":
                if b[1] == 0:
                    raise Error("% 0")
                return ("unsigned" if "unsigned" in (a[0], b[0]) else "int", a[1] % b[1])
            return super().binary(sign, a, b)
        if a[0] == "pointer" and sign == "+" and b[0] == "int" and isinstance(a[1][1], list):
            return ("pointer", (a[1][0], a[1][1][b[1]:]))
        if a[0] == "count" and sign == "-" and b[0] == "int" and a[1] + b[1] <= 1:
            return ("count", a[1] + b[1])
        if sign in ("<<", ">>") and a[0] == "uint64_t":
            if b[0] in ("int", "unsigned"):
                if b[1] >= 64:
                    raise Error(f"{sign} {b[1]}: as wide as its type")
                return ("uint64_t", f"Op {WORDS[sign]} [:: {a[1]}; {self.as_word(b)}]")
            if b[0] in ("count", "height"):
                by = b[1] if b[0] == "height" else f"Counter {b[1]}"
                return ("uint64_t", f"Op {WORDS[sign]} [:: {a[1]}; {by}]")
        elif sign in WORDS and sign not in ("<<", ">>"):
            return ("uint64_t", f"Op {WORDS[sign]} [:: {self.as_word(a)}; {self.as_word(b)}]")
        raise Error(f"{a[0]} {sign} {b[0]}: not known here")

    def intrinsic(self, name, args):
        if name == LOAD:
            if len(args) != 1 or args[0][0] != "pointer" or args[0][1][0] != X or not isinstance(
                    args[0][1][1], Place):
                raise Error(f"{LOAD} of what is no seed in memory")
            return (X, f"Loadu ({args[0][1][1].term})")
        if name not in INTRINSICS:
            raise Error(f"{name} not known")
        result, kinds = INTRINSICS[name]
        if len(args) != len(kinds):
            raise Error(f"{name}: {len(args)} arguments")
        held, terms = [], []
        for kind, value in zip(kinds, args):
            if kind == "word":
                terms.append(value[1] if value[0] == "long long" else self.as_word(value))
                if value[0] not in ("long long", "int"):
                    raise Error(f"{name}: {value[0]} where long long is expected")
            elif kind in ("imm", "bits"):
                if value[0] not in ("int", "unsigned") or kind == "imm" and not 0 <= value[1] < 256:
                    raise Error(f"{name}: {value[:2]} is not a constant for it")
                held.append(f"{value[1]}" if kind == "imm" else f"{value[1] % 2 ** 32:#010x}")
            elif value[0] == kind:
                terms.append(value[1])
            else:
                raise Error(f"{name}: {value[0]} where {kind} is expected")
        op = " ".join([name[1:], *held])
        return (result, f"Op {f'({op})' if held else op} [:: {'; '.join(terms)}]")


def steps(n):
    """step[0 .. n - 1]"""
    def pointer(place, i):
        return ("pointer", (("struct", "pprf_seed"), Place(f"{place} {i}")))
    return [{"seed": pointer("Seed", i), "left": pointer("Left", i), "right": pointer("Right", i),
             "start": Given(("uint64_t", f"Start {i}")), "height": Given(("height", f"Height {i}"))}
            for i in range(n)]


class Function:
    """A function of VectorCode.v: the variables are the words of its arguments, then its own and
    those of the functions that it calls."""

    def __init__(self, text, name):
        for struct, members in TYPES.items():
            m = keccak.one(rf"struct {struct}\s*(?=\{{)", text, f"struct {struct}")
            if " ".join(tokens(keccak.braces(text, m.end()))) != members:
                raise Error(f"struct {struct} is not {members}")
        run = Run(text)
        result, parameters, body = run.function(name)
        scope, run.whole = {}, False
        for parameter, kind in parameters:
            scope[parameter] = (kind, self.argument(run, parameter, kind, name))
        run.whole = True
        for _, memory in scope.values():  # after the arguments
            if isinstance(memory, dict):
                memory[""] = run.variable()
        self.name, value = name, run.run(body, scope)
        if (value is None) != (result == "void"):
            raise Error("a return too few or too many")
        self.most, self.parts = run.most, [[b for b in part if b] for part in run.parts]
        if len(self.parts) not in (1, 3):
            raise Error("more than one loop")
        self.parts += [[]] * (3 - len(self.parts))
        self.returned = [] if value is None else self.flat(value)
        self.places = {n: k for n, ks in run.places.items() if len(ks) == 1 for k in ks}

    @staticmethod
    def argument(run, parameter, kind, name):
        if kind == "uint64_t" or kind == ("struct", "pprf_seed"):
            memory = run.new(kind)
            for word in memory.values() if isinstance(memory, dict) else [memory]:
                if word is not None:
                    word.set = True
            return memory
        if (parameter, kind) == ("height", "unsigned"):
            return Given(("top", None))
        if (parameter, kind) == ("step", ("pointer", ("struct", "opt_step"), True)):
            return ("pointer", (("struct", "opt_step"), steps(int(name[-1]))))
        if (parameter, kind) == ("copath", ("pointer", ("struct", "pprf_seed"), False)):
            return ("pointer", (("struct", "pprf_seed"), Copath()))
        raise Error(f"{parameter}: a parameter of another type")

    def flat(self, value):
        if value[0] == "struct":
            return [t for v in value[2].values() for t in self.flat(v)]
        return [value[1] if value[0] == "bytes" else Run.as_word(value)]

    def text(self):
        def block(statements):
            return "    [::\n      " + ";\n      ".join(statements) + "]"

        def part(blocks):
            return "[::\n" + ";\n".join(block(b) for b in blocks) + "]" if blocks else "[::]"
        short = self.name.replace("opt_", "")
        places = [f"Definition {short}_{n} : nat := {k}.\n" for n, k in sorted(self.places.items())]
        return f"""{''.join(places)}
Definition {self.name} : function := {{|
  variables := {self.most};
  opening := {part(self.parts[0])};
  loop := {part(self.parts[1])};
  closing := {part(self.parts[2])};
  returned := [:: {'; '.join(self.returned)}]
|}}.
"""


def conditions(tree, source):
    """Check that every compiler compiles what is translated here."""
    with open(os.path.join(tree, source), encoding="utf-8") as f:
        text = f.read()
    found = [" ".join(m[1].split()) for m in
             re.finditer(r"^[ \t]*#[ \t]*((?:el)?if\w*\b.*|else\b.*)", text, re.M)]
    if found != CONDITIONS[source]:
        raise Error(f"{source}: the conditions are not those that are known here: {found}")


def preprocess(tree, source):
    """The file's own text and that of prg/'s headers, without the compiler's headers."""
    run = subprocess.run([*PREPROCESS, source], cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         text=True, check=False)
    if run.returncode:
        raise Error(run.stderr.strip())
    out, own = [], False
    for line in run.stdout.splitlines():
        m = re.match(r'# \d+ "([^"]*)"', line)
        if m:
            own = m[1].startswith("prg/")
        elif own:
            out.append(line)
    return "\n".join(out)


def by_name(text):
    """The variables under names v0 and so on, since Coq prints a number as its successors, many
    times in a long text."""
    text = re.sub(r"\b(Var|Assign) (\d+)", r"\1 v\2", text)
    numbers = sorted({int(n) for n in re.findall(r"\b(?:Var|Assign) v(\d+)", text)})
    return "".join(f"Definition v{n} : nat := {n}.\n" for n in numbers) + "\n" + text


def translate(tree, source, files, names, shown=lambda text: text):
    for name in files:
        conditions(tree, name)
    text, functions = preprocess(tree, source), []
    for name in names:
        try:
            functions.append(Function(text, name))
        except keccak.Error as why:
            raise Error(f"{name}: {why}") from None
    return "\n".join([
        f"(* Written by proofs/tools/vectors.py from {source}: not to be edited. *)",
        "From Coq Require Import NArith.", "From mathcomp Require Import all_ssreflect.",
        "From Pprf.spec Require Import VectorCode.", "", shown("\n".join(f.text() for f in functions))])


def translate_aes(tree):
    return translate(tree, AES_SOURCE, AES_FILES, AES_FUNCTIONS)


def translate_keccak(tree):
    return translate(tree, KECCAK_SOURCE, KECCAK_FILES, KECCAK_FUNCTIONS, by_name)


if __name__ == "__main__":
    import sys
    translators = {"aes": translate_aes, "keccak": translate_keccak}
    if sys.argv[1:2] and sys.argv[1] in translators:
        command(__doc__, "vectors", translators[sys.argv.pop(1)], Error)
    else:
        sys.exit(__doc__)
