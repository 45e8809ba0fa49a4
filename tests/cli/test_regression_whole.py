"""Integer coordinates with similar costs: the integer costs used to leave their range."""
import numpy as np
import pytest


@pytest.mark.parametrize("dim,reach,shift", [(8, 200, 0), (5, 1000, 300), (8, 4, 500)])
def test_whole_coordinates_far_apart(ddsc, tmp_path, dim, reach, shift):
    random = np.random.default_rng(dim * reach)
    left, right = random.integers(0, reach, (2, 12, 3, dim)).astype(float)
    points = np.minimum(np.concatenate([left, right + shift]), 1023)
    np.save(tmp_path / "c.npy", points)
    ddsc("distance", tmp_path / "c.npy", "--squared", "-o", tmp_path / "D.npy")
    np.save(tmp_path / "s.npy", points + 0.1)
    ddsc("distance", tmp_path / "s.npy", "--squared", "-o", tmp_path / "S.npy")
    np.testing.assert_allclose(np.load(tmp_path / "D.npy"), np.load(tmp_path / "S.npy"),
                               rtol=1e-9, atol=1e-9)
