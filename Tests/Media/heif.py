"""Writes HEIF files item by item (ISO/IEC 23008-12), as no tool does that is at hand: turned and mirrored, cut, in tiles,
with colours that only a box tells, with several pictures. The coded pictures come out of files that heif-enc wrote."""
import struct


def box(kind, *parts):
    body = b"".join(parts)
    return struct.pack(">I", 8 + len(body)) + kind + body


def full(kind, version, flags, *parts):
    return box(kind, struct.pack(">I", version << 24 | flags), *parts)


def boxes(data, start=0, end=None):
    end = len(data) if end is None else end
    while start + 8 <= end:
        size, kind = struct.unpack(">I4s", data[start:start + 8])
        head = 8
        if size == 1:
            size, head = struct.unpack(">Q", data[start + 8:start + 16])[0], 16
        elif size == 0:
            size = end - start
        if size < head:
            return
        yield kind, data[start + head:start + size]
        start += size


class Coded:
    """What heif-enc made of one picture: the primary item's bytes, and the box that tells the decoder how to begin."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        meta = dict(boxes(dict(boxes(data))[b"meta"][4:]))
        primary = struct.unpack(">H", meta[b"pitm"][4:6])[0]
        properties = list(boxes(dict(boxes(meta[b"iprp"]))[b"ipco"]))
        mine = [properties[index - 1] for index in self.associations(dict(boxes(meta[b"iprp"]))[b"ipma"])[primary]]
        self.config = next(box(kind, body) for kind, body in mine if kind in (b"hvcC", b"av1C"))
        self.size = next(struct.unpack(">II", body[4:12]) for kind, body in mine if kind == b"ispe")
        self.kind = b"hvc1" if self.config[4:8] == b"hvcC" else b"av01"
        offset, length = self.extents(meta[b"iloc"])[primary]
        self.data = data[offset:offset + length]

    @staticmethod
    def associations(body):
        version, flags = body[0], body[3]
        found, at = {}, 8
        for _ in range(struct.unpack(">I", body[4:8])[0]):
            wide = 2 if version == 0 else 4
            item = int.from_bytes(body[at:at + wide], "big")
            at += wide
            count, at = body[at], at + 1
            step = 2 if flags & 1 else 1
            mask = 0x7FFF if flags & 1 else 0x7F
            found[item] = [int.from_bytes(body[at + step * n:at + step * (n + 1)], "big") & mask for n in range(count)]
            at += step * count
        return found

    @staticmethod
    def extents(body):
        """Of items with one extent, as heif-enc writes them."""
        version = body[0]
        offset_size, length_size, base_size = body[4] >> 4, body[4] & 15, body[5] >> 4
        index_size = body[5] & 15 if version else 0
        found, at = {}, 8

        def take(size):
            nonlocal at
            at += size
            return int.from_bytes(body[at - size:at], "big")

        for _ in range(struct.unpack(">H", body[6:8])[0]):
            item = take(2)
            if version:
                take(2)
            take(2)
            base = take(base_size)
            for _ in range(take(2)):
                take(index_size)
                start = base + take(offset_size)
                found[item] = start, take(length_size)
        return found


def ispe(width, height):
    return full(b"ispe", 0, 0, struct.pack(">II", width, height))


def irot(quarters):
    """Anticlockwise."""
    return box(b"irot", bytes([quarters]))


def imir(axis):
    """0: top and bottom change places; 1: left and right. (So the standard since its third edition; the first one could be
    read either way.)"""
    return box(b"imir", bytes([axis]))


def clap(width, height, right=0, down=0):
    """The part to show, and how far its centre lies from that of the picture (fractions of two)."""
    return box(b"clap", struct.pack(">IIIIiIiI", width, 1, height, 1, right, 2, down, 2))


def nclx(primaries, transfer, matrix, is_full=True):
    return box(b"colr", b"nclx", struct.pack(">HHHB", primaries, transfer, matrix, 0x80 if is_full else 0))


def icc(profile):
    return box(b"colr", b"prof", profile)


ALPHA = full(b"auxC", 0, 0, b"urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0")


class Item:
    """- Parameters:
      - kind: `hvc1`, `av01`, `grid`, `Exif`…
      - properties: boxes in the order in which they apply; irot, imir and clap are essential.
      - references: (`dimg`, `auxl`, `thmb`, `cdsc`…, numbers of items from 1)."""

    def __init__(self, kind, data, properties=(), references=(), hidden=False):
        self.kind, self.data, self.properties = kind, data, list(properties)
        self.references, self.hidden = list(references), hidden

    @classmethod
    def of(cls, coded, *properties, references=(), hidden=False):
        return cls(coded.kind, coded.data, [coded.config, ispe(*coded.size), *properties], references, hidden)


def grid(rows, columns, width, height, tiles, *properties):
    """- Parameter tiles: the numbers of their items, row by row."""
    data = struct.pack(">BBBBHH", 0, 0, rows - 1, columns - 1, width, height)
    return Item(b"grid", data, [ispe(width, height), *properties], [(b"dimg", tiles)])


def heif(items, primary=1, brands=(b"heic", b"mif1", b"heic")):
    """- Parameter brands: the major one first."""
    essential = (b"hvcC", b"av1C", b"irot", b"imir", b"clap")
    properties, links = [], b""
    for number, item in enumerate(items, 1):
        links += struct.pack(">HB", number, len(item.properties))
        for part in item.properties:
            if part not in properties:
                properties.append(part)
            links += struct.pack(">H", properties.index(part) + 1 | (0x8000 if part[4:8] in essential else 0))
    infos = [full(b"infe", 2, 1 if item.hidden else 0, struct.pack(">HH", number, 0), item.kind, b"\0")
             for number, item in enumerate(items, 1)]
    references = [box(kind, struct.pack(">HH", number, len(to)), *[struct.pack(">H", other) for other in to])
                  for number, item in enumerate(items, 1) for kind, to in item.references]
    start = box(b"ftyp", brands[0], bytes(4), *brands[1:])

    def meta(offset):
        places = b""
        for number, item in enumerate(items, 1):
            places += struct.pack(">HHHHII", number, 0, 0, 1, offset, len(item.data))
            offset += len(item.data)
        return full(
            b"meta", 0, 0, full(b"hdlr", 0, 0, bytes(4), b"pict", bytes(13)), full(b"pitm", 0, 0, struct.pack(">H", primary)),
            full(b"iloc", 1, 0, bytes([0x44, 0]), struct.pack(">H", len(items)), places),
            full(b"iinf", 0, 0, struct.pack(">H", len(items)), *infos),
            *([full(b"iref", 0, 0, *references)] if references else []),
            box(b"iprp", box(b"ipco", *properties), full(b"ipma", 0, 1, struct.pack(">I", len(items)), links)))

    head = start + meta(0)
    return start + meta(len(head) + 8) + box(b"mdat", *[item.data for item in items])
