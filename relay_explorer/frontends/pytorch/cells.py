"""The tensors and lists of a TorchScript program, which it may change in place, as cells.

Relay's values never change. A cell holds the expression that a tensor has now; an operator that changes the
tensor gives the cell another expression. A view (`x[0]`, `x.t()`) is a cell that knows its base: a change of
the view is written into the base, and after a change of the base the view is derived anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar
from typing import Any as Anything

from ...ir.errors import RelayError
from ...ir.expr import Expr

if TYPE_CHECKING:
    from collections.abc import Iterator


T = TypeVar("T")
SHARED = "the program reads a tensor that may share its storage with one that was changed in place"
_HELP = "replace the in-place operation by one that returns a new tensor"


class Cell:
    """Something that a program may change: a tensor or a list. `serial` numbers cells in their order of
    creation; `state` is what a change replaces.
    """

    __slots__ = ("journal", "serial", "state")

    def __init__(self, journal: Journal, state: object) -> None:
        self.journal = journal
        self.state = state
        self.serial = journal.next_serial()

    def change(self, state: object) -> None:
        """Replace the state, so that `Journal.undone` can take it back."""
        self.journal.before_change(self)
        self.state = state


class Journal:
    """Records changes of cells, so that a branch or a loop's body can be converted apart from the rest."""

    def __init__(self) -> None:
        self._serial = 0
        self._changes: list[dict[Cell, object]] = []

    def next_serial(self) -> int:
        """Return the number of the next cell."""
        self._serial += 1
        return self._serial

    def before_change(self, cell: Cell) -> None:
        """Remember the state of a cell that is about to change."""
        if self._changes:
            self._changes[-1].setdefault(cell, cell.state)

    @contextmanager
    def undone(self) -> Iterator[Changes]:
        """Take back, at the end, all changes made inside. The value tells which cells were changed."""
        before: dict[Cell, object] = {}
        changes = Changes(self._serial, before)
        self._changes.append(before)
        try:
            yield changes
        finally:
            self._changes.pop()
            for cell, state in before.items():
                cell.state = state


class Changes:
    """The changes made to cells since a moment."""

    def __init__(self, serial: int, before: dict[Cell, object]) -> None:
        self._serial = serial
        self._before = before

    def cells(self) -> list[Cell]:
        """Return the changed cells that already existed then."""
        return [cell for cell in self._before if cell.serial <= self._serial]

    def before(self, cell: Cell, function: Callable[[Cell], T]) -> T:
        """Return what a function returns for a cell in its state before the changes."""
        now, cell.state = cell.state, self._before[cell]
        try:
            return function(cell)
        finally:
            cell.state = now


class _State:
    """A tensor's expression; for a view, the version of the base that it was derived from; and why it cannot
    be read, if it cannot.
    """

    __slots__ = ("expr", "problem", "version")

    def __init__(self, expr: Expr, version: object = None, problem: str = "") -> None:
        self.expr = expr
        self.version = version
        self.problem = problem


Derive = Callable[[Expr], Expr]
Write = Callable[[Expr, Expr], Expr]


class Tensor(Cell):
    """A tensor. A view has a `base`, a function that derives it from the base, and one that returns the base
    with the view's new elements in it; that is None where it cannot be expressed.
    """

    __slots__ = ("base", "derive", "name", "related", "write_back")

    def __init__(
        self,
        journal: Journal,
        expr: Expr,
        base: Tensor | None = None,
        derive: Derive | None = None,
        write_back: Write | None = None,
    ) -> None:
        super().__init__(journal, _State(expr, base.version if base is not None else None))
        self.base = base
        self.derive = derive
        self.write_back = write_back
        self.related: list[Tensor] = []
        self.name = ""  # that of the node's result, for the node list

    @property
    def _now(self) -> _State:
        assert isinstance(self.state, _State)
        return self.state

    @property
    def problem(self) -> str:
        """Why the tensor cannot be read; empty if it can."""
        return self._now.problem

    @property
    def version(self) -> object:
        """An object that is replaced by every change of the tensor's storage."""
        return self.base.version if self.base is not None else self.state

    def read(self) -> Expr:
        """Return the expression of the tensor's present elements."""
        if self._now.problem:
            raise RelayError(self._now.problem, help=[_HELP])
        if self.base is not None and self._now.version is not self.base.version:
            assert self.derive is not None
            self.change(_State(self.derive(self.base.read()), self.base.version))
        return self._now.expr

    def form(self) -> Expr:
        """Return an expression of which only the type and shape may be used; changes in place keep them."""
        return self._now.expr

    def write(self, expr: Expr) -> None:
        """Replace the tensor's elements, also those of its base."""
        if self.base is None:
            self.change(_State(expr))
        else:
            if self.write_back is None:
                raise RelayError(
                    "the program changes a view of a tensor in place, which cannot be expressed for this "
                    "view",
                    help=[_HELP],
                )
            self.base.write(self.write_back(self.base.read(), expr))
            self.change(_State(expr, self.base.version))
        root = self.root
        for other in root.related:
            other.root.spoil(SHARED)

    @property
    def root(self) -> Tensor:
        """The tensor that owns the storage."""
        return self if self.base is None else self.base.root

    def spoil(self, problem: str) -> None:
        """Make the tensor unreadable: `problem` says why."""
        self.change(_State(self._now.expr, None, problem))

    def relate(self, other: Tensor) -> None:
        """Note that the two may share their storage, so that a change of one makes the other unreadable."""
        if self.root is not other.root:
            self.root.related.append(other)
            other.root.related.append(self)


class List(Cell):
    """A list. Its state is the tuple of its items, or `Computed`: a value of the prelude's `List`."""

    __slots__ = ()

    def __init__(self, journal: Journal, items: Sequence[object]) -> None:
        super().__init__(journal, tuple(items))

    @classmethod
    def computed(cls, journal: Journal, expr: Expr, spec: Anything) -> List:
        """Return a list that is an expression."""
        result = cls(journal, ())
        result.state = Computed(expr, spec)
        return result

    @property
    def items(self) -> tuple[object, ...]:
        """The items; an error where they are not known."""
        if not isinstance(self.state, tuple):
            raise RelayError(
                "a list whose length is known only at run time is used where its elements must be known",
                help=["unroll the loop that builds the list: give its number of iterations as a constant"],
            )
        return self.state

    @property
    def is_known(self) -> bool:
        """Whether the items are known."""
        return isinstance(self.state, tuple)

    def __len__(self) -> int:
        return len(self.items)


class Computed:
    """The state of a list that is a value of the prelude's `List`: its expression and its description, a
    `ListSpec`.
    """

    __slots__ = ("expr", "spec")

    def __init__(self, expr: Expr, spec: Anything) -> None:
        self.expr = expr
        self.spec = spec
