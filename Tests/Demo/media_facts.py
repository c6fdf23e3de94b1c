"""What a file is and how large its picture is, by the tools that everybody has."""
import hashlib
import json
import subprocess
from pathlib import Path

PHOTO_BRANDS = {b"heic", b"heix", b"mif1", b"msf1", b"avif"}


def kind_of(path):
    """`photo`, `clip` or None, from the first bytes and not from the name."""
    with path.open("rb") as file:
        head = file.read(189)
    if head.startswith((b"\xff\xd8\xff", b"\x89PNG\r\n", b"GIF8", b"II*\0", b"MM\0*")) or head[8:12] == b"WEBP":
        return "photo"
    if head[4:8] == b"ftyp":
        return "photo" if head[8:12] in PHOTO_BRANDS else "clip"
    is_transport_stream = head[:1] == head[188:189] == b"G"
    if head.startswith((b"\x1a\x45\xdf\xa3", b"\0\0\1\xba")) or head[8:12] == b"AVI " or is_transport_stream:
        return "clip"
    return None


def output(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout


def displayed_size(path):
    """Width and height as shown, with the turn of an orientation or rotation tag applied."""
    if kind_of(path) == "photo":
        fields = dict(line.split(": ", 1) for line in output("vipsheader", "-a", path).splitlines() if ": " in line)
        width, height = int(fields["width"]), int(fields["height"])
        is_turned = int(fields.get("orientation", 1)) >= 5
    else:
        streams = json.loads(output("ffprobe", "-v", "error", "-select_streams", "v:0", "-show_streams", "-of", "json",
                                    f"file:{path}"))["streams"]
        width, height = streams[0]["width"], streams[0]["height"]
        sides = streams[0].get("side_data_list", [])
        is_turned = any(abs(int(side.get("rotation", 0))) in (90, 270) for side in sides)
    return (height, width) if is_turned else (width, height)


def has_position(path):
    return bool(output("exiftool", "-s3", "-GPSPosition", "-GPSCoordinates", path).strip())


def md5_of(path):
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "md5").hexdigest()
