"""The networks that read digits: trained by this package's gradients, and right about most unseen images."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from relay_explorer.ir import RelayError, TensorType
from relay_explorer.lower.executor import create_executor
from relay_explorer.models import digits, digits_training
from relay_explorer.models.training import Adam
from relay_explorer.typing import infer_types


def predicted(network: str, images: np.ndarray) -> np.ndarray:
    run = create_executor("debug", digits.NETWORKS[network](len(images))).evaluate()
    result: np.ndarray = run(images, **digits.weights(network)).numpy().argmax(1)
    return result


@pytest.mark.parametrize("network", digits.NETWORKS)
def test_at_least_97_percent_of_the_unseen_images_are_read(network: str) -> None:
    images, classes = digits.data().unseen
    assert np.mean(predicted(network, images) == classes) >= 0.97


@pytest.mark.parametrize("network", digits.NETWORKS)
def test_the_weights_fit_the_parameters(network: str) -> None:
    weights = digits.weights(network)
    params = infer_types(digits.NETWORKS[network]())["main"].params[1:]
    assert [p.name_hint for p in params] == list(weights)
    for param in params:
        assert param.checked_type == TensorType(weights[param.name_hint].shape)


def test_training_and_unseen_images_are_disjoint_and_contain_every_class() -> None:
    training, unseen = digits.data()
    assert (len(training.images), len(unseen.images)) == (1440, 357)
    for part in (training, unseen):
        assert part.images.dtype == np.float32
        assert part.images.shape == (len(part.classes), 1, 8, 8)
        assert (part.images.min(), part.images.max()) == (0, 1)
        assert set(part.classes) == set(range(10))
    assert not {image.tobytes() for image in training.images} & {image.tobytes() for image in unseen.images}


@pytest.mark.parametrize("network", digits.NETWORKS)
def test_a_few_steps_of_training_lower_the_loss(network: str) -> None:
    some = digits.Examples(*(part[:64] for part in digits.data().training))
    step = create_executor("debug").evaluate(digits_training.with_gradient(network))
    weights, losses = digits_training.train(network, some, epochs=15, step=step)
    assert losses[0] == pytest.approx(np.log(10), abs=0.6)  # no class is known yet
    assert losses[-1] < losses[0] / 2
    again, _ = digits_training.train(network, some, epochs=15, step=step)
    assert all((weights[name] == again[name]).all() for name in weights)


def test_adam_moves_each_weight_by_the_rate_at_first() -> None:
    optimizer = Adam([np.zeros(3, "float32")])
    optimizer.step([np.array([100, -0.01, 0], "float32")], 0.5)
    np.testing.assert_allclose(optimizer.weights[0], [-0.5, 0.5, 0], rtol=1e-5)


def test_a_network_without_weights() -> None:
    with pytest.raises(RelayError) as caught:
        digits.weights("lenet")
    assert str(caught.value) == (
        "error: there are no weights of a network called 'lenet'\nhelp: the networks are digits, perceptron"
    )


def test_without_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(ImportError, match="pip install scikit-learn"):
        digits.data.__wrapped__()
