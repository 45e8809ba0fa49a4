"""Write good and bad input files for the reader tests.

usage: io_files.py FOLDER

FOLDER/good.tsv lists files that all hold the same three items, with "ids" and "labels" where they
carry them. FOLDER/bad.tsv lists broken ones: call that reads it, file, text the message must hold
(several joined by "|").
"""
import bz2
import gzip
import io
import lzma
import os
import struct
import sys
import warnings
import zipfile

import numpy as np

from clouds import FILES as CLOUDS, pcd, ply
from pictures import JPEG_COLOR, JPEG_GRAY, chunk, pgm, png

OUT = sys.argv[1]
IDS = ["alpha", "b\u00e8ta", "\u03b3\U0001f600"]
LABELS = [2, 0, 2]
NAMES = ["cat", "dog", "cat"]
POINTS = np.array([[0, 0], [1, 0.5], [0.5, 2], [-3, 4], [8, -0.25], [0, 1]])
WEIGHTS = np.array([0.25, 0.75, 2, 1, 2, 5])
OFFSETS = np.array([0, 2, 3, 6])
good, bad = [], []


def put(name, data):
    with open(os.path.join(OUT, name), "wb") as f:
        f.write(data)


def gz(data, level=9):
    return gzip.compress(data, level, mtime=0)


def zip_of(members, method=zipfile.ZIP_STORED):
    """Return an archive of (name, array bytes) pairs with a fixed date, so that the bytes are reproducible."""
    b = io.BytesIO()
    with zipfile.ZipFile(b, "w") as z:
        for name, data in members:
            info = zipfile.ZipInfo(name + ".npy", (1980, 1, 1, 0, 0, 0))
            z.writestr(info, data, method)
    return b.getvalue()


def npz(deflate=False, **arrays):
    b = io.BytesIO()
    (np.savez_compressed if deflate else np.savez)(b, **arrays)
    return b.getvalue()


def npy(array):
    b = io.BytesIO()
    np.save(b, array)
    return b.getvalue()


def own(**changes):
    arrays = dict(points=POINTS, weights=WEIGHTS, offsets=OFFSETS)
    arrays.update(changes)
    return {k: v for k, v in arrays.items() if v is not None}


def add_good(name, data, *has):
    put(name, data)
    good.append("\t".join([name, *has]))


def add_bad(name, data, text, call="measures"):
    put(name, data)
    bad.append("\t".join([call, name, text]))


def idx(shape, kind=8, body=b""):
    return bytes([0, 0, kind, len(shape)]) + b"".join(struct.pack(">I", n) for n in shape) + body


def fcs(events, names=None, kind="F", order="1,2,3,4", bits=None, version="FCS3.0", keep=None,
        ranges=None, big=False, **changes):
    n, d = events.shape
    bits = bits or [{"F": 32, "D": 64, "I": 16}[kind]] * d
    key = {"$TOT": n, "$PAR": d, "$MODE": "L", "$DATATYPE": kind, "$BYTEORD": order,
           "$NEXTDATA": 0, "$COM": "a|| doubled delimiter"}
    for k in range(d):
        key[f"$P{k + 1}B"] = bits[k]
        key[f"$P{k + 1}N"] = (names or "xyzuvw")[k]
        key[f"$P{k + 1}S"] = "stain" + (names or "xyzuvw")[k]
        key[f"$P{k + 1}R"] = ranges[k] if ranges else 1024
        key[f"$P{k + 1}E"] = "0,0"
    key.update({"$" + k.upper(): v for k, v in changes.items()})
    end = "<" if order.startswith("1") else ">"
    if kind == "I":
        data = b"".join(int(v).to_bytes(b // 8, "little" if end == "<" else "big")
                        for row in events for v, b in zip(row, bits))
    else:
        data = events.astype(end + ("f4" if kind == "F" else "f8")).tobytes()
    if big:
        key["$BEGINDATA"], key["$ENDDATA"] = "%012d" % 0, "%012d" % 0
    text = lambda: "|" + "".join(f"{k}|{v}|" for k, v in key.items() if v is not None)
    begin = 58 + len(text().encode())
    if big:
        key["$BEGINDATA"] = changes.get("begindata", "%012d" % begin)
        key["$ENDDATA"] = changes.get("enddata", "%012d" % (begin + len(data) - 1))
    body = text().encode()
    at = (0, 0) if big else (begin, begin + len(data) - 1)
    head = version.encode() + b"    " + b"".join(
        b"%8d" % v for v in (58, begin - 1, *at, 0, 0))
    return head + body + data[:keep]


def write_good():
    ids = np.array(IDS)
    labels = np.array(LABELS)
    add_good("stored.npz", npz(**own(ids=ids, labels=labels)), "ids", "labels")
    add_good("deflated.npz", npz(True, **own(ids=ids, labels=labels)), "ids", "labels")
    add_good("gzipped.npz.gz", gz(npz(**own(ids=ids))), "ids")
    add_good("float32.npz", npz(points=POINTS.astype("f4"), weights=WEIGHTS.astype("f4"),
                                offsets=OFFSETS.astype("i4")))
    add_good("big_endian.npz", npz(points=POINTS.astype(">f8"), weights=WEIGHTS.astype(">f4"),
                                   offsets=OFFSETS.astype(">i8"), ids=ids.astype(">U8"),
                                   labels=labels.astype(">i2")), "ids", "labels")
    add_good("fortran.npz", npz(**own(points=np.asfortranarray(POINTS))))
    add_good("small_integers.npz", npz(**own(offsets=OFFSETS.astype("u1"),
                                             labels=labels.astype("u8"))), "labels")
    add_good("bytes_ids.npz", npz(**own(ids=np.array([i.encode() for i in IDS]))), "ids")
    add_good("named.npz", npz(**own(labels=np.array(NAMES))), "names")
    add_good("extra.npz", npz(**own(notes=np.arange(3), more=np.array(["x"]))))
    support = np.vstack([POINTS, [[9, 9]]])
    order = np.array([3, 0, 6, 1, 5, 2, 4])
    where = np.argsort(order)[np.arange(6)]
    add_good("shared.npz", npz(support=support[order], indices=where.astype("i4"),
                               weights=WEIGHTS, offsets=OFFSETS, labels=labels), "labels")
    dense = np.zeros((3, 7))
    for i in range(3):
        for p in range(OFFSETS[i], OFFSETS[i + 1]):
            dense[i, where[p]] = WEIGHTS[p]
    add_good("dense.npz", npz(True, histograms=dense, support=support[order]))
    add_good("dense_f4.npz", npz(histograms=dense.astype("f4"), support=support[order]))
    add_good("dense_fortran.npz", npz(histograms=np.asfortranarray(dense), support=support[order]))
    rows = [(IDS[i], WEIGHTS[p], POINTS[p]) for i in range(3)
            for p in range(OFFSETS[i], OFFSETS[i + 1])]
    text = "".join(f"{i},{w},{x[0]},{x[1]}\n" for i, w, x in rows)
    add_good("plain.csv", ("id,weight,x,y\n" + text).encode(), "ids")
    add_good("bom_crlf.csv", ("\ufeffid,weight,x,y\n" + text).replace("\n", "\r\n").encode(), "ids")
    add_good("quoted.csv.gz", gz(("\n".join(
        ['"id","x","weight","y","label"'] +
        [f'"{i}", {x[0]} ,{w},"{x[1]}",{LABELS[IDS.index(i)]}' for i, w, x in rows])).encode()),
        "ids", "labels")
    add_good("tabs.tsv", ("id\tlabel\tweight\tx\ty\n\n" + "".join(
        f"{i}\t{NAMES[IDS.index(i)]}\t{w:.3e}\t{x[0]}\t{x[1]}\n" for i, w, x in rows)).encode(),
        "ids", "names")
    blocks = ["2\n%d\n%s\n%s\n" % (
        OFFSETS[i + 1] - OFFSETS[i], " ".join(map(str, WEIGHTS[OFFSETS[i]:OFFSETS[i + 1]])),
        "\n".join(" ".join(map(str, p)) for p in POINTS[OFFSETS[i]:OFFSETS[i + 1]]))
        for i in range(3)]
    add_good("objects.d2", "".join(blocks).encode())
    add_good("blank_lines.d2", "\n".join(blocks).encode())
    add_good("one_line.d2.gz", gz(" ".join("".join(blocks).split()).encode()))
    ids_text = "".join("0 %d %s %s\n" % (
        OFFSETS[i + 1] - OFFSETS[i], " ".join(map(str, WEIGHTS[OFFSETS[i]:OFFSETS[i + 1]])),
        " ".join(str(where[p] + 1) for p in range(OFFSETS[i], OFFSETS[i + 1]))) for i in range(3))
    vocab = "2 7\n" + "\n".join("%s %s" % tuple(p) for p in support[order])
    put("words.d2s.vocab0", vocab.encode())
    add_good("words.d2s", ids_text.encode())
    put("packed.vocab0.gz", gz(vocab.encode()))
    add_good("packed.d2s", ids_text.replace("0 ", "2 ", 1).encode())


def write_hdf5():
    """Write the reference items as plain tables and as AnnData: dense, csr and csc."""
    try:
        import h5py
    except ImportError:
        print("io_files: no HDF5 files without h5py")
        return
    import h5ad
    item = np.repeat(np.arange(3), np.diff(OFFSETS))
    with h5py.File(os.path.join(OUT, "plain.h5"), "w") as f:
        f["points"] = POINTS
        f["weight"] = WEIGHTS
        f["id"] = np.array([IDS[i].encode() for i in item])
        f["label"] = np.array([LABELS[i] for i in item])
    good.append("plain.h5\tids\tlabels")
    for kind in ("dense", "csr", "csc"):
        h5ad.write(os.path.join(OUT, kind + ".h5"), POINTS, ["a", "b"], {
            "id": (np.array(IDS)[item], "categorical" if kind == "csr" else "string"),
            "label": (np.array(NAMES)[item], "old" if kind == "csc" else "categorical"),
            "weight": (WEIGHTS, "number")}, kind)
        good.append(kind + ".h5\tids\tnames")


def write_bad_npz():
    whole = npz(**own())
    add_bad("cut.npz", whole[:len(whole) // 2], "cut.npz|no end record")
    add_bad("no_weights.npz", npz(**own(weights=None)), "no 'weights'")
    add_bad("no_offsets.npz", npz(**own(offsets=None)), "no 'offsets'")
    add_bad("no_points.npz", npz(**own(points=None)), "neither 'points'|weights, offsets")
    add_bad("no_support.npz", npz(histograms=np.ones((2, 3))), "no 'support'")
    add_bad("few_weights.npz", npz(**own(weights=WEIGHTS[:5])), "weights|5 elements for 6 points")
    add_bad("falling.npz", npz(**own(offsets=[0, 4, 3, 6])), "offsets|decreases from 4 to 3 at item 1")
    add_bad("short_offsets.npz", npz(**own(offsets=[0, 2, 5])), "ends with 5|6 points")
    add_bad("long_offsets.npz", npz(**own(offsets=[0, 2, 2**62])), "ends with 4611686018427387904")
    add_bad("late_offsets.npz", npz(**own(offsets=[1, 2, 6])), "begins with 1")
    add_bad("negative_offsets.npz", npz(**own(offsets=[0, -2, 6])), "decreases from 0 to -2")
    add_bad("huge_offsets.npz", npz(**own(offsets=np.array([0, 2**63], "u8"))), "too large")
    add_bad("float_offsets.npz", npz(**own(offsets=OFFSETS * 1.0)), "offsets|integers")
    add_bad("one_offset.npz", npz(**own(offsets=[0])), "at least one item")
    change = POINTS.copy()
    change[3, 1] = np.nan
    add_bad("nan.npz", npz(**own(points=change, ids=np.array(IDS))), "item 2|coordinate 1|not finite")
    change[3, 1] = 1e200
    add_bad("far.npz", npz(**own(points=change)), "item 2|1e+200")
    for name, value, text in (("inf", np.inf, "not finite"), ("negative", -0.5, "-0.5|negative"),
                              ("nan", np.nan, "not finite")):
        w = WEIGHTS.copy()
        w[2] = value
        add_bad(name + "_weight.npz", npz(**own(weights=w)), "item 1|" + text)
    w = WEIGHTS.copy()
    w[2] = 0
    add_bad("zero_sum.npz", npz(**own(weights=w)), "item 1 is empty|all zero")
    add_bad("empty_item.npz", npz(**own(offsets=[0, 2, 2, 6])), "item 1 is empty|no points")
    shared = dict(support=POINTS, weights=WEIGHTS, offsets=OFFSETS)
    add_bad("index_high.npz", npz(indices=[0, 1, 2, 3, 4, 6], **shared), "index 6 is outside the 6")
    add_bad("index_negative.npz", npz(indices=[0, 1, 2, 3, 4, -1], **shared), "index -1")
    add_bad("index_wide.npz", npz(indices=[0, 1, 2, 3, 4, 2**40], **shared), "1099511627776")
    add_bad("objects.npz", npz(**own(points=np.array([[1], [2, 3]], dtype=object))),
            "points|Python objects")
    add_bad("records.npz", npz(**own(points=np.zeros(3, "f8,i4"))), "points|several fields")
    add_bad("flat_points.npz", npz(**own(points=POINTS.ravel())), "(12,)|2 axes")
    add_bad("complex.npz", npz(**own(points=POINTS * 1j)), "points|<c16")
    add_bad("half.npz", npz(**own(points=POINTS.astype("f2"))), "<f2")
    add_bad("text_points.npz", npz(**own(points=POINTS.astype("U5"))), "points|text")
    add_bad("few_labels.npz", npz(**own(labels=[1, 2])), "labels|2 elements for 3 items")
    add_bad("latin_ids.npz", npz(**own(ids=np.array([b"a", b"b\xe8", b"c"]))), "ids|element 1")
    add_bad("few_ids.npz", npz(**own(ids=np.array(["a"]))), "ids|1 elements for 3 items")
    add_bad("float_labels.npz", npz(**own(labels=np.array([0.5, 1, 2]))), "labels|integers")
    add_bad("few_names.npz", npz(**own(labels=[0, 1, 2], label_names=np.array(["a", "b"]))),
            "label_names|item 2 has the label 2")
    add_bad("mixed.npz", npz(**own(histograms=np.ones((2, 6)), support=POINTS)), "mixes layouts")
    add_bad("narrow.npz", npz(histograms=np.ones((2, 5)), support=POINTS), "(2, 5)|6 points")
    add_bad("no_coordinates.npz", npz(**own(points=np.zeros((6, 0)))), "no coordinates")
    write_bad_zip(whole)


def write_bad_zip(whole):
    b = bytearray(whole)
    b[b.index(POINTS.tobytes()) + 9] ^= 1
    add_bad("checksum.npz", bytes(b), "points|checksum")
    b = bytearray(npz(True, points=np.random.RandomState(0).rand(2000, 2),
                      weights=np.ones(2000), offsets=[0, 2000]))
    b[len(b) // 3] ^= 0x5a
    b[len(b) // 3 + 1] ^= 0x5a
    add_bad("deflate_damage.npz", bytes(b), "points")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        twice = zip_of([(name, npy(own()[name]))
                        for name in ("points", "weights", "offsets", "weights")])
    add_bad("twice.npz", twice, "'weights' twice")
    for method, name in ((zipfile.ZIP_LZMA, "lzma"), (zipfile.ZIP_BZIP2, "bzip2")):
        add_bad(name + ".npz", zip_of([(k, npy(v)) for k, v in own().items()], method),
                "points|method %d" % method)
    b = bytearray(whole)
    at = b.index(b"PK\1\2")
    b[at + 8] |= 1
    add_bad("encrypted.npz", bytes(b), "encrypted")
    for name, field, value, text in (("declared_size", 24, 2**32 - 2, "invalid size"),
                                     ("packed_size", 20, 2**31, "invalid size"),
                                     ("far_member", 42, 2**31, "invalid size")):
        b = bytearray(whole)
        b[at + field:at + field + 4] = struct.pack("<I", value)
        add_bad(name + ".npz", bytes(b), text)
    b = bytearray(whole)
    end = b.rindex(b"PK\5\6")
    b[end + 16:end + 20] = struct.pack("<I", 2**31)
    add_bad("far_directory.npz", bytes(b), "outside the file")
    b = bytearray(whole)
    b[end + 10:end + 12] = struct.pack("<H", 999)
    add_bad("many_entries.npz", bytes(b), "too short for its entries")
    b = bytearray(npz(True, points=np.zeros((1000, 2)), weights=np.ones(1000), offsets=[0, 1000]))
    at = b.index(b"PK\1\2")
    b[at + 24:at + 28] = struct.pack("<I", 2**32 - 2)
    add_bad("bomb.npz", bytes(b), "points|zip bomb")
    lie = npy(POINTS).replace(b"(6, 2)", b"(9, 2)")
    add_bad("lying_shape.npz", zip_of([("points", lie), ("weights", npy(np.ones(9))),
                                       ("offsets", npy(np.array([0, 9])))]),
            "points|declares 144 bytes")
    add_bad("zip.npz", b"PK\5\6" + bytes(18), "neither 'points'")


def write_bad_npy():
    cloud = npy(np.zeros((2, 3, 2)))
    add_bad("matrix.npy", npy(np.zeros((3, 3))), "(3, 3)|--precomputed")
    add_bad("flat.npy", npy(np.zeros(3)), "(3,)")
    add_bad("cut.npy", cloud[:-1], "cut.npy|declares 96 bytes")
    add_bad("cut_header.npy", cloud[:40], "ends early")
    add_bad("longer.npy", cloud + b"\0", "unexpected bytes after")
    add_bad("no_items.npy", npy(np.zeros((0, 3, 2))), "(0, 3, 2)|no points")
    add_bad("many_empty.npy", cloud.replace(b"(2, 3, 2)", b"(9999999999, 0, 2)").replace(
        b"          \n", b" \n"), "")
    add_bad("overflow.npy", npy(np.zeros((2, 3, 2)))[:10] + cloud[10:].replace(
        b"(2, 3, 2), }                ", b"(4294967296, 4294967296, 2), }"[:30]), "shape")
    add_bad("garbage_header.npy", cloud.replace(b"'shape'", b"'shame'"), "damaged npy header")
    add_bad("version.npy", cloud[:6] + b"\x09" + cloud[7:], "not an npy array")
    add_bad("negative_shape.npy", cloud.replace(b"(2, 3, 2)", b"(-2,3, 2)"), "damaged npy header")
    add_bad("text.npy", npy(np.array([[["a"]]])), "text")
    bad_cloud = np.zeros((2, 3, 2))
    bad_cloud[1, 2, 0] = np.inf
    add_bad("inf.npy", npy(bad_cloud), "item 1|not finite")


def write_bad_csv():
    rows = {
        "no_header": ("a,1,2\nb,3,4\n", "line 1|\"id\""),
        "no_id": ("name,x\na,1\n", "\"id\"|--id|perhaps: name"),
        "no_coordinates": ("id,weight,label\na,1,2\n", "no coordinate columns"),
        "ragged_short": ("id,x,y\na,1,2\na,3\n", "line 3 has 2 fields, but the header has 3"),
        "ragged_long": ("id,x,y\na,1,2,5\n", "line 2 has 4 fields"),
        "word": ("id,x,y\na,1,2\na,1,oops\n", "line 3, column 3 (\"y\")|\"oops\" is not a number"),
        "missing": ("id,x,y\na,1,\na,1,2\n", "line 2, column 3|\"\" is not a number"),
        "decimal_comma": ("id\tx\na\t1,5\n", "\"1,5\" is not a number"),
        "hexadecimal": ("id,x\na,0x10\n", "\"0x10\" is not a number"),
        "nan": ("id,x\na,1\nb,NaN\n", "line 3, column 2|\"NaN\" is not a finite number"),
        "inf": ("id,x\na,-inf\n", "\"-inf\" is not a finite number"),
        "overflow": ("id,x\na,1e999\n", "\"1e999\" is not a finite number"),
        "negative": ("id,weight,x\na,-0.1,1\n", "line 2, column 2|weight is negative (-0.1)"),
        "zero_sum": ("id,weight,x\na,1,1\nb,0,1\nb,0,2\n", "item 1 (id \"b\") is empty"),
        "unclosed": ("id,x\n\"a,1\n", "line 2|not closed"),
        "after_quote": ("id,x\n\"a\"b,1\n", "line 2, column 1|after the closing quote"),
        "zero_byte": ("id,x\na" + "b" * 5000 + "\0c,1\n", "line 2 contains a zero byte"),
        "only_header": ("id,x,y\n", "no rows"),
        "same_names": ("id,x,x\na,1,2\n", "columns 2 and 3 are both named \"x\""),
        "label_changes": ("id,label,x\na,u,1\na,v,2\n", "line 3: the label is \"v\"|line 2"),
        "empty_id": ("id,x\n,1\n", "line 2, column 1|empty"),
        "far": ("id,x\na,1e160\n", "too large"),
        "latin": ("id,x\nb\udce8ta,1\n", "line 2, column 1|UTF-8"),
        "control": ("id,x\n" + "a,1\n" * 2000 + "a,\x1b[31m1\n", "\"?[31m1\""),
    }
    for name, (text, fragments) in rows.items():
        add_bad(name + ".csv", text.encode(errors="surrogateescape"), name + ".csv|" + fragments)
    add_bad("blank.csv", b"\n\n  \n", "no lines")


def write_bad_binary():
    images = idx([2, 2, 3], body=bytes(range(12)))
    add_bad("cut.idx", images[:-1], "bytes of data")
    add_bad("cut.idx.gz", gz(images[:-1]), "ends early|elements")
    add_bad("cut_header.idx", images[:9], "ends early|idx header")
    add_bad("lying.idx", idx([2**32 - 1] * 3), "bytes of data")
    add_bad("longer.idx", images + b"\0", "unexpected bytes after")
    add_bad("zero_axis.idx", idx([2, 0, 3]), "axis 2")
    add_bad("labels.idx", idx([3], body=bytes(3)), "labels")
    add_bad("many_axes.idx", idx([1] * 6, body=bytes(1)), "6 axes")
    add_bad("black.idx", idx([2, 1, 2], body=bytes([1, 0, 0, 0])), "item 1 is empty")
    add_bad("negative.idx", idx([1, 1, 2], 9, bytes([1, 255])), "-1 is negative")
    add_bad("nan.idx", idx([1, 1, 2], 13, struct.pack(">ff", 1, float("nan"))), "not finite")
    events = np.arange(12).reshape(4, 3)
    add_bad("cut.fcs", fcs(events, keep=20), "DATA segment")
    add_bad("few.fcs", fcs(events, tot=1), "$TOT declares 1|contains more")
    whole = fcs(events)
    add_bad("data_past_end.fcs", whole[:34] + b"%8d" % (len(whole) + 1) + whole[42:], "DATA segment")
    add_bad("text_past_data.fcs", whole[:18] + b"%8d" % len(whole) + whole[26:], "TEXT")
    add_bad("text_past_end.fcs", whole[:18] + b"%8d" % (len(whole) + 9) + whole[26:], "TEXT")
    add_bad("many.fcs", fcs(events, tot=10**15), "events of 12 bytes")
    add_bad("none.fcs", fcs(events, tot=0), "no events")
    add_bad("no_par.fcs", fcs(events, par=None), "$PAR is missing")
    add_bad("many_channels.fcs", fcs(events, par=99), "$PAR")
    add_bad("bad_par.fcs", fcs(events, par="three"), "$PAR|\"three\"")
    add_bad("no_bits.fcs", fcs(events, p2b=None), "$P2B is missing")
    add_bad("odd_bits.fcs", fcs(events, p2b=10), "$P2B is 10")
    add_bad("histogram.fcs", fcs(events, mode="C"), "$MODE")
    add_bad("ascii.fcs", fcs(events, datatype="A"), "$DATATYPE")
    add_bad("order.fcs", fcs(events, byteord="3,4,1,2"), "$BYTEORD|3,4,1,2")
    add_bad("no_range.fcs", fcs(events, kind="I", p1r=None), "$P1R")
    add_bad("version.fcs", fcs(events, version="FCS9.9"), "9.9")
    add_bad("offsets.fcs", b"FCS3.0    " + b"%8d%8s" % (58, b"x") + b" " * 32 + bytes(99),
            "offsets that are not numbers")
    add_bad("far_data.fcs", fcs(events, big=True, enddata=2**63 - 1, begindata=1), "DATA segment")
    add_bad("far_text.fcs", b"FCS3.0    " + b"%8d" * 6 % (58, 9999999, 0, 0, 0, 0), "TEXT")
    change = events.astype(float)
    change[2, 1] = np.nan
    add_bad("nan.fcs", fcs(change), "not finite|nan")


def write_bad_d2():
    texts = {
        "cut": ("2 2 0.5 0.5 1 2 3", "ends early|coordinate"),
        "cut_weights": ("2 3 0.5\n", "ends early|weight"),
        "word": ("2 1 1\n3 oops\n", "line 2, column 3|\"oops\" is not a number"),
        "negative": ("1 2 1.5 -0.5\n1 2\n", "weight is negative (-0.5)"),
        "nan": ("1 1 1\nnan\n", "\"nan\" is not a finite number"),
        "no_table": ("0 2 0.5 0.5\n", "dimension 0|.vocab0"),
        "minus": ("1 -1 1\n", "-1 is not between"),
        "fraction": ("1 1.5 1\n", "\"1.5\" is not an integer"),
        "many": ("1 2000000000 1 1 1\n", "ends early"),
        "wide": ("99999999 1 1\n", "99999999 is not between"),
        "irregular": ("1 1 1 0\n2 1 1 0 0\n1 1 1 0\n1 1 1 0\n2 1 1 0 0", "without a pattern"),
        "zero_sum": ("1 1 0 5\n", "item 0 is empty"),
    }
    for name, (text, fragments) in texts.items():
        add_bad(name + ".d2", text.encode(), name + ".d2|" + fragments)
    pairs = ("a", "2 2\n1 0\n", "ends early"), ("b", "2 1\n1 0 7\n", "more numbers"), \
        ("c", "0 3\n", "must be positive"), ("d", "2 2\n1 0 3 x\n", "\"x\" is not a number")
    for name, vocab, text in pairs:
        put(f"vocab_{name}.d2s.vocab0", vocab.encode())
        add_bad(f"vocab_{name}.d2s", b"0 1 1 1\n", f"vocab_{name}.d2s.vocab0|" + text)
    put("far_id.d2s.vocab0", b"1 2\n5 6\n")
    add_bad("far_id.d2s", b"0 2 0.5 0.5 1 3\n", "far_id.d2s|line 1|3 is not between 0 and 2")
    costs = {"asymmetric": ("2\n0 1\n2 0\n", "not symmetric"), "diagonal": ("2\n1 1\n1 0\n", "itself"),
             "negative": ("2\n0 -1\n-1 0\n", "-1"), "short": ("3\n0 1 2\n", "ends early"),
             "impossible": ("3\n0 1 9\n1 0 1\n9 1 0\n", "not squared Euclidean distances")}
    for name, (text, fragments) in costs.items():
        put(f"hist_{name}.d2.hist0", text.encode())
        add_bad(f"hist_{name}.d2", b"0 2 0.5 0.5\n", f"hist_{name}.d2.hist0|" + fragments)
    put("bins.d2.hist0", b"3\n0 1 1\n1 0 1\n1 1 0\n")
    add_bad("bins.d2", b"0 2 0.5 0.5\n", "2 bins|has 3")


def write_bad_packing():
    text = b"id,x\n" + b"".join(b"%d,%d\n" % (i, i * i) for i in range(3000))
    packed = gz(text)
    add_bad("cut.csv.gz", packed[:-12], "gzip data is truncated")
    add_bad("cut_trailer.csv.gz", packed[:-3], "gzip data is truncated")
    b = bytearray(packed)
    b[-6] ^= 1
    add_bad("crc.csv.gz", bytes(b), "damaged gzip data")
    b = bytearray(packed)
    b[len(b) // 2] ^= 0xff
    add_bad("damaged.csv.gz", bytes(b), "damaged.csv.gz")
    add_bad("garbage.csv.gz", packed + b"garbage", "extra bytes after the gzip data")
    zeros = idx([15000, 100, 100], body=bytes(15000 * 100 * 100))
    add_bad("bomb.idx.gz", gz(zeros, 1), "zip bomb")
    add_bad("text.csv.bz2", bz2.compress(text), "bzip2-compressed; decompress first")
    add_bad("text.csv.xz", lzma.compress(text), "xz-compressed")
    add_bad("image.png", b"\x89PNG\r\n\x1a\n" + bytes(20), "PNG")
    add_bad("data.h5", b"\x89HDF\r\n\x1a\n" + bytes(20), "HDF5")
    add_bad("named_bz.csv", b"BZh,x\na,1\n", "\"BZh\"")
    add_bad("wide.csv", "id,x\na,1\n".encode("utf-16"), "UTF-16")
    add_bad("noise.bin", np.random.RandomState(3).bytes(200), "unknown format")
    add_bad("nothing.csv", b"", "is empty")
    add_bad("graph.mtx", b"%%MatrixMarket matrix coordinate real general\n1 1 0\n", "MatrixMarket")


def write_bad_labels():
    def lab(name, data, text):
        add_bad(name, data, text, "labels")

    lab("empty.labels", b"", "no labels")
    lab("headless.labels", b"a,1\nb,2\n", "line 1|header")
    lab("ragged.labels", b"id,label\na,1\nb\n", "line 3 has 1 fields")
    lab("images.labels", idx([1, 1, 1], body=b"\1"), "does not contain labels")
    lab("cut.labels", idx([9], body=b"\1"), "bytes of data")
    lab("float.labels.npy", npy(np.array([0.5, 1])), "text or integers")
    lab("wide.labels.npy", npy(np.array([1, 2**33])), "8589934592")
    lab("matrix.labels.npy", npy(np.ones((2, 2), int)), "(2, 2)")
    lab("none.labels.npz", npz(points=POINTS), "no array 'labels'")
    lab("packed.labels", bz2.compress(b"1\n2\n"), "bzip2")


def write_bad_matrices():
    def mat(name, data, text):
        add_bad(name, data, text, "matrix")

    head = "%%MatrixMarket matrix coordinate real general\n"
    mat("long.matrix.npy", npy(np.zeros((3, 4))), "(3, 4)|square")
    mat("cube.matrix.npy", npy(np.zeros((2, 2, 2))), "square")
    mat("cut.matrix.npy", npy(np.zeros((3, 3)))[:-8], "declares 72 bytes")
    mat("text.matrix", b"1 2\n3 4\n5 6\n", "3 rows of 2 fields|square")
    mat("word.matrix", b"1,2\n3,four\n", "line 2|column 2")
    mat("ragged.matrix", b"1,2\n3\n", "line 2|1 fields")
    mat("names.matrix", b"a,b\n", "square")
    mat("empty.matrix", b"", "is empty")
    texts = {
        "banner": "%%MatrixMarket matrix coordinate complex general\n1 1 0\n",
        "square|2 rows and 3 columns": head + "2 3 1\n1 1 5\n",
        "line 3|between 1 and 2": head + "2 2 1\n3 1 5\n",
        "line 4|occurs twice": head + "2 2 2\n2 1 5\n2 1 5\n",
        "line 3|\"x\" is not a number": head + "2 2 1\n2 1 x\n",
        "ends early": head + "2 2 2\n2 1 5.000000\n",
        "more entries than declared": head + "2 2 1\n2 1 5\n1 2 5\n",
        "nothing is not a number": head + "2 2 1\n2 1\n",
        "not expected": head + "2 2 1\n2 1 5 5\n",
        "2000000000 items but only 1": head + "2000000000 2000000000 1\n2 1 5\n",
        "declares 39999995 bytes of entries": head + "999999 999999 9999999\n2 1 5\n",
        "declares 19999 bytes of entries": "%%MatrixMarket matrix array real general\n100 100\n5\n",
    }
    for k, (fragments, text) in enumerate(texts.items()):
        mat(f"bad{k}.mtx", text.encode(), "line 1" if fragments == "banner" else fragments)


def write_pictures():
    picture = np.arange(35).reshape(7, 5) * 7
    for name, data in (("gray.png", png(picture)), ("opaque.png", png(np.dstack([picture] * 4))),
                       ("deep.png", png(picture * 257, depth=16)), ("gray.jpg", JPEG_GRAY),
                       ("scans.jpg", JPEG_COLOR), ("raw.pgm", pgm(picture)),
                       ("plain.ppm", b"P3 #\n2 1 15\n0 1 2  13 14 15\n"),
                       ("deep.pgm", b"P5 2 1 300\n\1\2\0\3")):
        put(name, data)
    whole = png(picture)
    add_bad("cut.png", whole[:-20], "damaged PNG")
    add_bad("lying.png", whole[:16] + b"\0\7\0\0\0\7\0\0" + whole[24:], "damaged PNG")
    add_bad("large.png", whole[:8] + chunk(b"IHDR", b"\0\1\0\0\0\1\0\0\10\0\0\0\0")
            + chunk(b"IDAT", b"") + chunk(b"IEND", b""), "65536 x 65536")
    add_bad("cut.jpg", JPEG_COLOR[:-30], "damaged JPEG")
    add_bad("cut.pgm", pgm(picture)[:-1], "pixels are missing")
    add_bad("large.pgm", b"P5 70000 70000 255\n", "70000 x 70000")


def write_clouds():
    for name, data in CLOUDS.items():
        put("cloud_" + name, data)
    add_bad("cut.ply", ply("binary_big_endian")[:-30], "ends early")
    add_bad("list.ply", ply("binary_little_endian", "element strip 1\nproperty list int float u\n")
            .replace(b"\2\7\0\0\0", b"\xff\xff\xff\x80\1"), "list of")
    add_bad("many.pcd", pcd("binary").replace(b"POINTS 4", b"POINTS 99999999999"), "declares")
    add_bad("bomb.pcd", pcd("binary_compressed").replace(b"POINTS 4", b"POINTS 99999999"), "compressed")


write_good()
for write in (write_hdf5, write_pictures, write_clouds, write_bad_npz, write_bad_npy, write_bad_csv, write_bad_binary, write_bad_d2,
              write_bad_packing, write_bad_labels, write_bad_matrices):
    write()
events = np.arange(1, 13).reshape(4, 3)
put("float.fcs", fcs(events))
put("double_big.fcs", fcs(events, kind="D", order="4,3,2,1", version="FCS3.1", big=True))
put("integer.fcs", fcs(events + np.array([0, 1024, 0]), kind="I", bits=[16, 32, 24],
                       order="4,3,2,1", ranges=[1024, 1000, 16777216]))
put("renamed.fcs", fcs(events, names="xzy"))
for name, rows in (("good.tsv", good), ("bad.tsv", bad)):
    put(name, ("\n".join(rows) + "\n").encode())
