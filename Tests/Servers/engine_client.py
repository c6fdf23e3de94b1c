"""A taskcenterd as a child process, spoken to as any front end does: one JSON-RPC message per line."""
import json
import os
import selectors
import signal
import subprocess
import time


class EngineGone(Exception):
    """The engine ended, or fell silent for too long."""


class RemoteError(Exception):
    """An error answer; `code` is the stable name in its data."""

    def __init__(self, error):
        super().__init__(error.get("message"))
        self.code = (error.get("data") or {}).get("code", error.get("code"))
        self.error = error


class EngineProcess:
    """- Parameter log: a file for what the engine writes to stderr; thrown away where there is none."""

    def __init__(self, command, environment=None, log=None):
        stderr = open(log, "ab") if log else subprocess.DEVNULL
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=stderr, env=environment, bufsize=0)
        if log:
            stderr.close()
        self.notifications = []
        self.buffer = b""
        self.last_id = 0
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.process.stdout, selectors.EVENT_READ)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def call(self, method, params=None, timeout=60):
        """- Returns the result. Raises RemoteError for an error answer, EngineGone where none comes."""
        self.last_id += 1
        message = {"jsonrpc": "2.0", "id": self.last_id, "method": method} | ({"params": params} if params else {})
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
        except BrokenPipeError:
            raise EngineGone(f"the engine ended with status {self.process.wait(10)}") from None
        deadline = time.monotonic() + timeout
        while True:
            answer = self.message(deadline)
            if answer.get("id") != self.last_id or "method" in answer:
                self.notifications.append(answer)
            elif "error" in answer:
                raise RemoteError(answer["error"])
            else:
                return answer["result"]

    def asked(self, method, timeout=60):
        """- Returns the next request of the engine's for `method`, to be answered with `answer`."""
        deadline = time.monotonic() + timeout
        while True:
            for place, message in enumerate(self.notifications):
                if message.get("method") == method and "id" in message:
                    return self.notifications.pop(place)
            self.notifications.append(self.message(deadline))

    def answer(self, request, result=None, error=None):
        outcome = {"error": error} if error else {"result": result}
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], **outcome}).encode() + b"\n")

    def message(self, deadline):
        while b"\n" not in self.buffer:
            if not self.selector.select(max(0, deadline - time.monotonic())):
                raise EngineGone("the engine did not answer in time")
            chunk = os.read(self.process.stdout.fileno(), 1 << 20)
            if not chunk:
                raise EngineGone(f"the engine ended with status {self.process.wait(10)}")
            self.buffer += chunk
        line, self.buffer = self.buffer.split(b"\n", 1)
        return json.loads(line)

    def kill(self, pid=None):
        """SIGKILL, as a crash or a power cut would end it."""
        os.kill(pid or self.process.pid, signal.SIGKILL)
        self.process.wait(10)
        self.release()

    def close(self):
        """End of stdin: the engine saves and exits by itself. - Returns its exit status, None where it was killed."""
        if self.process.poll() is None:
            self.process.stdin.close()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                self.process.returncode = None
        status = self.process.returncode
        self.release()
        return status

    def release(self):
        self.selector.close()
        for pipe in (self.process.stdin, self.process.stdout):
            try:
                pipe.close()
            except BrokenPipeError:
                pass
