"""Find words that only this project uses where the field has its own: `python -m tools.prose [FILE …]`.

`WORDS` maps expressions to avoid to their replacements; `NAMES` are names of variables that do not state a
role. The check reads the prose of pages (not their code blocks, but the comments and strings of their cells),
and the docstrings, comments and strings of Python, JavaScript, C and C++ files. codespell, configured in
`.codespellrc`, checks the spelling.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]

_COUNT = (
    r"(?:each|every|one|per|a|an|the|this|that(?! turns)|another|no|first|second|last|next|same|many|more|few"
    r"|some|several|all|both|most|two|three|four|five|ten|hundred|thousand|\d+)"
)
_TENSOR = r"(?:tensor|array|matrix|row|column|vector|tile|image)s?"

# Wording to avoid, as a case-insensitive regular expression, and its replacement.
WORDS: dict[str, str] = {
    r"\b(?:nobody|somebody|everybody|whoever)\b(?!'s perfect)": (
        "name who it is: the pass, the compiler, the caller, the reader"
    ),
    rf"\b{_COUNT} (?:turns?|rounds?)\b(?! (?:out|into|to|on|off|trip|number))": "iteration",
    r"\b(?:turns?|rounds?) of (?:a|the|this|each|its) loops?\b": "iteration",
    r"\b(?:turns?|rounds?) (?:in|through) (?:a|the|this|each|its|every) (?:\w+ )?loops?\b": "iteration",
    r"\bin rounds\b": "repeatedly; iteration",
    r"\bthe way (?:back|there)\b": "the backward pass, the forward pass; the return path",
    r"\b(?:first|second|third) caches?\b": "L1, L2, L3",
    r"\brunning sums?\b": "accumulator",
    r"\b(?:pieces|lines) of memory\b": "cache lines (CPU), sectors or transactions (GPU)",
    r"\bturns? at (?:a|the) banks?\b": "bank conflict",
    r"\b(?:would|must|should|can|has to|have to) queue\b|\bqueues? (?:up )?(?:at|for) (?:a|the|it)\b": (
        "bank conflict"
    ),
    rf"\b(?:numbers|places) (?:of|in) (?:a|the|each|its|this|every|one|both) (?:\w+ )?{_TENSOR}\b": (
        "elements; indices"
    ),
    r"\b(?:is|are|was|were|be|being) (?:stretched|spread)\b": "broadcast",
    r"\bstretch(?:es|ed|ing) (?:it|them|the|a|its)\b": "broadcast",
    r"\b(?:loop|loops|iteration|iterations) (?:is |are )?written out\b|\bwrites? out (?:the|a) loops?\b": (
        "unrolled"
    ),
    r"\bgraphs? (?:is|are|was|were) written out\b|\bwritten out (?:as a tree|in full)\b": (
        "expanded into a tree"
    ),
    r"\blaid anew\b": "layout transform; again",
    r"\bcuts? (?:\w+ ){0,4}into (?:tiles|blocks)\b": "tiled; tiling",
    r"\bstarts? of (?:a |the |one )?kernels?\b": "kernel launches",
    r"\b(?:numbers|sums|loads) under way\b|\bon (?:its|their) way\b": "in flight",
    r"\bbytes a second\b": "bandwidth; bytes per second",
    r"\b(?:given|gives|give|gave|giving) back\b": "freed or released; returned (from a function)",
    r"(?<!complex-)\bout-fusable\b": "complex-out-fusable",
    r"\bnot until run time\b": "dynamic; known only at run time",
    r"\brecorders? (?:tells?|says?|hears?)\b": "emits, records",
    r"\b(?:an|the|one|each) unknown(?=[.,;:)?]| (?:is|of|in|and|to|that|for|with|stands)\b)|\bunknowns\b": (
        "a type variable; unknown values"
    ),
    r"(?<!Amdahl's )\blaws?\b": "type relation; rule",
    r"\bin vain\b": "without effect; unsuccessfully",
    r"\b(?:has|have|had) come about\b|\bc[ao]mes? about\b": "is produced; happens; results",
    r"\bcomes? to (?:no|an) end\b": "does not terminate; ends",
    r"\bin earnest\b": "really",
    r"\bby rote\b": "mechanically",
    r"\bin the place of\b": "instead of; in place of",
    r"\bso is the\b": "say it with a subject first",
    r"\bhas to hope\b": "relies on",
    r"\bis a question about\b": "depends on",
    r"\bwho (?:waits?|uses?|holds?|reads?|asks?) (?:it|for it|them|a|the)\b": (
        "name the thing: which user, which caller"
    ),
    r"\bof which nobody\b": "name who it is",
    r"\bways? through (?:the|a) graph\b": "path",
    rf"\b(?:{_COUNT}|shortest|longest) ways? (?:from|between|leads?|that leads?)\b": "path",
    r"\bjoins? (?:the|a|its|this|that|their) (?:kernel|group)s?\b": "fuses with, is fused into",
    r"\b(?:operator's|operators') meanings?\b|\bmeanings? of (?:an|the|each|every|this) operators?\b": (
        "reference implementation"
    ),
    r"\bwhat is (?:known|done|made|found|needed|left|kept|given) (?:is|are)\b": (
        "name the thing: constants, results, operands"
    ),
    r"\btakes? up\b(?! (?:to|\d|about|less|more|most|memory|space|room|time|half|all|the))": "fuses with",
}
# Words that are allowed as names in code (`border`, `law`) but never in pages.
PAGE_WORDS = {
    r"\bborders?\b": "padding; boundary",
    r"\bwish(?:es)?\b": "preferred layout; preference",
    r"\banew\b": "again",
}
# Names of variables and parameters that say nothing about their role.
NAMES = {"found", "made", "told", "given", "kept"}
ROLES = "the role of the variable: result, operand, message, argument, live"
_PATTERNS = [(re.compile(pattern, re.IGNORECASE), remedy) for pattern, remedy in WORDS.items()]
_PAGE_PATTERNS = [(re.compile(pattern, re.IGNORECASE), remedy) for pattern, remedy in PAGE_WORDS.items()]

# Files that are exempt: the table itself, and files that quote others' words.
EXEMPT = {"tools/prose.py", "tests/machinery/test_prose.py"}
PAGES = (
    "book/*.md",
    "book/reference/*.md",
    "exercises/*.md",
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "frontend/README.md",
    "benchmarks/*.md",
)
SOURCES = ("relay_explorer/**/*.py", "book/**/*.py", "exercises/*.py", "figures/*.py", "tools/*.py")
SCRIPTS = ("frontend/src/**/*.js",)
C_SOURCES = ("relay_explorer/**/*.[ch]", "relay_explorer/**/*.cpp")


@dataclass(frozen=True)
class Hit:
    """A word that the style guide replaces."""

    file: str
    line: int
    word: str
    instead: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: “{self.word}”: write {self.instead}"


def files(root: Path = ROOT) -> Iterator[Path]:
    """Yield every file whose words are checked."""
    for pattern in (*PAGES, *SOURCES, *SCRIPTS, *C_SOURCES):
        for path in sorted(root.glob(pattern)):
            if path.relative_to(root).as_posix() not in EXEMPT:
                yield path


def hits(path: Path, root: Path = ROOT) -> list[Hit]:
    """Return the words to replace in one file."""
    text = path.read_text("utf-8")
    readers = {".md": _page, ".py": _python, ".js": _script, ".c": _c, ".h": _c, ".cpp": _c}
    pieces = readers[path.suffix](text)
    name = path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
    result = []
    for line, piece in pieces:
        for pattern, remedy in _PATTERNS + (_PAGE_PATTERNS if path.suffix == ".md" else []):
            for match in pattern.finditer(piece):
                at = line + piece.count("\n", 0, match.start())
                result.append(Hit(name, at, " ".join(match[0].split()), remedy))
    if path.suffix == ".py":
        result += [Hit(name, line, variable, ROLES) for line, variable in _variables(text)]
    return sorted(result, key=lambda hit: hit.line)


def _page(text: str) -> Iterator[tuple[int, str]]:
    """Yield a page's prose, with inline code blanked, and the comments and strings of its cells."""
    prose: list[str] = []
    fence, executable = "", False
    cell: list[tuple[int, str]] = []
    for number, line in enumerate(text.split("\n"), 1):
        opening = re.match(r"^(`{3,}|~{3,})\s*(\S*)", line)
        if fence:
            if line.strip() == fence:
                if cell:
                    yield from (
                        (cell[0][0] + at - 1, words) for at, words in _python("\n".join(c for _, c in cell))
                    )
                fence, cell = "", []
            elif executable and not line.startswith(("%%", ":")):
                cell.append((number, line))
            prose.append("")
        elif opening and not re.match(
            r"\{(?:predict|answer|diagram|exercise|admonition|note|tip|warning)\}", opening[2]
        ):
            fence, executable = opening[1], opening[2] == "{code-cell}"
            prose.append("")
        else:
            prose.append(re.sub(r"`[^`]*`", "`code`", line))
    yield 1, "\n".join(prose)


def _python(text: str) -> Iterator[tuple[int, str]]:
    """Yield the strings of two words and more, and the comments, of a Python source."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip():
            yield node.lineno, node.value
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def _variables(text: str) -> Iterator[tuple[int, str]]:
    """Yield the variables of functions, and the parameters of lambdas, whose names are in NAMES.

    Fields of dataclasses are exempt, because they describe a state (a value that is *kept*), and so are
    parameters, because the docstring explains them.
    """
    fields: set[ast.expr] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef):
            fields |= {part.target for part in node.body if isinstance(part, ast.AnnAssign)}
        elif isinstance(node, ast.Lambda):
            yield from ((node.lineno, arg.arg) for arg in node.args.args if arg.arg in NAMES)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node not in fields:
            yield from {(node.lineno, node.id)} if node.id in NAMES else ()


def _script(text: str) -> Iterator[tuple[int, str]]:
    """Yield the comments, and the strings of two words and more, of a JavaScript source."""
    comments = r"/\*.*?\*/|(?<!:)//[^\n]*"
    strings = r"\"[^\"\n]* [^\"\n]*\"|'[^'\n]* [^'\n]*'|`[^`]* [^`]*`"
    for match in re.finditer(f"{comments}|{strings}", text, re.DOTALL):
        yield text.count("\n", 0, match.start()) + 1, match[0]


def _c(text: str) -> Iterator[tuple[int, str]]:
    """Yield the comments, and the strings of two words and more, of a C or C++ source."""
    comments, characters = r"/\*.*?\*/|//[^\n]*", r"'(?:\\.|[^'\\\n])'"
    strings = r"\"(?:\\.|[^\"\\\n])*\""
    for match in re.finditer(f"{comments}|{strings}|{characters}", text, re.DOTALL):
        if match[0][0] == "/" or (match[0][0] == '"' and " " in match[0]):
            yield text.count("\n", 0, match.start()) + 1, match[0]


def misspelled(paths: list[Path]) -> str:
    """Return codespell's report on files; empty where it finds nothing."""
    command = [
        sys.executable,
        "-m",
        "codespell_lib",
        "--config",
        str(ROOT / ".codespellrc"),
        *map(str, paths),
    ]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def main() -> int:
    """Print every hit in the given files, or in all files."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, help="files to check instead of all")
    chosen = [path.resolve() for path in parser.parse_args().files] or list(files())
    results = [hit for path in chosen for hit in hits(path)]
    spelling = misspelled(chosen)
    print(*results, sep="\n", end="\n" if results else "")
    print(spelling, end="")
    if results or spelling:
        print(f"{len(results)} words to replace, {len(spelling.splitlines())} misspellings")
    return int(bool(results or spelling))


if __name__ == "__main__":
    sys.exit(main())
