"""The operators' builders in Relay's namespaces; those of `relay` itself are in this module.

Each file of operators is imported by one of these modules, so importing this one declares all operators.
"""

from __future__ import annotations

from ..arange import *
from ..axes import *
from ..binary.arithmetic import *
from ..binary.bits import *
from ..binary.comparison import *
from ..binary.division import *
from ..binary.logical import *
from ..broadcast import *
from ..cast import *
from ..contract import *
from ..copies import *
from ..create import *
from ..dynamic.create import *
from ..dynamic.image import *
from ..dynamic.selection import *
from ..dynamic.shape import *
from ..fixed_point import *
from ..gather import *
from ..index import *
from ..join import *
from ..layout_transform import *
from ..masks import *
from ..reduce.folding import *
from ..reduce.position import *
from ..reduce.variance import *
from ..reshape import *
from ..reverse import *
from ..scan import *
from ..scatter import *
from ..shape_query import *
from ..slice import *
from ..sort import *
from ..sparse.fill_empty_rows import *
from ..sparse.reshape import *
from ..sparse.segment_sum import *
from ..sparse.to_dense import *
from ..strided_set import *
from ..unary.approximate import *
from ..unary.exponential import *
from ..unary.predicates import *
from ..unary.rounding import *
from ..unary.trigonometry import *
from ..unique import *
from ..windows import *
from . import annotation as annotation
from . import image as image
from . import nn as nn
from . import qnn  # without "as": the façade exports another `qnn`
from . import random as random
from . import vision as vision
