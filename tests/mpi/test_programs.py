"""Programs with several ranks: the functions of a team, and the collection of spectra."""
import pytest

from conftest import BUILD


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_team(ranks, n):
    ranks(n, program=str(BUILD / "tests" / "mpi_team"))


@pytest.mark.parametrize("n", [1, 2, 4])
def test_zoo(ranks, n):
    ranks(n, program=str(BUILD / "tests" / "mpi_zoo"))


def test_the_zoo_sees_a_second_look_left_out(ranks):
    """Without the second check, the solver misses eigenvalues of six identical components, and the test detects it."""
    for n in (1, 2, 4):
        blind = ranks(n, "test_twins", program=str(BUILD / "tests" / "mpi_zoo_blind"), code=1)
        assert "test_twins" in blind.out + blind.err


@pytest.mark.parametrize("n", [2, 3])
def test_planted_groups(ranks, n):
    """Affinity, operator and vectors distributed by rows: the clusters are found, and the vectors are verified."""
    job = ranks(n, "3000", "5", "12", "1", "3", program=str(BUILD / "tests" / "mpi_spectral"))
    *_, residual, verified, agreement = job.out.split()
    assert float(residual) < 1e-7 and verified == "1" and float(agreement) == 1


def test_a_larger_space(ranks):
    """The example of docs/scale.md: more vectors than the solver would take by itself, then more than there are items."""
    for space in (200, 5000):
        job = ranks(2, "1200", "5", "12", "1", "3", program=str(BUILD / "tests" / "mpi_spectral"),
                    env={"PETSC_OPTIONS": f"-ddsc_eps_ncv {space}"})
        assert job.out.split()[-2:] == ["1", "1.000000"]


def test_beside_slepc(ranks, ddsc, data_dir, tmp_path):
    """The program that bench/eigen.py times: both solvers agree, for one eigenpair besides the known one and for
    many."""
    ddsc("convert", data_dir / "mnist" / "train-images-idx3-ubyte.gz", "--labels",
         data_dir / "mnist" / "train-labels-idx1-ubyte.gz", "--subset-per-class", 100, "--seed", 1, "-o",
         tmp_path / "digits.npz")
    job = ranks(1, tmp_path / "digits.npz", 1, 2, 40, program=str(BUILD / "tests" / "mpi_eigen"))
    assert job.out.count("right") == 2
