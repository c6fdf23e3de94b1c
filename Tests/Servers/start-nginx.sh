#!/bin/bash
# start-nginx.sh DIR - a plain PUT target on free ports of 127.0.0.1, with and without TLS (own CA in DIR/ca.crt).
# Prints 'ready PORT TLSPORT' and ends when its standard input ends, that is with its test.
set -eu
DIR=${1:?folder}
HERE=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$DIR/store"; DIR=$(cd "$DIR" && pwd)
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj "/CN=test CA" -keyout "$DIR/ca.key" -out "$DIR/ca.crt" 2>/dev/null
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=localhost" -keyout "$DIR/server.key" -out "$DIR/server.csr" 2>/dev/null
printf 'subjectAltName=DNS:localhost,IP:127.0.0.1\n' > "$DIR/ext"
openssl x509 -req -in "$DIR/server.csr" -CA "$DIR/ca.crt" -CAkey "$DIR/ca.key" -CAcreateserial -days 30 -extfile "$DIR/ext" -out "$DIR/server.crt" 2>/dev/null
# nginx can't tell which port the system chose, so ports are chosen here and, should another process be faster, again.
for _ in 1 2 3 4 5; do
  read -r PORT TLSPORT < <(python3 -c 'import socket
s = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
print(*[x.getsockname()[1] for x in s])')
  sed -e "s|__DIR__|$DIR|g" -e "s|__PORT__|$PORT|g" -e "s|__TLSPORT__|$TLSPORT|g" "$HERE/nginx.conf" > "$DIR/nginx.conf"
  nginx -p "$DIR" -e "$DIR/error.log" -c "$DIR/nginx.conf" -g "daemon off;" < /dev/null > /dev/null 2>&1 &
  NGINX=$!
  for _ in $(seq 100); do
    kill -0 "$NGINX" 2>/dev/null || break
    if curl -fsS -o /dev/null --max-time 2 --noproxy '*' "http://127.0.0.1:$PORT/healthz" 2>/dev/null; then
      echo "ready $PORT $TLSPORT"
      cat > /dev/null
      kill "$NGINX"; wait "$NGINX" || true
      exit 0
    fi
    sleep 0.05
  done
  kill "$NGINX" 2>/dev/null || true
done
echo "nginx did not start" >&2; exit 1
