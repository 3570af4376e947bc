"""What runs inside a service's environment on our behalf: its starter and its probe."""

RUNNER = (
    "setsid /bin/sh -c "
    "'\"$@\" > /service/control/log 2>&1 < /dev/null; echo $? > /service/control/ended' "
    'sh "$@" > /dev/null 2>&1 < /dev/null &'
)
"""Starts its arguments as a command that outlives it, and notes how that command ended."""

PROBE = r"""
import json, sys, time, urllib.error, urllib.request

what, ended, port, path, seconds, before = sys.argv[1:7]
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def listening():
    found = set()
    for name in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            with open(name) as table:
                rows = [line.split() for line in table][1:]
        except OSError:
            continue
        found |= {int(row[1].rpartition(":")[2], 16) for row in rows if row[3] == "0A"}
    return found


def problem():
    if port == "0":
        seen = {int(p) for p in before.split(",") if p}
        return None if listening() - seen else "nothing new listens"
    try:
        with opener.open("http://127.0.0.1:" + port + path, timeout=2) as answer:
            answer.read(65536)
    except urllib.error.HTTPError as error:
        return "it answers " + str(error.code)
    except Exception as error:
        return repr(error)
    return None


if what == "ports":
    print(",".join(str(p) for p in sorted(listening())))
    sys.exit(0)
if what == "collect":
    if port != "0":
        problem()
    found = {}
    for name, limit in json.loads(before).items():
        try:
            with open(name, "rb") as file:
                data = file.read(limit + 1)
        except OSError:
            data = b""
        found[name] = [data[:limit].decode("utf-8", "replace"), len(data) > limit]
    print(json.dumps(found))
    sys.exit(0)
until = time.monotonic() + float(seconds)
while True:
    said = problem()
    if said is None:
        sys.exit(0)
    try:
        with open(ended) as file:
            code = file.read().strip()
    except OSError:
        code = ""
    if code == "0" and port == "0":
        sys.exit(0)
    if code:
        print("its program ended with " + code)
        sys.exit(1)
    if time.monotonic() > until:
        print(said)
        sys.exit(1)
    time.sleep(0.02)
"""
"""Arguments: what to do, the file of the end, port or 0, path, seconds, and more.

`ports` prints which listen; `ready` waits for an answer (more: the ports that listened before);
`collect` prints files (more: name -> bytes at most, as JSON) after one request of its own, so that
a server of one thread has answered all earlier ones.
"""
