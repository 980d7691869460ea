"""What operators compute as tensor expressions, and the tools that these are written with.

`lowered` says what a lowering is given and returns; `tensors` has numbers, shapes, stages and sums. Nothing
here imports TVM before the first kernel is made (see `library`).
"""

from __future__ import annotations
