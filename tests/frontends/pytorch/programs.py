"""Small TorchScript programs with control flow. `forward` gets a matrix with four columns."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Condition(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.linspace(0, 1, 4))

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0.0:
            result = self.weight + x
        else:
            result = self.weight - x
        return result


class EarlyReturn(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0.0:
            return x * 2
        y = x + 1
        if y.mean() > 0.5:
            return y
        return y * 3


class KnownCondition(nn.Module):
    def forward(self, x: Tensor, h: Tensor | None = None) -> Tensor:
        if self.training:
            x = x * 100
        assert x.size(1) == 4, "four columns"
        return x if x.dim() == 2 else x[0]


class SumOfRows(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        total = torch.zeros(4)
        for i in range(x.size(0)):
            total = total + x[i] * float(i)
        return total


class NumbersOnly(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, int]:
        size = 1
        for i in range(3):
            size = size * 2 + i
        k = 0
        while k < 10:
            k += 3
        return x.flatten()[:size], k


class NestedLoops(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        a = x
        for i in range(x.size(0)):
            b = a * float(i)
            for j in range(x.size(1)):
                a = a + b * float(j)
        return a


class WhileAndCount(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, int]:
        n = 0
        while bool(x.abs().sum() < 100.0):
            x = x * 2.0
            n += 1
        return x, n


class BreaksOut(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        k = 0
        for i in range(x.size(0)):
            if bool(x[i].sum() > 2.0):
                break
            k += 1
        return x * k


class ConditionInALoop(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        a = x
        for _ in range(x.size(0)):
            b = a * 3.0
            if b.sum() > 0.0:
                a = a + b
            else:
                a = a - b
        return a


class ChangedInALoop(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        a = x * 1
        view = a.t()
        for _ in range(3):
            a += 1
        return a, view


class RowsAreSet(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        out = torch.zeros_like(x)
        for i in range(x.size(0)):
            out[i] = x[i] * i
        return out


class ChangedInABranch(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        y = x.clone()
        items = [x]
        if x.sum() > 0:
            y[0] = 1
            items.append(y)
        else:
            y.mul_(3)
            items.append(x)
        return y, items[0] + items[1]


class Recurrence(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        outputs = []
        h = torch.zeros(4)
        for i in range(x.size(0)):
            h = torch.tanh(h + x[i])
            outputs.append(h)
        return torch.stack(outputs), h


class BackwardRecurrence(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, int]:
        outputs: list[Tensor] = []
        h = torch.zeros(4)
        for i in range(x.size(0)):
            h = torch.tanh(h + x[x.size(0) - 1 - i])
            outputs = [h] + outputs  # noqa: RUF005  # TorchScript has no other way
        return torch.cat([torch.stack(outputs), x], 0), len(outputs)


class KnownLists(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        parts = [x, x[:, :2], x[:1]]
        total = torch.zeros(1)
        for i in range(len(parts)):
            total = total + parts[i].sum()
        for part in parts:
            total = total * part.mean()
        named: dict[str, Tensor] = {"a": x, "b": total}
        named["c"] = x + 1
        return named["c"] + named["b"], parts[-1]


class Modules(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])

    def forward(self, x: Tensor) -> Tensor:
        for i, layer in enumerate(self.layers):
            x = nn.functional.relu(layer(x) + i, inplace=True)
        return x


class ReturnsList(nn.Module):
    def forward(self, x: Tensor) -> list[Tensor]:
        rows: list[Tensor] = []
        for i in range(x.size(0)):
            rows.append(x[i] * 2)
        return rows


class SometimesNone(nn.Module):
    def forward(self, x: Tensor) -> Tensor | None:
        result: Tensor | None = None
        if x.sum() > 0:
            result = x
        return result


class UnclearAlias(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        y = x + 1
        if x.sum() > 0:
            z = y
        else:
            z = x * 2
        z += 1
        return y + z


ALL = [
    Condition, EarlyReturn, SumOfRows, NestedLoops, WhileAndCount, BreaksOut, ConditionInALoop,
    ChangedInALoop, RowsAreSet, ChangedInABranch, Recurrence, BackwardRecurrence, KnownLists, Modules,
]  # fmt: skip
