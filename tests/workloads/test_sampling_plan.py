"""What a detector learns from is drawn by a plan: alike in every framework, and as evenly as by chance."""

import numpy as np

from framewatt.workloads.detector import ranks

ANCHORS, DRAWN, STEPS = 2_000, 200, 400


def drawn(step: int, image: int = 0) -> np.ndarray:
    """Numbers of the anchors with the lowest ranks."""
    return np.argsort(ranks(np.arange(ANCHORS), np.int64(image), np.int64(step)), kind="stable")[:DRAWN]


def test_every_anchor_is_drawn_as_often_as_by_chance() -> None:
    times = np.bincount(np.concatenate([drawn(step) for step in range(STEPS)]), minlength=ANCHORS)
    share = DRAWN / ANCHORS
    expected, spread = STEPS * share, (STEPS * share * (1 - share)) ** 0.5
    assert abs(times.std() / spread - 1) < 0.1
    assert (np.abs(times - expected) < 5 * spread).all()


def test_neighbours_are_drawn_no_more_often_together_than_others() -> None:
    """Anchors of one place follow each other: a pattern in their numbers would be one on the image."""
    for apart in (1, 3, 9, 16, 256):
        both = []
        for step in range(STEPS):
            found = drawn(step)
            both += np.isin(found[found < ANCHORS - apart] + apart, found).tolist()
        share = (DRAWN - 1) / (ANCHORS - 1)
        assert abs(np.mean(both) - share) < 5 * (share * (1 - share) / len(both)) ** 0.5, f"{apart} apart"


def test_steps_and_images_are_drawn_apart() -> None:
    share = DRAWN / ANCHORS
    for other in (drawn(1), drawn(100), drawn(0, image=1), drawn(0, image=7)):
        # Within five standard errors of what two draws have in common by chance.
        assert abs(np.isin(drawn(0), other).mean() - share) < 5 * (share * (1 - share) / DRAWN) ** 0.5


def test_ranks_are_of_32_bits_and_never_the_same() -> None:
    """Frameworks take the lowest ones in their own way, which is the same way only where nothing is tied."""
    found = ranks(np.arange(300_000), np.int64(63), np.int64(10**6))
    assert (found.min() >= 0, found.max() < 2**32) == (True, True)
    # By chance 300,000 of 2**32 would share some ten pairs.
    assert len(np.unique(found)) == len(found)
