"""The exercise `count_operators`: count the calls of each operator."""
