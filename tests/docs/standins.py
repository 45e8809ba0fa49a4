"""Writes small files with the names used on the pages, so that the commands run: cells, documents, digits, shapes. The
contents come from ddsc.datasets and generators."""
import gzip
import pathlib
import sys

import numpy as np

import ddsc

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))


def idx(shape, values):
    head = bytes([0, 0, 8, len(shape)]) + b"".join(int(n).to_bytes(4, "big") for n in shape)
    return gzip.compress(head + np.asarray(values, dtype=np.uint8).tobytes(), mtime=0)


def digits(folder):
    """The idx files of MNIST, and a folder of images by class."""
    from pictures import png
    from sklearn.datasets import load_digits

    found = load_digits()
    images = np.kron(found.images, np.ones((1, 2, 2))) * 15
    for part in ("train", "t10k"):
        (folder / f"{part}-images-idx3-ubyte.gz").write_bytes(idx(images.shape, images))
        (folder / f"{part}-labels-idx1-ubyte.gz").write_bytes(idx(found.target.shape, found.target))
    for k in range(150):
        place = folder / "digits" / str(found.target[k])
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{k:03}.png").write_bytes(png(images[k]))
    (folder / "new").mkdir()
    for k in range(150, 160):
        (folder / "new" / f"{k:03}.png").write_bytes(png(images[k]))
    part = ddsc.Distributions.from_histograms(images[:100], labels=found.target[:100])
    part.write(folder / "new.npz")
    rng = np.random.default_rng(0)
    (folder / "photos").mkdir()
    for k in range(24):
        tint = np.array([[200, 60, 60], [60, 180, 60], [60, 60, 200]])[k % 3] + rng.normal(0, 12, (12, 12, 3))
        (folder / "photos" / f"{k:03}.png").write_bytes(png(np.clip(tint, 0, 255)))


def clouds(folder):
    """Point clouds in npz, off and ply files, and histograms over three kinds of cells."""
    X = ddsc.make_gaussians(k=5, n=12, n_points=20)
    X.write(folder / "clouds.npz")
    X.write(folder / "clouds.csv")
    Y = ddsc.datasets.load_shapes(3, n=12)
    (folder / "scans").mkdir()
    for i, (points, _) in enumerate(Y):
        place = folder / "shapes" / Y.labels[i]
        place.mkdir(parents=True, exist_ok=True)
        rows = "".join(" ".join(f"{v:.6f}" for v in p) + "\n" for p in points)
        (place / f"{i:03}.off").write_text(f"OFF\n{len(points)} 0 0\n{rows}")
        head = f"ply\nformat ascii 1.0\nelement vertex {len(points)}\n"
        head += "".join(f"property float {name}\n" for name in ("x", "y", "z")) + "property uchar red\nend_header\n"
        (folder / "scans" / f"{i:03}.ply").write_text(head + rows.replace("\n", f" {50 + i}\n"))
    shares = np.random.default_rng(1).dirichlet([2, 1, 1], size=40)
    ddsc.Distributions.from_histograms(shares, np.arange(3.0)[:, None]).write(folder / "shares.npz")
    (folder / "celltypes.csv").write_text("0,1,3\n1,0,2\n3,2,0\n")


def fcs(events, names):
    """FCS 3.0, list mode, floats."""
    n, d = events.shape
    key = {"$TOT": n, "$PAR": d, "$MODE": "L", "$DATATYPE": "F", "$BYTEORD": "1,2,3,4", "$NEXTDATA": 0}
    for k, name in enumerate(names):
        key.update({f"$P{k + 1}B": 32, f"$P{k + 1}N": name, f"$P{k + 1}R": 262144, f"$P{k + 1}E": "0,0"})
    text = ("|" + "".join(f"{k}|{v}|" for k, v in key.items())).encode()
    data = events.astype("<f4").tobytes()
    begin = 58 + len(text)
    places = (58, begin - 1, begin, begin + len(data) - 1, 0, 0)
    return b"FCS3.0    " + b"".join(b"%8d" % v for v in places) + text + data


def cells(folder):
    """Samples of cells in a table, FCS files and an h5ad."""
    from h5ad import write as write_h5ad

    X = ddsc.datasets.load_cells(n_donors=8, n_cells=60)
    names = X.coordinate_names
    lines, obs, values = ["\t".join(["sample", "patient", "condition", "DNA1", *names])], [], []
    (folder / "blood").mkdir()
    for i, (points, _) in enumerate(X):
        raw = np.sinh(points) * 5
        events = np.column_stack([raw, np.arange(len(raw))])
        (folder / "blood" / f"{X.ids[i]}.fcs").write_bytes(fcs(events, [*names, "Time"]))
        for cell in raw:
            lines.append("\t".join([X.ids[i], str(i // 2), X.labels[i], "1.5", *(f"{v:.5f}" for v in cell)]))
            obs.append((X.ids[i], X.labels[i]))
            values.append(np.maximum(cell, 0))
    (folder / "a.fcs").write_bytes((folder / "blood" / f"{X.ids[0]}.fcs").read_bytes())
    table = ("\n".join(lines) + "\n").encode()
    for name in ("cells.tsv.gz", "pbmc8-bcrxl.tsv.gz"):
        (folder / name).write_bytes(gzip.compress(table, mtime=0))
    rows = [line.split("\t") for line in lines[1:]]
    runs = ["monday" if int(r[1]) % 2 else "friday" for r in rows]
    text = [",".join(["id", "sample", "run", "label", *names])]
    text += [",".join([r[0], r[0], run, r[2], *r[4:]]) for r, run in zip(rows, runs)]
    (folder / "cells.csv").write_text("\n".join(text) + "\n")
    (folder / "new.csv").write_text("\n".join(text[:241]) + "\n")
    sample, disease = (np.array([o[k] for o in obs]) for k in (0, 1))
    values = np.array(values)
    genes = np.column_stack([values] + [np.roll(values, k, axis=1) for k in range(1, 4)])
    write_h5ad(folder / "cells.h5ad", genes, [f"gene{k}" for k in range(genes.shape[1])],
               {"sample": (sample, "categorical"), "disease": (disease, "categorical")},
               obsm={"X_pca": values[:, :3]})
    about = "id,age\n" + "".join(f"{name},{40 + k}\n" for k, name in enumerate(X.ids))
    (folder / "about.csv").write_text(about.replace("id,", "sample,", 1))
    lines = "".join(f"{name},{40 + 7 * k % 11}.5,{'mf'[k // 4 % 2]},p{k // 2},{X.labels[k]}\n" for k, name in enumerate(X.ids))
    (folder / "patients.csv").write_text("sample,age,sex,patient,condition\n" + lines)


def documents(folder):
    """Documents in the columns of several sets, word vectors, stop words."""
    found = ddsc.datasets.load_texts()
    rows = list(zip(found.ids, found.labels, found.titles, found.texts))
    (folder / "docs.tsv").write_text("id\tlabel\ttitle\ttext\n" + "".join("\t".join(r) + "\n" for r in rows))
    (folder / "new.tsv").write_text("id\ttext\n" + "".join(f"{r[0]}\t{r[3]}\n" for r in rows[:10]))
    sport = "label\tdoc\tabstract\n" + "".join(f"{r[1]}\t{r[0]}\t{r[3]}\n" for r in rows)
    for name in ("bbc.tsv.gz", "bbcsport.tsv.gz"):
        (folder / name).write_bytes(gzip.compress(sport.encode(), mtime=0))
    stories = "label\tnewid\tmodapte\ttitle\tbody\n"
    stories += "".join("\t".join([r[1], r[0], "yes", *r[2:]]) + "\n" for r in rows)
    (folder / "reuters5.tsv.gz").write_bytes(gzip.compress(stories.encode(), mtime=0))
    words = ddsc.datasets.load_documents(support=0)
    vectors = zip(words.point_names, words.support)
    lines = [name + " " + " ".join(f"{v:.5f}" for v in row) for name, row in vectors]
    (folder / "glove.6B.100d.txt").write_text("\n".join(lines) + "\n")
    for name in ("glove.6B.100d.txt.gz", "glove.6B.100d.subset.txt.gz"):
        (folder / name).write_bytes(gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0))
    binary = f"{len(words.support)} {words.dim}\n".encode()
    for name, row in zip(words.point_names, words.support):
        binary += name.encode() + b" " + row.astype("<f4").tobytes() + b"\n"
    (folder / "GoogleNews.bin.gz").write_bytes(gzip.compress(binary, mtime=0))
    table = "id,label,title,abstract\n" + "".join(f'{r[0]},{r[1]},{r[2]},"{r[3]}"\n' for r in rows)
    (folder / "bbc.csv").write_text(table)
    ddsc.datasets.load_documents().write(folder / "docs.npz")
    for name in ("stop.txt", "stoplist2.txt"):
        (folder / name).write_text("the and of a in to is it\n")


def write(folder):
    folder = pathlib.Path(folder)
    for part in (digits, clouds, cells, documents):
        part(folder)
