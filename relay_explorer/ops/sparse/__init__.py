"""Operators on sparse tensors, given by the coordinates of the elements that differ from a default. The
coordinates are the rows of a matrix: (number of elements, rank of the tensor).
"""
