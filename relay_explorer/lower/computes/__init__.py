"""What operators compute, as tensor expressions, one file a family.

An operator names its lowering where it is declared (`lowering="elementwise.exp"`), and nothing here is
imported before the first program is compiled. See `relay_explorer.lower.lowering` for what a lowering is
given and gives.
"""

from __future__ import annotations
