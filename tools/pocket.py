"""Write the reader's compiler, book/pocket, from the cells of the chapters: `python -m tools.pocket`.

A cell that begins with `%%pocket FILE` is a part of book/pocket/FILE; the parts of a file follow each other
in the order of the pages. A file that occurs in no chapter yet is left unchanged.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from pathlib import Path

ROOT = Path(__file__).parents[1]
POCKET = ROOT / "book" / "pocket"
CELL = re.compile(
    r"^```\{code-cell\} python\n(?::\w+:[^\n]*\n)*%%pocket (\w+\.py)\n(.*?)\n```$", re.DOTALL | re.MULTILINE
)
APART = {"importer.py"}  # printed, but not counted: it reads the format of another project
GIVEN = {"__init__.py", "bridge.py", "events.py"}  # files that are not printed in the book


def pages(root: Path = ROOT) -> list[Path]:
    """Return the chapters in the order of the book."""
    return sorted((root / "book").glob("ch*.md"))


def chapter_of(page: Path) -> int:
    """Return the number of a page's chapter: 17 of ch17b_scales.md."""
    match = re.match(r"ch(\d+)", page.name)
    assert match is not None
    return int(match[1])


def cells(root: Path = ROOT, last: int = 99) -> list[tuple[str, str]]:
    """Return the compiler's cells in the chapters up to one: the file and the code of each."""
    texts = [page.read_text("utf-8") for page in pages(root) if chapter_of(page) <= last]
    return [(match[1], match[2].strip("\n")) for text in texts for match in CELL.finditer(text)]


def written(root: Path = ROOT, last: int = 99) -> dict[str, str]:
    """Return the text of each file to which the chapters up to one contribute."""
    pieces: dict[str, list[str]] = {}
    for file, code in cells(root, last):
        pieces.setdefault(file, []).append(code)
    return {
        file: "".join(f"# %%\n{piece}\n\n\n" for piece in parts).rstrip() + "\n"
        for file, parts in pieces.items()
    }


def printed_files(root: Path = ROOT) -> list[Path]:
    """Return the files of the compiler that the chapters print."""
    return sorted(p for p in (root / "book" / "pocket").glob("*.py") if p.name not in GIVEN)


def lines_of_code(text: str) -> int:
    """Count the lines of code, excluding blank lines, comments and docstrings."""
    lines: set[int] = set()
    ignored = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in (*ignored, tokenize.ENDMARKER):
            lines |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            lines -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def main() -> int:
    """Write the files, and print the number of lines of each."""
    for file, text in written().items():
        path = POCKET / file
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
            print(f"wrote book/pocket/{file}")
    total = 0
    for path in printed_files():
        count = lines_of_code(path.read_text("utf-8"))
        total += count if path.name not in APART else 0
        print(f"{path.name:16} {count:4}{' (apart)' if path.name in APART else ''}")
    print(f"{'lines of code':16} {total:4}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
