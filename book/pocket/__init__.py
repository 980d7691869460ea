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
from difflib import get_close_matches
from dis import get_instructions
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

BOOK = Path(__file__).parent
KEEPS = not os.environ.get("RELAY_EXPLORER_BOOK_BUILD")
HELP = """This happened in your own version of the file,
    {}
Correct it there. To continue with the book's version, delete the file
(or rename it) and restart the kernel."""


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
    code = compile(source, title, "exec", dont_inherit=True)
    exec(code, module.__dict__)
    stored = {
        step.argval
        for step in get_instructions(code)
        if step.opname == "STORE_NAME"
    }
    for key, value in module.__dict__.items():
        changed = before.get(key, before) is not value
        if key != "__builtins__" and (changed or key in stored):
            namespace[key] = value
    warn_of_old_classes(before, module)
    if KEEPS:
        warn_of_new_file(file)
        keep(file, source)


def warn_of_old_classes(before: dict, module: ModuleType) -> None:
    """Name the classes whose base a cell has defined anew."""
    now = module.__dict__
    for name, old in before.items():
        if isinstance(old, type) and isinstance(now.get(name), type):
            rest = [k for k, v in now.items() if is_below(v, old)]
            if now[name] is not old and rest:
                print(
                    f"{name} is a new class now. Run the cells that define "
                    f"{', '.join(rest)} again:\nthey still use the old one."
                )


def is_below(value: object, base: type) -> bool:
    """Test whether a value is a class derived from another one."""
    return isinstance(value, type) and base in value.__mro__[1:]


def warn_of_new_file(file: str) -> None:
    """Say so if a cell writes a file that the book does not have."""
    if not (BOOK / file).exists() and not mine(file).exists():
        books = [path.name for path in BOOK.glob("*.py")]
        close = get_close_matches(file, books, 1, 0.7)
        meant = f" Did you mean {close[0]}?" if close else ""
        print(f"The book has no file {file}, so this is a new one.{meant}")


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
    try:
        new = merge(old, source)
    except SyntaxError as error:  # in the file; the cell has been run
        error.filename = str(path)
        error.add_note(HELP.format(path))
        raise
    if new == printed:
        path.unlink(missing_ok=True)
    elif new != old:
        path.parent.mkdir(exist_ok=True)
        path.write_text(new, "utf-8")
    importlib.invalidate_caches()


def merge(old: str, source: str) -> str:
    """Replace definitions in a file by those of a cell; put new ones after
    what comes before them in the cell, and before what needs them."""
    pieces = split(old)
    cell = split(source)
    at = -1
    for number, (_, text, statement) in enumerate(cell):
        placed = [part[2] for part in cell[:number]]
        known = position(pieces, statement, at + 1, placed)
        if known is not None:
            at, lead = known, pieces[known][0]
            pieces[at] = lead, text, statement
            continue
        if at < 0:  # before what comes after it in the cell, or at the end
            rest = [position(pieces, part[2], 0) for part in cell[number:]]
            at = next((p for p in rest if p is not None), len(pieces)) - 1
        at += 1
        pieces.insert(at, ("\n\n\n" if at else "", text, statement))
        if at == 0 and len(pieces) > 1:
            pieces[1] = ("\n" + pieces[1][0], *pieces[1][1:])
    for statement in [part[2] for part in cell]:
        move_before(statement, pieces)
    return "".join(lead + text for lead, text, _ in pieces) + "\n"


def move_before(
    statement: ast.stmt, pieces: list, moved: tuple = ()
) -> None:
    """Move definitions that a statement needs when it runs before it."""
    at = next(i for i, part in enumerate(pieces) if part[2] is statement)
    names = needed(statement).difference(
        *(defined(p[2]) for p in pieces[:at])
    )
    for later in range(at + 1, len(pieces)):
        lead, text, other = pieces[later]
        if defined(other) & names and other not in moved:
            del pieces[later]
            if at == 0:  # nothing but a marker is before the first one
                lead, first = pieces[0][0], "\n\n\n"
                pieces[0] = first, *pieces[0][1:]
            pieces.insert(at, (lead, text, other))
            move_before(other, pieces, (*moved, other))
            move_before(statement, pieces, (*moved, other))
            return


def needed(node: ast.AST) -> set[str]:
    """Return the names that are read when a statement runs; the bodies of
    functions run later."""
    if isinstance(node, ast.Name):
        return {node.id} if isinstance(node.ctx, ast.Load) else set()
    parts = list(ast.iter_child_nodes(node))
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        parts = [*node.decorator_list, node.args, node.returns]
    elif isinstance(node, ast.Lambda):
        parts = [node.args]
    return set().union(*(needed(part) for part in parts if part))


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


def position(
    pieces: list, statement: ast.stmt, start: int, placed: list | tuple = ()
) -> int | None:
    """Find a statement in a file: the same one, or one that defines the
    same names. Those that the cell has placed stay."""
    names, text = defined(statement), ast.dump(statement)
    indices = [*range(start, len(pieces)), *range(start)]
    indices = [i for i in indices if pieces[i][2] not in placed]
    same = [i for i in indices if ast.dump(pieces[i][2]) == text]
    like = [i for i in indices if defined(pieces[i][2]) & names]
    return (same + like or [None])[0]


def defined(statement: ast.stmt) -> set[str]:
    """Return the names that a statement defines or extends."""
    match statement:
        case ast.FunctionDef(name) | ast.ClassDef(name):
            return {name}
        case ast.AsyncFunctionDef(name):
            return {name}
        case ast.Assign(targets):
            return set().union(*map(targets_of, targets))
        case ast.AnnAssign(target):
            return targets_of(target)
        case ast.AugAssign(target, _, ast.Dict(keys)):
            table = ast.unparse(target)
            return {f"{table} |= {ast.unparse(key)}" for key in keys if key}
        case ast.AugAssign(target):
            return {f"{ast.unparse(target)} +="}
        case ast.Expr(ast.Call(function)):  # `table.update(…)`
            return {f"{ast.unparse(function)}()"}
        case ast.For(_, _, body) | ast.If(_, body) | ast.With(_, body):
            return set().union(*map(defined, body))
    return set()


def targets_of(target: ast.expr) -> set[str]:
    """Return the names that an assignment gives values to."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return set().union(*map(targets_of, target.elts))
    return {ast.unparse(target)}


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
            error.add_note(HELP.format(self.path))
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
