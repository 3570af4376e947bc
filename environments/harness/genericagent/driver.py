"""Runs GenericAgent for one turn and continues the conversation of earlier turns.

Argument: path of the state file. Standard input: the prompt. Standard output: one JSON object a
line with `kind` (`message`, `call`, `result`, `failure`). GenericAgent keeps its conversation in one
process, writes into its own package and prints as it likes; here the conversation is put back, the
package is a copy in the user's home, and what it prints goes to standard error.
"""

import json
import pathlib
import shutil
import sys
import threading

INSTALLED = next(pathlib.Path("/opt/genericagent/lib").glob("python3*")) / "site-packages"
READ_S = 600
out = sys.stdout
sys.stdout = sys.stderr


def tell(**record: object) -> None:
    out.write(json.dumps(record, default=str) + "\n")
    out.flush()


def load(home: pathlib.Path):
    """The package, from a copy that it may write into."""
    copy = home / "package"
    if not copy.exists():
        shutil.copytree(INSTALLED / "genericagent", copy / "genericagent")
    sys.path.insert(0, str(copy))
    from genericagent import agentmain, llmcore

    # Its own limit is two minutes, also for a model that thinks in silence.
    post = llmcore.requests.post
    llmcore.requests.post = lambda *given, **named: post(*given, **{**named, "timeout": READ_S})
    return agentmain


def watch(agentmain, workspace: str) -> list:
    """Tell of calls and results as they happen; the agent works in the task's workspace."""
    said: list = []

    class Handler(agentmain.GenericAgentHandler):
        calls = 0

        def __init__(self, parent, history, cwd):
            super().__init__(parent, history, workspace)

        def tool_before_callback(self, name, args, response):
            if args.get("_index", 0) == 0 and response.content:
                said.append(response.content)
                failed = response.content.startswith("Error:")
                tell(kind="failure" if failed else "message", text=response.content)
            if name != "no_tool":
                Handler.calls += 1
                shown = {k: v for k, v in args.items() if k != "_index"}
                tell(kind="call", id=str(Handler.calls), tool=name, arguments=shown)
            return super().tool_before_callback(name, args, response)

        def tool_after_callback(self, name, args, response, outcome):
            if name != "no_tool":
                data = outcome.data if outcome.data is not None else outcome.next_prompt
                code = data.get("exit_code") if isinstance(data, dict) else None
                if isinstance(data, dict) and isinstance(data.get("stdout"), str):
                    data = data["stdout"]
                text = data if isinstance(data, str) else json.dumps(data, default=str)
                tell(kind="result", id=str(Handler.calls), text=text, exit_code=code)
            return super().tool_after_callback(name, args, response, outcome)

    agentmain.GenericAgentHandler = Handler
    own = agentmain.get_system_prompt
    temporary = str(pathlib.Path("./temp").absolute())
    agentmain.get_system_prompt = lambda: own().replace(temporary, workspace)
    return said


def main() -> None:
    state = pathlib.Path(sys.argv[1])
    prompt = sys.stdin.buffer.read().decode("utf-8", "replace")
    agentmain = load(state.parent)
    said = watch(agentmain, str(pathlib.Path.cwd()))
    agent = agentmain.GeneraticAgent()
    agent.verbose = False
    client, backend = agent.llmclient, agent.llmclient.backend
    if state.is_file():
        kept = json.loads(state.read_text())
        backend.history, agent.history = kept["messages"], kept["history"]
        client._pending_tool_ids = kept["pending"]  # calls that wait for their results
    threading.Thread(target=agent.run, daemon=True).start()
    queue = agent.put_task(prompt, source="task")
    while "done" not in (item := queue.get()):
        pass
    agent.task_queue.join()
    if not said:
        tell(kind="failure", text=item["done"][-2000:])
    kept = {"messages": backend.history, "history": agent.history}
    state.write_text(json.dumps({**kept, "pending": client._pending_tool_ids}))
    tell(kind="end")


if __name__ == "__main__":
    main()
