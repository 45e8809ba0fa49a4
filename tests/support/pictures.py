"""Small pictures for the tests: a PNG writer, and JPEG files stored as bytes."""
import base64
import struct
import zlib

import numpy as np


def png(array, depth=8, kind=None):
    """Return the PNG bytes of an array (h, w) of gray values or (h, w, 2, 3 or 4) of samples."""
    array = np.asarray(array)
    samples = array.reshape(array.shape[0], array.shape[1], -1)
    kind = {1: 0, 2: 4, 3: 2, 4: 6}[samples.shape[2]] if kind is None else kind
    rows = samples.astype(">u2" if depth == 16 else "u1")
    body = b"".join(b"\0" + row.tobytes() for row in rows)
    head = struct.pack(">IIBBBBB", array.shape[1], array.shape[0], depth, kind, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(body)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts)


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def pgm(array):
    array = np.asarray(array, dtype=np.uint8)
    return b"P5\n# made by a test\n%d %d\n255\n" % array.shape[::-1] + array.tobytes()


# 8 x 8, black, the middle 4 x 4 white.
JPEG_GRAY = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQ"
    "EBAQEBAQEBAQEBAQEBAQEBAQEBAQH/wAALCAAIAAgBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAACv/EAB0QAAAFBQAA"
    "AAAAAAAAAAAAAAAXGSk4WGmImPD/2gAIAQEAAD8AP6xQhRezzDrD1LiXxlj/2Q==")
# 16 x 16, left half red, right half blue, progressive.
JPEG_COLOR = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAMCAgMCAgMDAwMEAwMEBQgFBQQEBQoHBwYIDAoMDAsKCwsNDhIQDQ4RDg"
    "sLEBYQERMUFRUVDA8XGBYUGBIUFRT/2wBDAQMEBAUEBQkFBQkUDQsNFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQU"
    "FBQUFBQUFBQUFBQUFBQUFBQUFBQUFBT/wgARCAAQABADASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAABgf/xA"
    "AVAQEBAAAAAAAAAAAAAAAAAAAGB//aAAwDAQACEAMQAAABnIF8BcUb/8QAFBABAAAAAAAAAAAAAAAAAAAAIP/aAAgB"
    "AQABBQIf/8QAGBEAAgMAAAAAAAAAAAAAAAAAAAdEgsL/2gAIAQMBAT8BYcW+T//EABgRAAIDAAAAAAAAAAAAAAAAAA"
    "AHRILC/9oACAECAQE/AVlMps//xAAUEAEAAAAAAAAAAAAAAAAAAAAg/9oACAEBAAY/Ah//xAAUEAEAAAAAAAAAAAAA"
    "AAAAAAAg/9oACAEBAAE/IR//2gAMAwEAAgADAAAAEKf/xAAUEQEAAAAAAAAAAAAAAAAAAAAA/9oACAEDAQE/EC//xA"
    "AUEQEAAAAAAAAAAAAAAAAAAAAA/9oACAECAQE/EBf/xAAUEAEAAAAAAAAAAAAAAAAAAAAg/9oACAEBAAE/EB//2Q==")
# The same in cyan, magenta, yellow and black.
JPEG_CMYK = base64.b64decode(
    "/9j/7gAOQWRvYmUAZAAAAAAA/9sAQwAQCwwODAoQDg0OEhEQExgoGhgWFhgxIyUdKDozPTw5Mzg3QEhcTkBEV0U3OF"
    "BtUVdfYmdoZz5NcXlwZHhcZWdj/8AAFAgAEAAQBEMRAE0RAFkRAEsRAP/EABYAAQEBAAAAAAAAAAAAAAAAAAAIB//E"
    "ABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAOBEMATQBZAEsAAD8A0Bn7P2gJ/FACgBP4n8UAP//Z")
