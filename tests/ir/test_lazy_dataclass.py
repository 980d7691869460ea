"""Frozen dataclasses whose methods are generated at the first use are like those of `dataclasses`."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys
import threading
from dataclasses import FrozenInstanceError, field
from typing import Any, ClassVar

import pytest

from relay_explorer.ir.lazy_dataclass import dataclass

Make = Any


class Base:
    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Point(Base):
    """A point."""

    x: int
    name: str = "p"


@dataclass(frozen=True, slots=True)
class Marked(Point):
    tags: tuple[str, ...] = ()
    kind: ClassVar[int] = 3


@dataclass(frozen=True)
class Listed:
    items: list[int] = field(default_factory=list)
    seen: int = field(default=4, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "seen", self.seen + 1)


@dataclass(frozen=True, eq=False)
class ById:
    x: int = 0


@dataclass(frozen=True)
class Own:
    x: int

    def __hash__(self) -> int:
        return 7

    def __repr__(self) -> str:
        return "own"


def declare(decorator: Make) -> type[Any]:
    """Declare a class that no test has used yet."""

    @decorator(frozen=True, slots=True)
    class Fresh:
        """A class."""

        x: int
        y: tuple[int, ...] = ()

    return Fresh


@pytest.mark.parametrize(
    "ask",
    [
        lambda cls: inspect.signature(cls).parameters.keys(),
        lambda cls: [(f.name, f.type, f.default) for f in dataclasses.fields(cls)],
        lambda cls: cls.__match_args__,
        lambda cls: cls.__slots__,
        lambda cls: (cls.__doc__, cls.__qualname__),
        lambda cls: dataclasses.is_dataclass(cls),
        lambda cls: repr(cls(1)),
        lambda cls: (cls(1) == cls(1), cls(1) == cls(2), hash(cls(1)) == hash(cls(1)), cls(1) == 1),
        lambda cls: dataclasses.asdict(cls(1, (2,))),
        lambda cls: dataclasses.replace(cls(1), x=5).x,
        lambda cls: hasattr(cls(1), "__dict__"),
        lambda cls: cls.__dataclass_params__.frozen,
    ],
)
def test_is_like_an_ordinary_dataclass(ask: Make) -> None:
    assert ask(declare(dataclass)) == ask(declare(dataclasses.dataclass))


def test_declaring_a_class_generates_nothing() -> None:
    program = (
        "import sys\n"
        "from relay_explorer.ir.lazy_dataclass import dataclass\n"
        "@dataclass(frozen=True)\n"
        "class Point:\n"
        "    x: int\n"
        "assert 'dataclasses' not in sys.modules\n"
        "assert repr(Point(1)) == 'Point(x=1)' and 'dataclasses' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_fields_of_bases_come_first() -> None:
    assert repr(Marked(1, tags=("a",))) == "Marked(x=1, name='p', tags=('a',))"
    assert Marked.kind == 3
    assert Marked.__dict__["__slots__"] == ("tags",)
    assert Point(1) != Marked(1)


@pytest.mark.parametrize("name", ["x", "name", "unknown"])
def test_instances_are_frozen(name: str) -> None:
    point = Point(1)
    with pytest.raises(FrozenInstanceError, match=f"cannot assign to field '{name}'"):
        setattr(point, name, 2)
    with pytest.raises(FrozenInstanceError, match=f"cannot delete field '{name}'"):
        delattr(point, name)


def test_fields_with_options() -> None:
    assert Listed() == Listed(seen=9)
    assert Listed().items is not Listed().items
    assert Listed().seen == 5
    assert repr(Listed()) == "Listed(items=[])"


def test_equality_by_identity() -> None:
    assert ById() != ById()
    assert len({ById(), ById()}) == 2


def test_own_methods_stay() -> None:
    assert (repr(Own(1)), hash(Own(1)), Own(1) == Own(1)) == ("own", 7, True)


def test_an_ordinary_dataclass_may_derive_from_one() -> None:
    @dataclasses.dataclass(frozen=True)
    class More(Listed):
        z: int = 1

    assert More() == More()
    assert [f.name for f in dataclasses.fields(More)] == ["items", "seen", "z"]


def test_copies_and_pickles() -> None:
    marked = Marked(1, tags=("a",))
    assert copy.deepcopy(marked) == marked
    assert pickle.loads(pickle.dumps(marked)) == marked


def test_first_use_in_many_threads() -> None:
    for _ in range(20):
        fresh = declare(dataclass)
        barrier, results = threading.Barrier(8), list[bool]()

        def use(cls: type[Any], start: threading.Barrier, into: list[bool]) -> None:
            start.wait()
            into.append(cls(1, (2,)) == cls(1, (2,)) and hash(cls(1)) == hash(cls(1)))

        threads = [threading.Thread(target=use, args=(fresh, barrier, results)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert results == [True] * 8
