#!/bin/bash
# start-tus.sh DIR - tuspyserver (PyPI), a tus server by somebody else, on a free port of 127.0.0.1; finished files lie in DIR.
# Prints 'ready PORT' and ends when its standard input ends, that is with its test. `make setup` installs it.
# It keeps connections: one that ends under a long PATCH is a fault, which tests make themselves.
# Don't kill it in the middle of a PATCH: it then keeps the bytes and forgets the offset.
set -eu
DIR=${1:?folder}
HERE=$(cd "$(dirname "$0")" && pwd)
PYTHON=${TUS_PYTHON:-$HERE/../../.build/venv/bin/python}
[ -x "$PYTHON" ] || { echo "start-tus.sh: $PYTHON is not there; \`make setup\` installs it" >&2; exit 1; }
mkdir -p "$DIR"; DIR=$(cd "$DIR" && pwd)
cd "$HERE"
# Should another process take the free port first, again.
for _ in 1 2 3 4 5; do
  PORT=$(python3 -c 'import socket; print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])')
  TUS_DIR="$DIR" PYTHONDONTWRITEBYTECODE=1 "$PYTHON" -m uvicorn tus_app:app --host 127.0.0.1 --port "$PORT" \
    --log-level warning --no-access-log --timeout-keep-alive 600 > "$DIR.log" 2>&1 < /dev/null &
  TUS=$!
  # Asked politely it would wait for kept connections, and whoever waits for us for it.
  trap 'kill -9 $TUS 2>/dev/null && wait $TUS 2>/dev/null || true; rm -f "$DIR.log"' EXIT
  for _ in $(seq 300); do
    kill -0 $TUS 2>/dev/null || break
    if curl -fsS -o /dev/null --noproxy '*' --max-time 2 "http://127.0.0.1:$PORT/healthz" 2>/dev/null; then
      echo "ready $PORT"
      cat > /dev/null
      exit 0
    fi
    sleep 0.05
  done
done
echo "the tus server did not start" >&2; exit 1
