"""ddsc convert: conversion between formats and back, merged supports."""
import io
import json

import numpy as np
import ot
import pytest


@pytest.mark.parametrize("ending", ["npz", "csv", "tsv", "csv.gz", "d2"])
def test_distances_survive_the_journey(ddsc, three_groups, tmp_path, ending):
    path = tmp_path / f"data.{ending}"
    done = ddsc("convert", three_groups, "-o", path)
    assert "45 items" in done.stdout
    before = ddsc("distance", three_groups, "--condensed", binary=True).stdout
    after = ddsc("distance", path, "--condensed", binary=True).stdout
    assert np.allclose(np.load(io.BytesIO(before)), np.load(io.BytesIO(after)), rtol=1e-9)


def test_npz_keeps_labels_and_weights(ddsc, three_groups, tmp_path):
    ddsc("convert", three_groups, "-o", tmp_path / "x.npz")
    with np.load(tmp_path / "x.npz") as data:
        assert (data["labels"] == np.load(three_groups)["labels"]).all()
        assert np.allclose(np.add.reduceat(data["weights"], data["offsets"][:-1]), 1)


def test_through_pipes(ddsc, three_groups):
    npz = ddsc("convert", "-", "-o", "-", stdin=three_groups.read_bytes(), binary=True).stdout
    assert npz[:2] == b"PK"
    csv = ddsc("convert", "-", "-o", "-", "--format", "csv", stdin=npz).stdout
    assert csv.splitlines()[0].startswith("id,weight,")
    assert "items        45" in ddsc("info", "-", stdin=csv.encode()).stdout


def test_compress_reports_the_error_made(ddsc, three_groups, tmp_path):
    data = json.loads(ddsc("convert", three_groups, "--compress", "3", "--json", "-o",
                           tmp_path / "small.npz").stdout)
    assert data["compress"]["points_before"] == 360 and data["compress"]["points_after"] == 135
    whole = np.load(three_groups)
    ddsc("convert", three_groups, "--compress", "3", "-o", tmp_path / "small.csv")
    rows = np.genfromtxt(tmp_path / "small.csv", delimiter=",", names=True, dtype=None,
                         encoding="utf8")
    worst = 0
    for i in range(45):
        own = rows[rows["id"] == i]
        y = np.column_stack([own[name] for name in ("x1", "x2")])
        x = whole["points"][whole["offsets"][i]:whole["offsets"][i + 1]]
        worst = max(worst, ot.emd2([], own["weight"] / own["weight"].sum(), ot.dist(x, y)) ** 0.5)
    assert data["compress"]["max_w2"] == pytest.approx(worst, rel=1e-6)
    assert 0 < data["compress"]["mean_w2"] <= data["compress"]["max_w2"]


def test_subset(ddsc, three_groups, tmp_path):
    ddsc("convert", three_groups, "--subset-per-class", "4", "-o", tmp_path / "s.npz")
    with np.load(tmp_path / "s.npz") as data:
        assert sorted(data["labels"]) == [0] * 4 + [1] * 4 + [2] * 4


def test_subset_needs_labels(ddsc, tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((4, 2, 2)))
    message = ddsc("convert", tmp_path / "x.npy", "--subset-per-class", "1", "-o",
                   tmp_path / "y.npz", code=2).stderr
    assert "--labels" in message and not (tmp_path / "y.npz").exists()


def test_existing_file_is_kept(ddsc, three_groups, tmp_path):
    (tmp_path / "x.npz").write_text("mine")
    ddsc("convert", three_groups, "-o", tmp_path / "x.npz", code=2)
    assert (tmp_path / "x.npz").read_text() == "mine"
    ddsc("convert", three_groups, "-o", tmp_path / "x.npz", "--force")


def test_fcs_files_are_items(ddsc, data_dir, tmp_path):
    files = sorted((data_dir / "cytometry").glob("*.fcs"))
    data = json.loads(ddsc("convert", *files, "--channels", "3,4,5", "--arcsinh", "5", "--json", "-o",
                           tmp_path / "cells.npz").stdout)
    assert data["n"] == 2 and data["dim"] == 3


def test_what_a_format_has_no_place_for_is_said(ddsc, tmp_path):
    (tmp_path / "a.csv").write_text("id,label,x\na,u,1\nb,v,2\n")
    ddsc("convert", tmp_path / "a.csv", "-o", tmp_path / "a.npz")
    assert "cannot store ids" in ddsc("convert", tmp_path / "a.npz", "-o", tmp_path / "a.d2").stderr
    assert "cannot store" not in ddsc("convert", tmp_path / "a.d2", "-o", tmp_path / "b.d2").stderr
    assert "cannot store" not in ddsc("convert", tmp_path / "a.npz", "-o", tmp_path / "b.csv").stderr


def test_ids_that_several_files_use_are_named(ddsc, tmp_path):
    """Within one table, these rows would be one item."""
    (tmp_path / "a.csv").write_text("id,x\na,1\nb,2\n")
    (tmp_path / "b.csv").write_text("id,x\nc,1\nb,5\n")
    done = ddsc("info", tmp_path / "a.csv", tmp_path / "b.csv", "--json")
    assert json.loads(done.stdout)["items"] == 4
    assert '1 items have the same id as an item in an earlier file (the first is "b")' in done.stderr
    (tmp_path / "b.csv").write_text("id,x\nc,1\nd,5\n")
    assert not ddsc("info", tmp_path / "a.csv", tmp_path / "b.csv", "--json").stderr


def test_dropped_items_are_counted(ddsc, tmp_path):
    np.savez(tmp_path / "a.npz", points=[[0.0], [1.0], [2.0]], weights=[1, 0, 1], offsets=[0, 1, 2, 3])
    said = ddsc("convert", tmp_path / "a.npz", "--on-empty", "drop", "-o", tmp_path / "b.npz")
    assert "1 item without mass dropped" in said.stdout + said.stderr
