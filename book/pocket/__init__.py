"""The reader's own compiler, and the magic by which the book writes it.

    import pocket

makes the magic `%%pocket FILE` available in a notebook. A cell that begins
with it runs inside the module `pocket.FILE`, and its names are copied into
the notebook. What differs from the book is kept in `my_pocket/FILE` in the
working directory, and the next chapters import that file instead of the
book's. While the book is built and tested, the environment variable
RELAY_EXPLORER_BOOK_BUILD keeps such files from being written or read.
"""

import ast
import importlib
import linecache
import os
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

BOOK = Path(__file__).parent
KEEPS = not os.environ.get("RELAY_EXPLORER_BOOK_BUILD")


def mine(file: str) -> Path:
    """Return where the reader's version of a file is kept."""
    return Path.cwd() / "my_pocket" / file


def run(file: str, source: str, namespace: dict) -> None:
    """Execute a cell in `pocket.<file>`; copy its names to a namespace."""
    stem = file.removesuffix(".py")
    if not stem.isidentifier() or stem == file:
        raise ValueError(f"%%pocket takes a file's name, not {file!r}")
    name = f"{__name__}.{stem}"
    module = sys.modules.get(name)
    if module is None and begins(file, source):
        module = sys.modules[name] = ModuleType(name)
        setattr(sys.modules[__name__], stem, module)
    elif module is None:  # an earlier chapter, or a cell that was left out
        module = importlib.import_module(name)
    number = 1
    while (title := f"<{file}, cell {number}>") in linecache.cache:
        number += 1
    lines = source.splitlines(keepends=True)
    linecache.cache[title] = len(source), None, lines, title
    before = dict(module.__dict__)
    exec(compile(source, title, "exec", dont_inherit=True), module.__dict__)
    for key, value in module.__dict__.items():
        if key != "__builtins__" and before.get(key, before) is not value:
            namespace[key] = value
    if KEEPS:
        keep(file, source)


def begins(file: str, source: str) -> bool:
    """Test whether a cell is the beginning of its file, or a new file."""
    if not (BOOK / file).exists() and not mine(file).exists():
        return True
    first = split((BOOK / file).read_text("utf-8"))[0][2]
    return position(split(source), first, 0) == 0


def keep(file: str, source: str) -> None:
    """Keep the reader's cell, if it differs from the book's, in a file."""
    path, book = mine(file), BOOK / file
    printed = book.read_text("utf-8") if book.exists() else ""
    old = path.read_text("utf-8") if path.exists() else printed
    new = merge(old, source)
    if new == printed:
        path.unlink(missing_ok=True)
    elif new != old:
        path.parent.mkdir(exist_ok=True)
        path.write_text(new, "utf-8")
    importlib.invalidate_caches()


def merge(old: str, source: str) -> str:
    """Replace definitions in a file by those of a cell; put new ones after
    what comes before them in the cell."""
    pieces = split(old)
    cell = split(source)
    at = -1
    for number, (_, text, statement) in enumerate(cell):
        found = position(pieces, statement, at + 1)
        if found is not None:
            at, lead = found, pieces[found][0]
            pieces[at] = lead, text, statement
            continue
        if at < 0:  # before what comes after it in the cell, or at the end
            rest = [position(pieces, part[2], 0) for part in cell[number:]]
            at = next((p for p in rest if p is not None), len(pieces)) - 1
        at += 1
        pieces.insert(at, ("\n\n\n" if at else "", text, statement))
        if at == 0 and len(pieces) > 1:
            pieces[1] = ("\n" + pieces[1][0], *pieces[1][1:])
    return "".join(lead + text for lead, text, _ in pieces) + "\n"


def split(source: str) -> list[tuple[str, str, ast.stmt]]:
    """Return the statements of a file: what stands before each, its text
    without that, and its tree."""
    lines = source.splitlines(keepends=True)
    pieces, end = [], 0
    for statement in ast.parse(source).body:
        decorators = getattr(statement, "decorator_list", [])
        first = min(part.lineno for part in [statement, *decorators]) - 1
        last = statement.end_lineno or first
        text = "".join(lines[first:last]).rstrip("\n")
        before = "\n" if pieces else ""
        pieces.append((before + "".join(lines[end:first]), text, statement))
        end = last
    return pieces


def position(pieces: list, statement: ast.stmt, start: int) -> int | None:
    """Find a statement in a file: the same one, or one that defines the
    same names."""
    names, text = defined(statement), ast.dump(statement)
    indices = [*range(start, len(pieces)), *range(start)]
    same = [i for i in indices if ast.dump(pieces[i][2]) == text]
    like = [i for i in indices if defined(pieces[i][2]) & names]
    return (same + like or [None])[0]


def defined(statement: ast.stmt) -> set[str]:
    """Return the names that a statement defines or extends."""
    match statement:
        case ast.FunctionDef(name) | ast.ClassDef(name):
            return {name}
        case ast.Assign(targets):
            return set(map(ast.unparse, targets))
        case ast.AugAssign(target, _, ast.Dict(keys)):
            table = ast.unparse(target)
            return {f"{table} |= {ast.unparse(key)}" for key in keys}
    return set()


class ReadersFiles(MetaPathFinder):
    """Import the reader's version of a file where there is one."""

    def find_spec(self, name, path=None, target=None) -> ModuleSpec | None:
        package, _, stem = name.rpartition(".")
        file = mine(f"{stem}.py")
        if package != __name__ or not file.is_file():
            return None
        loader = ReadersLoader(name, str(file))
        return spec_from_file_location(name, file, loader=loader)


class ReadersLoader(SourceFileLoader):
    """Load a reader's file; an error says how to do without it."""

    def exec_module(self, module: ModuleType) -> None:
        try:
            super().exec_module(module)
        except Exception as error:
            error.add_note(
                f"This happened in your own version of the file,\n"
                f"    {self.path}\n"
                "Correct it there. To continue with the book's version, "
                "delete the file\n(or rename it) and restart the kernel."
            )
            raise


def register() -> None:
    """Make `%%pocket` available where this runs in a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is not None:

        def magic(line: str, cell: str) -> None:
            run(line.strip(), cell, shell.user_ns)

        shell.register_magic_function(magic, "cell", "pocket")


if KEEPS and not any(isinstance(f, ReadersFiles) for f in sys.meta_path):
    sys.meta_path.insert(0, ReadersFiles())
register()
