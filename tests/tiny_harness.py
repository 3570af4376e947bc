"""The smallest harness that calls its model from inside a container."""

from pathlib import Path

CLIENT = """
import json, subprocess, sys, urllib.request
url, token, model = sys.argv[1:4]
said = {"model": model, "messages": [{"role": "user", "content": sys.stdin.read()}]}
head = {"content-type": "application/json", "authorization": "Bearer " + token}
request = urllib.request.Request(url + "/v1/chat/completions", json.dumps(said).encode(), head)
try:
    answer = json.load(urllib.request.urlopen(request, timeout=30))
except OSError as error:
    sys.exit("model failed: %s" % error)
text = answer["choices"][0]["message"]["content"]
subprocess.run(["sh", "-c", text], check=False)
print(json.dumps({"type": "done", "text": "Counted."}))
"""
COMMAND = """
first:
  argv: [python3, /opt/tiny/client.py, "{{ url }}", "{{ token }}", "{{ model }}"]
final: {type: [done]}
transcript:
  events:
    - {when: {type: done}, message: text}
model_failure: "model failed"
"""


def harness(root: Path) -> Path:
    """An asset tree with the smallest harness that calls its model from inside."""
    home = root / "assets" / "environments" / "harness" / "tiny"
    home.mkdir(parents=True)
    (home / "client.py").write_text(CLIENT, encoding="utf-8")
    (home / "command.yaml").write_text(COMMAND, encoding="utf-8")
    (home / "recipe.yaml").write_text(
        "from: environment\ndescription: A test client.\n", encoding="utf-8"
    )
    (home / "Dockerfile").write_text(
        "ARG BASE\nFROM ${BASE}\nCOPY client.py /opt/tiny/client.py\n", encoding="utf-8"
    )
    return root / "assets"
