"""Finds loops in assembly, of x86 and of ARM processors."""

from __future__ import annotations

import re

JUMP = re.compile(r"(?:j\w+|b(?:\.\w+)?|cbn?z\s+\w+,)\s+(\.\w+)")


def innermost_loop(assembly: str, instruction: str) -> list[str]:
    """Return the instructions of the smallest loop with an instruction whose name begins as given."""
    lines = [re.split(r"//|#(?!\d|-)", line)[0].strip() for line in assembly.splitlines()]
    labels = {line[:-1]: n for n, line in enumerate(lines) if line.endswith(":")}
    loops = []
    for n, line in enumerate(lines):
        jump = JUMP.match(line)
        start = labels.get(jump[1], n) if jump else n
        body = [text for text in lines[start:n] if re.match(r"[a-z]", text)]
        if any(text.startswith(instruction) for text in body):
            loops.append(body)
    assert loops, f"no loop contains {instruction}"
    return min(loops, key=len)
