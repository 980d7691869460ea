"""The C program that reads sentences has the words and the sizes of its model."""

from __future__ import annotations

import numpy as np

from relay_explorer.models import sentiment


def test_the_c_program_contains_the_vocabulary() -> None:
    source = sentiment.c_main()
    assert f"enum {{ INPUTS = 16, MOODS = 5, WORDS = {len(sentiment.WORDS)} }};" in source
    for word, vector in sentiment.vectors().items():
        assert f'{{"{word}", {{{float(vector[0]).hex()}, ' in source


def test_the_c_program_of_a_model_of_another_size() -> None:
    source = sentiment.c_main({"yes": np.array([0.5, -1], "float32"), "no": np.zeros(2, "float32")})
    assert "enum { INPUTS = 2, MOODS = 5, WORDS = 2 };" in source
    assert '{"yes", {0x1.0000000000000p-1, -0x1.0000000000000p+0}}' in source
    assert '"film"' not in source
