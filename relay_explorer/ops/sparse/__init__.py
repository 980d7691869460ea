"""Operators on tensors that are mostly one number, given by the coordinates of their other elements.

The coordinates are the rows of a matrix: (number of elements, rank of the tensor).
"""
