"""Write the seed corpora of the fuzz targets: small files of the reader tests, sorted by reader.

usage: make_corpus.py        (writes fuzz/corpus/<reader>/)
"""
import gzip
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
LARGEST = 2000
ENDINGS = {"npz": "npz", "npy": "npy", "csv": "csv", "tsv": "csv", "idx": "idx", "d2": "d2",
           "fcs": "fcs", "mtx": "mtx", "labels": "labels", "vocab0": "vocab", "hist0": "hist",
           "png": "image", "jpg": "image", "pgm": "image", "ppm": "image", "h5": "h5ad"}
# Invalid files of different kinds; the other invalid files are one mutation away from these.
BROKEN = ("twice.npz", "lzma.npz", "objects.npz", "lying_shape.npz", "negative_shape.npy",
          "overflow.npy", "unclosed.csv", "lying.idx", "nan.idx", "irregular.d2",
          "histogram.fcs", "far_text.fcs", "cut.png", "cut.jpg")


def reader_of(name):
    parts = name.split(".")
    if "labels" in parts:
        return "labels"
    return ENDINGS.get(parts[-1])


def main():
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(HERE, "..", "tests", "support", "io_files.py")
        subprocess.run([sys.executable, script, folder], check=True)
        listed = {}
        for kind in ("good", "bad"):
            with open(os.path.join(folder, kind + ".tsv")) as f:
                for line in f:
                    fields = line.rstrip("\n").split("\t")
                    listed[fields[kind == "bad"]] = kind
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), "rb") as f:
                data = f.read()
            plain = name[:-3] if name.endswith(".gz") else name
            reader = reader_of(plain)
            wanted = listed.get(name) != "bad" or name in BROKEN or reader in ("mtx", "labels")
            if not reader or not wanted or name in ("good.tsv", "bad.tsv") or len(data) > (16000 if reader == "h5ad" else LARGEST):
                continue
            if name.endswith(".gz") and reader != "csv":
                data = gzip.decompress(data)
            os.makedirs(os.path.join(HERE, "corpus", reader), exist_ok=True)
            with open(os.path.join(HERE, "corpus", reader, plain), "wb") as f:
                f.write(data)
        write_extra()


def write_extra():
    extra = {
        "idx/images": bytes([0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 3, *range(12)]),
        "idx/floats": bytes([0, 0, 13, 2, 0, 0, 0, 1, 0, 0, 0, 2, 63, 128, 0, 0, 64, 0, 0, 0]),
        "labels/lines": b"3\n-1\n3\n",
        "labels/quoted_empty": b'3-\n\n6\n231\n""\n',
        "labels/names": b"id,label\nx,cat\ny,dog\n",
        "labels/idx": bytes([0, 0, 8, 1, 0, 0, 0, 3, 1, 0, 1]),
        "mtx/sparse": b"%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 4.5\n3 2 2\n",
        "mtx/dense": b"%%MatrixMarket matrix array integer general\n2 2\n0\n1\n1\n0\n",
        "d2/phases": b"2 1 1 0 0\n1 2 1 3 5 6\n2 1 1 4 4\n1 1 1 9\n",
        "hist/simple": b"3\n0 2 3\n2 0 2\n3 2 0\n",
        "npy/clouds": npy_clouds(),
        "npz/words.npz": words(),
        "npz/counts.npz": counts(),
        "npz/travelled.npz": travelled(),
        "npz/batches.npz": batches(),
        "csv/batch.csv": b"id,batch,x\na,one,1\nb,two,2\na,one,3\n",
        "csv/packed.csv.zst": zstd(b"id,x\na,1\nb,2\n"),
        "text/packed.zst": zstd(b"body\nsome words\n\nmore words\n"),
        "meta/plain": b"id,batch,site\nc,2,x\na,1,\nzz,9,9\n",
        "meta/quoted": b'id;note\r\n"a";"one; ""two""\nthree"\r\nb;\r\n',
        "meta/twice": b"id\tage\na\t1\n",
        "meta/packed.zst": zstd(b"id,n\na,1\n"),
        "text/plain": "id\tlabel\ttext\na\tx\tThe cat's \u00c9T\u00c9\nb\ty\tcat dog\n".encode(),
        "text/two_columns": b"\xef\xbb\xbftitle\tbody\r\n\"Say\tit\xc9 \xe2\x80\x9cso\"\r\n\r\n",
        "text/together": b"text\nab cd\nab cd ef\nef ab\nef cd\n",
        "text/packed": gzip.compress(b"body\nsome words\n\nmore words\n", mtime=0),
        "text/quoted.csv": b'id;label;text\na;x;"Cats, ""dogs""\nand"\nb;y;cats\n',
        "text/objects": b'{"text": "caf\\u00e9 \\ud83d\\ude00", "n": [1, {"x": "}"}], "id": "a"}\n'
                        b'{"id": 2, "text": "b\\n", "label": null}\n',
        "csv/names.csv": b"id;title;point_name;CD3;note\na;One;red;1,5;x\nb;Two;;3;\na;One;blue;4;y\n",
        "csv/holes.csv": b"id|x|y\na|1|\nb|2|NA\na|oops|3\n",
        "csv/again.csv": b"id,x\na,1\nb,2\nb,3\na,4\n",
        "vectors/binary": b"2 1\na \0\0\x80\x3f\nb \0\0\0\x40",
        "vectors/glove": b"the 0.1 -2e-3\na 1 2\n. . . 5 6\na 3 4\nz 7 .8\n",
        "vectors/word2vec": b"3 2\n</s> 0 0 \nb 1 2 \nname@domain.com 3 4 \n",
        "vectors/ragged": b"a\t1\t2\nb 3\n",
        "vectors/not_finite": b"a 1 nan\n",
        "model/w2": model(),
        "model/lot": model(metric="lot", reference_points=[[0.0], [1.0]], reference_weights=[1.0, 1.0]),
        "model/mmd": model(metric="mmd"),
        "model/update": updated(),
        "diff/plain": RESULT + b"\x1eid,label\na,0\nb,0\nc,1\nx,1\n",
        "diff/quoted": RESULT + b'\x1eid,label\n"a, ""b""",0\nb,-1\nc,1\nd,0\n',
        "diff/former": b'{"n": 4, "k": 2, "verdict": {"level": "clear"}}\x1eid,label\n0,0\n1,0\n2,1\n3,1\n',
        "model/version": model(version=2),
        "model/short": model(radius=[1.0]),
        "model/mixture": model(softness=[0.1, 2.0], mixture_words=[1], mixture_theta=[[0.5, 1.0]],
                               mixture_share=[0.5, 0.5], **COUNTS),
    }
    sys.path.insert(0, os.path.join(HERE, "..", "tests", "support"))
    import clouds
    extra.update({"cloud/" + name: data for name, data in clouds.FILES.items()})
    extra["cloud/bare_element.ply"] = b"ply\nformat ascii 1.0\nelement face 1\nend_header\n2 7 8\n"
    for name, data in extra.items():
        path = os.path.join(HERE, "corpus", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(data)


def zstd(data):
    """One frame of one block that is not compressed: a mutation away from those that are."""
    return bytes([0x28, 0xB5, 0x2F, 0xFD, 0x20, len(data)]) + (8 * len(data) + 1).to_bytes(3, "little") + data


def batches():
    """Two items of two batches, mapped onto each other."""
    import io
    import numpy as np
    out = io.BytesIO()
    quantiles = np.linspace(0, 1, 256)
    np.savez_compressed(out, points=[[0.0], [1.0]], weights=[1.0, 1.0], offsets=[0, 1, 2],
                        transform_steps=[[13, 2, 768]],
                        transform_values=np.concatenate([quantiles, 2 * quantiles, quantiles // 0.5]),
                        transform_batches=np.array(["run", "a", "b"]), meta_names=np.array(["run"]),
                        meta=np.array(["a", "b"]))
    return out.getvalue()


def npy_clouds():
    import io
    import numpy as np
    out = io.BytesIO()
    np.save(out, np.arange(12, dtype=">f4").reshape(2, 3, 2))
    return out.getvalue()


COUNTS = {"count_words": ["a", "\u00e9t\u00e9"], "count_offsets": [0, 1, 3], "count_indices": [1, 0, 1],
          "count_values": [2, 1, 1]}


def counts():
    """Two documents with word counts."""
    import io
    import numpy as np
    out = io.BytesIO()
    np.savez_compressed(out, points=[[0.0], [1.0]], weights=[1.0, 1.0], offsets=[0, 1, 2], **COUNTS)
    return out.getvalue()


def words():
    """Two documents with the words that were fitted to them."""
    import io
    import numpy as np
    out = io.BytesIO()
    np.savez_compressed(out, points=[[0.0], [1.0]], weights=[1.0, 1.0], offsets=[0, 1, 2],
                        text_words=np.array(["a", "\u00e9t\u00e9"]),
                        text_vectors=np.array([[0], [1]], "f4"), text_df=[1, 2],
                        text_rules=[2, 0, 1, 1, 0])
    return out.getvalue()


def travelled():
    """Two items that went through arcsinh and a principal component, with metadata columns."""
    import io
    import numpy as np
    out = io.BytesIO()
    np.savez_compressed(out, points=[[0.0], [1.0]], weights=[1.0, 1.0], offsets=[0, 1, 2],
                        transform_steps=[[2, 0, 2], [7, 1, 4]],
                        transform_values=[5.0, 0.0, 0.5, 1.0, 0.6, 0.8],
                        transform_inputs=np.array(["x", "y"]), meta_names=np.array(["age"]),
                        meta=np.array(["41", ""]))
    return out.getvalue()


def model(version=1, metric="w2", tau=1, **other):
    """A model of two items on a line, as `ddsc cluster` would write it, deflated to stay small."""
    import io
    import numpy as np
    settings = {"k": 2, "tau": tau, "gamma": 0, "least_scale": 0.01, "far_distance": 1,
                "far_neighbour": 1, "metric": metric, "epsilon": 5, "sinkhorn_value": "sharp",
                "sinkhorn_tolerance": 1e-9, "sinkhorn_max_iterations": 100, "mmd_kernel": "gaussian",
                "bandwidth": 1, "mmd_estimator": "biased", "w2_max_pivots": 0}
    arrays = {"model_version": [version], "model_settings": [f"{k}={v}" for k, v in settings.items()],
              "points": [[0.0], [1.0], [2.0]], "weights": [1.0, 1.0, 1.0], "offsets": [0, 1, 3],
              "labels": [0, 1], "embedding": [[1.0, 0.0], [0.0, 1.0]], "eigenvalues": [1.0, 0.5],
              "radius": [1.0, 1.0], "scale": [1.0, 1.0], "reach": [2.0, 2.0],
              "centres": [[1.0, 0.0], [0.0, 1.0]], "centre_labels": [0, 1]}
    arrays.update(other)
    out = io.BytesIO()
    np.savez_compressed(out, **{name: np.array(value) for name, value in arrays.items()})
    return out.getvalue()


RESULT = (b'{"format_version": 2, "version": "0.3.0", "n": 4, "k": 2, "verdict": {"level": "clear", "text": "t"}, '
          b'"settings": {"metric": "w2", "tau": 2}, "unused_numbers": [1], "clusters": [{"label": 0, "name": "left", '
          b'"size": 2, "words": [{"word": "oil"}], "representatives": [{"row": 0, "id": "a"}]}, {"label": 1, '
          b'"size": 2, "markers": [{"name": "x", "coordinate": 0, "effect": -1.5}]}]}')


def updated():
    """A model that an update wrote: six items on a line, of which the last one is new."""
    rows = [[1.0, 0.0]] * 3 + [[0.0, 1.0]] * 3
    near = [[1, 2], [0, 2], [1, 0], [4, 5], [3, 5], [4, 3]]
    run = {"frame": "plain", "frame_unit": 0, "frame_spread": 0, "frame_step_0": 0, "frame_step_1": 0,
           "mmd_features": 0, "lot_components": 0, "neighbors": "auto", "paper": 0, "sample": 1, "sample_columns": 1,
           "min_cluster": 0.2, "seed": 0, "clusters": 2, "next_id": 9}
    asked = {"tau": 0, "hubs": "auto", "gamma": "auto", "bandwidth": "auto", "estimator": "auto", "reference": "auto",
             "reference_size": 0, "epsilon": 5, "epsilon_is_percent": 1}
    return model(tau=2, points=[[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]], weights=[1.0] * 6, offsets=range(7),
                 labels=[0, 0, 0, 1, 1, 1], embedding=rows, eigenvalues=[1.0, 1.0], radius=[1.0] * 6,
                 scale=[1.0] * 6, reach=[4.0, 1.0, 4.0] * 2, graph_offsets=range(0, 13, 2), graph_indices=sum(near, []),
                 graph_d2=[1.0, 4.0, 1.0, 1.0, 1.0, 4.0] * 2, new_items=[5],
                 run_settings=[f"{k}={v}" for k, v in run.items()],
                 requested_settings=[f"{k}={v}" for k, v in asked.items()])


main()
