"""`tvm.topi.testing`: NumPy references of operators, for old tests.

The installed TVM ships functions of these names too, but not all of their behaviour: with NumPy 2 some raise
an error (`space_to_depth_python`), others take no groups, no single number for a stride, or square images
only.
"""
