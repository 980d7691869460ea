"""MergeCompilerRegions: merge neighbouring regions of the same compiler."""

from __future__ import annotations

from ...analysis.annotated_regions import AnnotatedRegion, AnnotatedRegionSet
from ...ir.expr import Call, Expr, Function, If
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.scopes import Layout, NoNames
from ...ir.walk import children, post_order, rewrite_nodes
from ...typing import infer_types
from ..infrastructure import PassContext
from ..infrastructure.function_passes import FunctionPass, rewritten
from .annotate_target import BEGIN, END, is_mark


@dataclass(frozen=True)
class MergeCompilerRegions(FunctionPass):
    """Merge each region (see AnnotateTarget) with the regions of the same compiler that produce its inputs.

    Two regions stay apart if a path from one to the other leads through another compiler, because a merged
    region would need a result that depends on its own output. They also stay apart if one is in a branch, in
    a function or below a `let` and the other is not, since values of one may be out of scope in the other.
    (TVM merges those.)
    """

    name = "MergeCompilerRegions"
    opt_level = 0

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        return infer_types(super().transform_module(mod, ctx))

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        regions = AnnotatedRegionSet(function)
        if len(regions) < 2:
            return function
        _Merger(regions, Layout(function, NoNames())).merge(function)

        def merged(node: Expr, rebuilt: Expr) -> Expr | None:
            if not _is_inside(node, regions):
                return None
            assert isinstance(rebuilt, Call)
            end = rebuilt.args[0]
            assert isinstance(end, Call)
            return end.args[0]

        return rewritten(function, rewrite_nodes(function, merged))


def _is_inside(node: Expr, regions: AnnotatedRegionSet) -> bool:
    """Whether a value leaves a region only to enter it again."""
    if not (isinstance(node, Call) and is_mark(node, BEGIN) and is_mark(node.args[0], END)):
        return False
    return regions.get_region(node) is regions.get_region(node.args[0])


class _Merger:
    """Merges regions in the order of the data flow.

    `members` and `forbidden` are bit sets of region numbers: the regions that were merged into one, and those
    that it depends on through another compiler.
    """

    def __init__(self, regions: AnnotatedRegionSet, layout: Layout) -> None:
        self.regions = regions
        self.scopes = {region: {layout.scope_of[id(mark)] for mark in region.rets} for region in regions}
        self.members = {region: 1 << region.id for region in regions}
        self.forbidden = dict.fromkeys(regions, 0)
        self.done: set[AnnotatedRegion] = set()

    def merge(self, root: Expr) -> None:
        for node in post_order(root):
            region = self.regions.get_region(node) if is_mark(node, END) else None
            if region is not None and region not in self.done:
                self._merge_from(region)

    def _merge_from(self, last: AnnotatedRegion) -> None:
        """Merge a region with others, after all regions that it depends on."""
        stack, entered = [last], {last}
        while stack:
            region = stack[-1]
            waiting = [r for r in self._sources(region) if r not in self.done and r not in entered]
            if waiting and region not in self.done:
                stack.append(waiting[0])
                entered.add(waiting[0])
                continue
            stack.pop()
            if region not in self.done:
                self._merge_sources(region)
                self.done.add(region)

    def _sources(self, region: AnnotatedRegion) -> list[AnnotatedRegion]:
        """Return the regions that produce the inputs of a region directly."""
        regions = [self.regions.get_region(begin.args[0]) for begin in region.args]
        return list(dict.fromkeys(r for r in regions if r is not None and r is not region))

    def _merge_sources(self, region: AnnotatedRegion) -> None:
        sources = self._sources(region)
        for other in [*sources, *self._through_branches(region)]:
            self.forbidden[region] |= self.forbidden[other]
        for source in sources:
            if source.target != region.target:
                self.forbidden[region] |= self.members[source]
            elif self.forbidden[region] & self.members[source]:
                continue
            elif len(self.scopes[region]) == 1 and self.scopes[region] == self.scopes[source]:
                self.regions.merge_regions(source, region)
                self.members[region] |= self.members[source]
            else:
                self.forbidden[region] |= self.members[source]

    def _through_branches(self, region: AnnotatedRegion) -> list[AnnotatedRegion]:
        """Return the regions that produce the inputs of a region through an `if`."""
        sources: dict[AnnotatedRegion, None] = {}
        pending = [begin.args[0] for begin in region.args if self.regions.get_region(begin.args[0]) is None]
        visited: set[Expr] = set()
        while pending:
            node = pending.pop()
            if isinstance(node, If) and node not in visited:
                visited.add(node)
                for part in children(node):
                    source = self.regions.get_region(part)
                    if source is None:
                        pending.append(part)
                    else:
                        sources[source] = None
        return list(sources)
