"""The target of compilation: a processor with its vectors, cores and caches, or a GPU.

Target.of("cpu")                        this machine
Target.of("raspberry-pi-4")             a board
Target.of({"kind": "llvm", "mcpu": …})  any target of TVM
Target.of("llvm -mcpu=skylake-avx512")  a target string of older TVM versions
"""

from __future__ import annotations

import difflib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import field
from functools import lru_cache
from typing import Any

from ...ir.errors import RelayError
from ...ir.lazy_dataclass import dataclass
from ..require import tvm
from ..threads import cores

_ARM = {"kind": "llvm", "mtriple": "aarch64-linux-gnu"}
BOARDS: dict[str, dict[str, object]] = {
    "arm64": {**_ARM, "mcpu": "generic", "mattr": ["+neon"]},
    "raspberry-pi-4": {**_ARM, "mcpu": "cortex-a72", "mattr": ["+neon"], "num-cores": 4},
    "raspberry-pi-5": {**_ARM, "mcpu": "cortex-a76", "mattr": ["+neon"], "num-cores": 4},
    "phone": {**_ARM, "mcpu": "cortex-a78", "mattr": ["+neon"], "num-cores": 4},
}
_CACHES = {  # bytes per core, from the processors' manuals: L1 (data), L2
    "cortex-a72": (32 << 10, 256 << 10),
    "cortex-a76": (64 << 10, 512 << 10),
    "cortex-a78": (64 << 10, 512 << 10),
}
_DEFAULT_CACHES = (32 << 10, 512 << 10)
_FEATURES = (
    "avx",
    "avx2",
    "fma",
    "avx512f",
    "avx512bw",
    "avx512vl",
    "avx512vnni",
    "avxvnni",
    "sve",
    "dotprod",
    "i8mm",
)
CUDA_ARCH = "sm_80"  # the default if there is no device to query


@dataclass(frozen=True)
class Target:
    """A machine that code is compiled for. `kind` is "cpu", "arm64" or "cuda"; `options` is TVM's target
    dictionary, as JSON with sorted keys; `vector_bytes` is the width of its vectors, `cores` the number of
    cores that kernels may use, and `caches` the bytes of the L1 and L2 caches per core.
    """

    kind: str
    options: str
    vector_bytes: int
    cores: int
    caches: tuple[int, int] = field(default=_DEFAULT_CACHES)

    def lanes(self, dtype: str = "float32") -> int:
        """Return the number of elements in a vector."""
        from ...ir.ndarray import itemsize

        return max(1, self.vector_bytes // itemsize(dtype))

    def has(self, feature: str) -> bool:
        """Whether a processor has a feature, by LLVM's name of it."""
        return bool(_codegen().target_has_features(feature, self.tvm))

    @property
    def dict(self) -> dict[str, Any]:
        """TVM's target dictionary."""
        result: dict[str, Any] = json.loads(self.options)
        return result

    @property
    def tvm(self) -> Any:
        """TVM's target object."""
        return _tvm_target(self.options)

    @property
    def library(self) -> str:
        """The extension of a kernel's library file: machine code, or for a GPU its source."""
        return ".cu" if self.kind == "cuda" else ".so"

    @property
    def runs_here(self) -> bool:
        """Whether this process can run the code: its instructions are this processor's, or its GPU's."""
        if self.kind == "cuda":
            from .device import lacks

            return not lacks(self)
        return _runs_here(self.options)

    @staticmethod
    def of(target: object) -> Target:
        """Return the target for a name, a dictionary in TVM's format, a TVM target, or a target string of
        older TVM versions. Raise a RelayError for others, and for targets that cannot be compiled for.
        """
        if isinstance(target, Target):
            return target
        return _parsed(json.dumps(_options(target), sort_keys=True))

    @staticmethod
    def from_dict(fields: Mapping[str, Any]) -> Target:
        """Restore a target from `dataclasses.asdict`, even if the fields were converted to JSON and back."""
        return Target(**{**fields, "caches": tuple(fields["caches"])})

    def __str__(self) -> str:
        cpu = self.dict.get("mcpu") or self.dict.get("arch")
        return f"{self.kind} ({cpu})" if cpu else self.kind


@lru_cache(64)
def _tvm_target(options: str) -> Any:
    fields = json.loads(options)
    if fields["kind"] == "cuda":
        whole = {"max_shared_memory_per_block": 48 << 10, "max_num_threads": 1024, **fields}
        return tvm().target.Target(whole, host={"kind": "llvm", "mcpu": _host_cpu()})
    return tvm().target.Target(fields)


def needed_features(target: Target) -> list[str]:
    """Return LLVM's names of the processor features that the target's code may use and that not every
    processor of its kind has.
    """
    has = _codegen().target_has_features
    return [feature for feature in _FEATURES if has(feature, target.tvm)]


@lru_cache(64)
def _runs_here(options: str) -> bool:
    target = tvm().target.Target(json.loads(options))
    triple = str(target.attrs.get("mtriple") or _codegen().llvm_get_system_triple())
    system = str(_codegen().llvm_get_system_triple())
    if triple.partition("-")[0] != system.partition("-")[0] or _system(triple) not in ("", _system(system)):
        return False
    has = _codegen().target_has_features
    host = tvm().target.Target({"kind": "llvm", "mcpu": _host_cpu()})
    return all(has(feature, host) for feature in _FEATURES if has(feature, target))


def _system(triple: str) -> str:
    """Return the operating system that a triple names."""
    return next((name for name in _SYSTEMS if name in triple), "")


_SYSTEMS = ("linux", "windows", "darwin", "macos", "ios", "android", "bsd", "wasi", "uefi", "none")


def _codegen() -> Any:
    from importlib import import_module

    tvm()
    return import_module("tvm.target.codegen")


def _host_cpu() -> str:
    return str(_codegen().llvm_get_system_cpu())


def _options(target: object) -> dict[str, object]:
    """Convert any description of a target to TVM's dictionary."""
    if target is None:
        target = "cpu"
    if isinstance(target, Mapping):
        return _checked(dict(target))
    if hasattr(target, "export"):
        return _from_tvm(target.export())
    if not isinstance(target, str) and not hasattr(target, "kind"):
        raise RelayError(
            f"a target is a name or a dictionary of TVM's, not a value of type {type(target).__name__}",
            help=[_known()],
        )
    text = str(target).strip()
    if text == "cpu":
        return {"kind": "llvm", "mcpu": _host_cpu()}
    if text == "cuda":
        return {"kind": "cuda", "arch": _gpu_arch() or CUDA_ARCH}
    if text in BOARDS:
        return BOARDS[text]
    if text.startswith("{"):
        try:
            return _checked(json.loads(text))
        except ValueError as problem:
            raise RelayError(f"the target is not JSON: {problem}") from None
    words = text.replace("'", "").replace('"', "").split()
    if words and (words[0] in ("llvm", "cuda", *_OTHERS) or len(words) > 1):
        return _checked(_old_string(words))
    return _tag(text)


# Kinds of targets that TVM supports, or used to, and that this package has no schedules for.
_OTHERS = ("c", "opencl", "vulkan", "metal", "webgpu", "rocm", "hexagon", "ext_dev", "nvptx", "stackvm")


def _old_string(words: list[str]) -> dict[str, object]:
    """Parse an old target string such as `llvm -mcpu=core-avx2 -mattr=+avx2,+fma`. Options that TVM no longer
    has are ignored.
    """
    result: dict[str, object] = {"kind": words[0]}
    arguments = dict(word.lstrip("-").partition("=")[::2] for word in words[1:] if word.startswith("-"))
    for name in ("mcpu", "mtriple", "arch", "mabi", "mfloat-abi"):
        if arguments.get(name):
            result[name] = arguments[name]
    if "target" in arguments:  # the name of -mtriple in even older versions
        result["mtriple"] = arguments["target"]
    if arguments.get("mattr"):
        result["mattr"] = [part.strip() for part in arguments["mattr"].split(",") if part.strip()]
    if arguments.get("num-cores", "").isdigit():
        result["num-cores"] = int(arguments["num-cores"])
    if result["kind"] == "llvm" and "mcpu" not in result and "mtriple" not in result:
        result["mcpu"] = _host_cpu()
    if result["kind"] == "cuda" and "arch" not in result:
        result["arch"] = _gpu_arch() or CUDA_ARCH
    return result


def _tag(name: str) -> dict[str, object]:
    """Return the target for a tag of TVM's, such as nvidia/nvidia-a100. Raise a RelayError for others."""
    tags: list[str] = [str(tag) for tag in tvm().target.list_tags()] if "/" in name else []
    if name in tags:
        return _from_tvm(tvm().target.Target(name).export())
    names = ["cpu", "cuda", *BOARDS]
    near = difflib.get_close_matches(name[:60].lower(), [*names, *tags], n=3, cutoff=0.6)
    if name.lower() in ("gpu", "nvidia"):
        near = ["cuda"]
    raise RelayError(
        f"there is no target called {name[:60]!r}",
        help=[f"did you mean {' or '.join(map(repr, near))}?" if near else _known()],
    )


def _known() -> str:
    return (
        f"there are {', '.join(map(repr, ('cpu', 'cuda', *BOARDS)))}, and every target of TVM as a "
        "dictionary: "
        '{"kind": "llvm", "mcpu": "skylake-avx512"}'
    )


def _from_tvm(exported: Mapping[str, Any]) -> dict[str, object]:
    """Return the fields of a TVM target, without those that TVM derives."""
    derived = ("host", "keys", "tag")
    plain = {str(k): v for k, v in exported.items() if k not in derived and not str(k).startswith("feature.")}
    return {k: list(map(str, v)) if hasattr(v, "__iter__") and not isinstance(v, str) else v
            for k, v in plain.items()}  # fmt: skip


def _checked(options: dict[str, object]) -> dict[str, object]:
    """Check that TVM and LLVM accept a target dictionary, and return it normalized. Raise a RelayError with
    the reason if they do not. A GPU's architecture is added if it is missing.
    """
    kind = options.get("kind")
    if isinstance(kind, str) and kind in _OTHERS:
        raise _no_schedules(kind)
    options = _normalized(options)
    if kind == "cuda":
        options = {"arch": _gpu_arch() or CUDA_ARCH, **options}
    _check_triple(options.get("mtriple"))
    try:
        tvm().target.Target(options)
    except (ValueError, TypeError, RuntimeError) as problem:
        reason = (
            str(problem).strip().splitlines()[-1].partition(" Target creation from config dict failed")[0]
        )
        raise RelayError(f"TVM does not know the target {options!r:.200}", help=[reason[:400]]) from None
    if kind not in ("llvm", "cuda"):
        raise _no_schedules(kind)
    cpu = options.get("mcpu")
    if options.get("kind") == "llvm" and cpu:
        triple = str(options.get("mtriple") or _codegen().llvm_get_system_triple())
        names = [str(name) for name in _codegen().llvm_get_cpu_archlist(_plain(triple))]
        if cpu not in (*names, "generic", "native"):
            near = difflib.get_close_matches(str(cpu)[:60], names, n=3, cutoff=0.5)
            raise RelayError(
                f"LLVM knows no processor {str(cpu)[:60]!r} for {triple}",
                help=[f"did you mean {' or '.join(map(repr, near))}?"] if near else [],
            )
    return options


def _no_schedules(kind: object) -> RelayError:
    return RelayError(
        f"there are no schedules for targets of the kind {kind!r:.60}",
        help=['supported are "llvm", for all processors, and "cuda"'],
    )


def _normalized(options: dict[str, object]) -> dict[str, object]:
    """Normalize options: remove empty processor names and triples, and replace the processor "native" by this
    machine's. Also check the number of cores and the features, which TVM does not do.
    """
    normalized = {
        name: value for name, value in options.items() if value != "" or name not in ("mcpu", "mtriple")
    }
    if normalized.get("mcpu") == "native" and "mtriple" not in normalized:
        normalized["mcpu"] = _host_cpu()
    number = normalized.get("num-cores", 1)
    if isinstance(number, bool) or (isinstance(number, int) and number < 1):
        raise RelayError(f"a target must have at least 1 core, not {number}", help=["leave out `num-cores`"])
    features = normalized.get("mattr", [])
    for name in features if isinstance(features, (list, tuple)) else []:
        if isinstance(name, str) and not re.fullmatch(r"[+-][^\s,+-][^\s,]*", name):
            raise RelayError(
                f"a processor feature is enabled by `+name` and disabled by `-name`, not by {name[:60]!r}"
            )
    return normalized


# Spellings of architectures in triples that differ from the names in LLVM's list of code generators.
_ALIASES = r"i[3-9]86|amd64|x86_64h|x86|(arm|thumb|aarch64|riscv32|riscv64|ppc|mips)\w*|s390"


def _check_triple(triple: object) -> None:
    """Check that LLVM supports the architecture of a triple; for others TVM aborts the process."""
    if triple is None:
        return
    names = [str(name) for name in _codegen().llvm_get_targets()]
    first = str(triple).partition("-")[0]
    if first not in names and not (re.fullmatch(_ALIASES, first) and isinstance(triple, str)):
        near = difflib.get_close_matches(first[:60], [*names, "x86_64", "aarch64"], n=2, cutoff=0.5)
        raise RelayError(
            f"LLVM has no code generator for {first[:60]!r}, with which {str(triple)[:80]!r} begins",
            help=[f"did you mean {' or '.join(map(repr, near))}?"] if near else [],
        )


def _plain(triple: str) -> Any:
    return tvm().target.Target({"kind": "llvm", "mtriple": triple})


def _gpu_arch() -> str | None:
    """Return the architecture of this machine's GPU, if it has one."""
    device = tvm().cuda(0)
    if not device.exist:
        return None
    return "sm_" + str(device.compute_version).replace(".", "")


@lru_cache(64)
def _parsed(options: str) -> Target:
    fields = json.loads(options)
    if fields["kind"] == "cuda":
        return Target("cuda", options, 16, 1)
    tvm_target = tvm().target.Target(fields)
    arm = "aarch64" in str(fields.get("mtriple", "")) or "aarch64" in str(_codegen().llvm_get_system_triple())
    if arm and "x86" not in str(fields.get("mtriple", "")):
        return Target(
            "arm64", options, 16, _cores(fields), _CACHES.get(str(fields.get("mcpu")), _DEFAULT_CACHES)
        )
    caches = _host_caches() if fields.get("mcpu") == _host_cpu() else _DEFAULT_CACHES
    return Target("cpu", options, _x86_vector(tvm_target), _cores(fields), caches)


def _x86_vector(tvm_target: Any) -> int:
    """Return the bytes of the widest vectors. (TVM's own function returns 64 for every processor.)"""
    has = _codegen().target_has_features
    for feature, width in (("avx512f", 64), ("avx", 32)):
        if has(feature, tvm_target):
            return width
    return 16


def _cores(options: Mapping[str, object]) -> int:
    """Return the number of cores that the target specifies, or by default those that this process may use."""
    named = options.get("num-cores")
    if isinstance(named, int):
        return named
    return cores()


def _host_caches() -> tuple[int, int]:
    """Return the sizes of the L1 and L2 caches that the operating system reports, or default sizes."""
    sizes = []
    for name, usual in zip(("SC_LEVEL1_DCACHE_SIZE", "SC_LEVEL2_CACHE_SIZE"), _DEFAULT_CACHES):
        try:
            sizes.append(os.sysconf(name) or usual)
        except (ValueError, OSError, AttributeError):
            sizes.append(usual)
    return sizes[0], sizes[1]
