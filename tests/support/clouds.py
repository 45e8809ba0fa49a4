"""Four points in every file format for point clouds."""
import gzip
import struct

import numpy as np

POINTS = np.array([[0, 0.5, -1], [2, 3.25, 4], [5, 6, 7.5], [-8, 9, 10]])
NORMALS = np.tile([0.0, 0, 1], (4, 1))


def rows(array, separator=" "):
    return "\n".join(separator.join(repr(float(v)) for v in row) for row in array) + "\n"


def ply(order="ascii", first="", kind="float"):
    head = f"ply\nformat {order} 1.0\ncomment made by a test\n{first}element vertex 4\n"
    head += "".join(f"property {kind} {name}\n" for name in "xyz") + "property uchar red\n"
    head += "element face 1\nproperty list uchar int vertex_indices\nend_header\n"
    if order == "ascii":
        body = (b"2 7 8\n0\n" if first else b"") + "".join(
            " ".join(repr(float(v)) for v in p) + " 200\n" for p in POINTS).encode() + b"3 0 1 2\n"
    else:
        mark = "<" if "little" in order else ">"
        letter = {"float": "f", "double": "d", "int16": "h"}[kind]
        lists = struct.pack(mark + "BiiB", 2, 7, 8, 0) if first else b""
        body = lists + b"".join(struct.pack(mark + "3" + letter + "B", *p, 200) for p in POINTS)
        body += struct.pack(mark + "B3i", 3, 0, 1, 2)
    return head.encode() + body


BEFORE = "element strip 2\nproperty list uchar int index\n"


def pcd(kind, points=POINTS):
    n = len(points)
    head = ("# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\nFIELDS x y z intensity\n"
            "SIZE 4 8 4 2\nTYPE F F F U\nCOUNT 1 1 1 1\n"
            f"WIDTH {n}\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS {n}\nDATA {kind}\n").encode()
    if kind == "ascii":
        return head + "".join(" ".join(repr(float(v)) for v in p) + " 9\n" for p in points).encode()
    if kind == "binary":
        return head + b"".join(struct.pack("<fdfH", *p, 9) for p in points)
    plain = b"".join(np.asarray(points)[:, k].astype(t).tobytes()
                     for k, t in enumerate(("<f4", "<f8", "<f4")))
    plain += np.full(n, 9, "<u2").tobytes()
    packed = lzf(plain)
    return head + struct.pack("<II", len(packed), len(plain)) + packed


def lzf(data):
    """Compress as literals and runs of the previous byte, so that both kinds of records occur."""
    out, at = b"", 0
    while at < len(data):
        run = 0
        while at and at + run < len(data) and data[at + run] == data[at - 1] and run < 264:
            run += 1
        if run >= 9:
            out += bytes([7 << 5, run - 9, 0])
            at += run
        elif run >= 3:
            out += bytes([(run - 2) << 5, 0])
            at += run
        else:
            out += bytes([0, data[at]])
            at += 1
    return out


FILES = {
    "a.ply": ply(), "b.ply": ply("binary_little_endian"),
    "c.ply": ply("binary_big_endian", kind="double"),
    "d.ply": ply("binary_little_endian", BEFORE), "e.ply": ply(first=BEFORE).replace(b"\n", b"\r\n"),
    "f.off": ("OFF\n# corners\n4 1 0\n" + rows(POINTS) + "3 0 1 2\n").encode(),
    "g.off": ("OFF4 0 0\n" + rows(POINTS)).encode(),
    "h.off": ("NCOFF\n\n4 0 0 # none\n" + rows(np.hstack([POINTS, NORMALS]))).encode(),
    "i.xyz": rows(POINTS).encode(), "j.pts": ("4\n" + rows(POINTS)).encode(),
    "k.xyz.gz": gzip.compress(("# x y z\n" + rows(POINTS, ", ")).encode(), mtime=0),
    "l.txt": rows(POINTS, ",").encode(),
    "m.pcd": pcd("ascii"), "n.pcd": pcd("binary"), "o.pcd": pcd("binary_compressed"),
    "p.pcd": pcd("ascii", np.vstack([POINTS, [[np.nan] * 3]])),
    "q.cloud": rows(POINTS, "\t").encode(),
}
