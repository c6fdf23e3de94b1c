"""A front end at the engine's Unix socket: calls from any thread, and whatever the engine sends by itself."""
import json
import socket
import threading
import time

from engine_client import EngineGone, RemoteError


class DoorClient:
    """- Parameter heard: called with each notification or request of the engine's, on the reading thread, in order."""

    def __init__(self, path, heard=lambda message: None):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self.socket.connect(str(path))
        except OSError as error:
            self.socket.close()
            raise EngineGone(f"the door is shut: {error}") from None
        self.heard = heard
        self.changed = threading.Condition()
        self.answers, self.last_id, self.is_gone = {}, 0, False
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        with self.socket.makefile("rb") as lines:
            try:
                for line in lines:
                    if not line.endswith(b"\n"):
                        break  # The engine died while it wrote.
                    self.take(json.loads(line))
            except OSError:
                pass
        with self.changed:
            self.is_gone = True
            self.changed.notify_all()

    def take(self, message):
        if "method" in message:
            self.heard(message)
            return
        with self.changed:
            self.answers[message["id"]] = message
            self.changed.notify_all()

    def write(self, message):
        try:
            self.socket.sendall(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        except OSError as error:
            raise EngineGone(str(error)) from None

    def ask(self, method, params=None):
        """Sends a request. - Returns its id, for `result`."""
        with self.changed:
            self.last_id += 1
            number = self.last_id
        self.write({"id": number, "method": method} | ({"params": params} if params else {}))
        return number

    def result(self, number, timeout=60):
        """- Raises RemoteError for an error answer, EngineGone where none will come, TimeoutError where none came."""
        with self.changed:
            if not self.changed.wait_for(lambda: number in self.answers or self.is_gone, timeout):
                raise TimeoutError("the engine did not answer in time")
            if number not in self.answers:
                raise EngineGone("the engine went before it answered")
            answer = self.answers.pop(number)
        if "error" in answer:
            raise RemoteError(answer["error"])
        return answer["result"]

    def call(self, method, params=None, timeout=60):
        return self.result(self.ask(method, params), timeout)

    def close(self):
        """- Returns once everything that came was heard."""
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.thread.join(20)
        self.socket.close()


def knock(path, heard=lambda message: None, seconds=20):
    """A client at the door of an engine that is about to open it."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return DoorClient(path, heard)
        except EngineGone:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
