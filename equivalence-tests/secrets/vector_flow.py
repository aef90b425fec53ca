#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the machine code of PRG versions that valgrind cannot run: no jump and no address depends
on a seed.

  vector_flow.py OBJECT FUNCTION...   exit 1 if a function contains something not shown harmless

A function of lanes gets, after the two words of the salt if its suite has one, a pointer to steps,
which hold pointers to seeds. One like prg_expand gets the address of its result and the seed in two
registers, then public arguments. A form of bench/wprf/wprf.c gets pointers, to a key, an input and
its result. A 32-byte seed is on the stack, all of which is secret except what
the function has written itself. A walk gets the seed in the first two registers; the stack, where
it stores others, is public. What is read through the argument is public. What is read through
anything else except the program's constants is secret, and so is everything computed from it.
Vector registers are always secret. Then the code must contain no calls, no indirect jumps, no
gathers or scatters, and no secret condition or address. An instruction on general registers that is
not in the table below is refused."""
import re
import subprocess
import sys

GENERAL = {}
for group in ("rax eax ax al", "rbx ebx bx bl", "rcx ecx cx cl", "rdx edx dx dl", "rsi esi si sil",
              "rdi edi di dil", "rbp ebp bp bpl", "rsp esp sp spl",
              *["r%d r%dd r%dw r%db" % (n, n, n, n) for n in range(8, 16)]):
    names = group.split()
    for name in names:
        GENERAL["%" + name] = names[0]
MOVES = {"mov", "movl", "movq", "movabs", "movabsq", "movslq", "movzbl", "movzwl"}
SAME = {"add", "addq", "sub", "subq", "and", "or", "xor", "shl", "shr", "sar", "rol", "ror", "not", "neg",
        "imul", "inc", "dec", "lea", "cmp", "test", "xchg"}
NOTHING = {"push", "pop", "leave", "ret", "nop", "nopl", "nopw", "vzeroupper", "endbr64", "data16", "cs"}


def operands(text):
    """The operands, split at the commas outside brackets."""
    return [o.strip() for o in re.split(r",(?![^(]*\))", text)] if text else []


def registers_of(memory):
    inside = memory[memory.index("("):] if "(" in memory else ""
    return [GENERAL[r] for r in re.findall(r"%\w+", inside) if r in GENERAL]


class Flow:
    def __init__(self, name):
        lanes, walk = "_x" in name, name.endswith("_descend")
        # the argument and the stack; functions without lanes get seeds in registers
        self.step = set() if not lanes else {"rdi"} if "keccak" in name else {"rdx"}
        self.secret = set() if lanes or name.startswith("clmul_") else {"rdi", "rsi"} if walk else {"rsi", "rdx"}
        self.secret_stack = not walk  # stack that the function has not written
        self.constant = {"rsp", "rbp", "rip"}
        self.stack, self.flags, self.bad = {}, False, []

    def state(self):
        return self.step, self.secret, self.constant, self.stack, self.flags

    def enter(self, state):
        step, secret, constant, stack, self.flags = state
        self.step, self.secret, self.constant, self.stack = set(step), set(secret), set(constant), dict(stack)

    def is_secret(self, operand):
        if operand.startswith("$"):
            return False
        if operand in GENERAL:
            return GENERAL[operand] in self.secret
        if operand.startswith("%"):
            return True  # a vector or a mask
        if "%rip" in operand:
            return False
        base = registers_of(operand)
        if base and base[0] in self.step:
            return False
        if base and base[0] in ("rsp", "rbp"):
            return self.stack.get(operand, self.secret_stack)
        return not (base and base[0] in self.constant)

    def write(self, operand, secret, like=None):
        """Record what an operand now holds; like: the register that it is a copy of."""
        if operand in GENERAL:
            register, step, constant = GENERAL[operand], like in self.step, like in self.constant
            for kind in (self.secret, self.step, self.constant):
                kind.discard(register)
            if secret:
                self.secret.add(register)
            elif step:
                self.step.add(register)
            elif constant:
                self.constant.add(register)
        elif "(%rsp)" in operand or "(%rbp)" in operand:
            self.stack[operand] = secret

    def step_over(self, op, args, line):
        vector = any(a.startswith(("%x", "%y", "%z", "%k")) for a in args)
        if op in NOTHING or op.startswith("nop"):
            return
        for a in args:
            if "(" in a:
                if any(r in self.secret for r in registers_of(a)):
                    self.bad.append("a secret address: " + line)
                if re.search(r"%[xyz]mm", a[a.index("("):]):
                    self.bad.append("a gather or scatter: " + line)
        if op in ("jmp", "jmpq"):
            if "*" in line:
                self.bad.append("an indirect jump: " + line)
            return
        if op.startswith("j"):
            if self.flags:
                self.bad.append("a condition that depends on a seed: " + line)
            return
        if op.startswith("call") or op.startswith("loop"):
            self.bad.append("a call: " + line)
            return
        if op.startswith("v"):
            target = args[-1]
            if not target.startswith("%x") and not target.startswith(("%y", "%z", "%k")):
                self.write(target, True)
            if op in ("vptest", "vtestps", "vtestpd", "vcomisd", "vcomiss", "vucomisd", "vucomiss"):
                self.flags = True
            return
        if op.startswith("k") or (vector and op not in MOVES):
            if args and not args[-1].startswith(("%x", "%y", "%z", "%k")):
                self.write(args[-1], True)
            self.flags = self.flags or op.startswith(("kortest", "ktest", "ptest", "comis", "ucomis"))
            return
        if op in MOVES and len(args) == 2:
            like = GENERAL.get(args[0])
            self.write(args[1], self.is_secret(args[0]), like)
            return
        if op == "lea":
            known = registers_of(args[0])
            constant = "%rip" in args[0] or (known and all(r in self.constant for r in known))
            step = known and known[0] in self.step
            secret = any(r in self.secret for r in known)
            self.write(args[1], secret, "rip" if constant else known[0] if step else None)
            return
        if op not in SAME and op[:-1] in SAME and op[-1] in "bwlq":
            op = op[:-1]
        if op in SAME and args:
            secret = any(self.is_secret(a) for a in args)
            self.flags = secret
            if op in ("cmp", "test"):
                return
            if op == "xor" and len(args) == 2 and args[0] == args[1]:
                secret = self.flags = False
            target = args[-1]
            kept = GENERAL.get(target) if args[0].startswith("$") else None
            self.write(target, secret, kept)
            if op == "xchg":
                self.write(args[0], secret)
            return
        self.bad.append("an unknown instruction: " + line)


def merged(a, b):
    """What holds after two paths join."""
    if a is None:
        return b
    return (a[0] & b[0], a[1] | b[1], a[2] & b[2],
            {k: a[3][k] or b[3][k] for k in a[3].keys() & b[3].keys()}, a[4] or b[4])


def run(flow, instructions):
    """Follow every path through the function until nothing new is learned about any instruction."""
    index = {address: i for i, (_, _, _, address) in enumerate(instructions)}
    before, todo = {0: flow.state()}, [0]
    while todo:
        i = todo.pop()
        op, args, line, _ = instructions[i]
        flow.enter(before[i])
        flow.step_over(op, args, line)
        after, nexts = flow.state(), []
        if op.startswith("j") and re.fullmatch(r"[0-9a-f]+", args[0] if args else ""):
            if int(args[0], 16) not in index:
                flow.bad.append("a jump out of the function: " + line)
            else:
                nexts.append(index[int(args[0], 16)])
        if op not in ("jmp", "jmpq", "ret", "retq") and i + 1 < len(instructions):
            nexts.append(i + 1)
        for n in nexts:
            together = merged(before.get(n), after)
            if together != before.get(n):
                before[n] = together
                todo.append(n)


def code(path, name):
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], stdout=subprocess.PIPE,
                          check=True, text=True).stdout
    m = re.search(r"<%s>:\n((?:.+\n)+)" % re.escape(name), text)
    if m is None:
        sys.exit("%s: no function %s" % (path, name))
    found = []
    for line in m.group(1).splitlines():
        parts = line.split("\t")
        if len(parts) < 2:
            continue
        body = re.sub(r"\s*(#|<).*", "", parts[1]).split(None, 1)
        while body and body[0] in ("data16", "cs", "rex.W", "rep", "repz", "notrack") and len(body) > 1:
            body = body[1].split(None, 1)
        if body:
            found.append((body[0], operands(body[1] if len(body) > 1 else ""), parts[1].strip(),
                          int(parts[0].strip(" :"), 16)))
    return found


def main():
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    bad = 0
    for name in sys.argv[2:]:
        flow, instructions = Flow(name), code(sys.argv[1], name)
        run(flow, instructions)
        jumps = sum(op.startswith("j") for op, _, _, _ in instructions)
        print("# %s: %d instructions, %d jumps" % (name, len(instructions), jumps))
        for line in flow.bad[:5]:
            print("#   " + line)
        bad += len(flow.bad) > 0 or len(instructions) < 90
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
