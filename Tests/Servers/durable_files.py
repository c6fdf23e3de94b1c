"""Files that are there whole or not at all, also after a power cut."""
import os
import secrets
from contextlib import contextmanager


@contextmanager
def staged(path):
    """Gives a file to write beside `path`. When the block ends well its bytes are on disk and `place()` or
    `place_once()` has put it where it belongs; otherwise nothing is left of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.parent / f".{secrets.token_hex(8)}.part"
    try:
        with beside.open("xb") as file:
            yield StagedFile(beside, path, file)
    finally:
        beside.unlink(missing_ok=True)


class StagedFile:
    def __init__(self, beside, path, file):
        self.beside, self.path, self.file = beside, path, file
        self.write = file.write

    def place(self):
        """Takes the place of what was there."""
        self.sync()
        os.replace(self.beside, self.path)
        sync_folder(self.path.parent)

    def place_once(self):
        """- Returns False where something was there before. link() and not rename(): of two writers at once exactly one
        succeeds, and the other one is told."""
        self.sync()
        try:
            os.link(self.beside, self.path)
        except FileExistsError:
            return False
        sync_folder(self.path.parent)
        return True

    def sync(self):
        self.file.flush()
        os.fsync(self.file.fileno())


def sync_folder(path):
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
