"""Runs mini-swe-agent for one turn and continues the conversation of earlier turns.

Standard input: JSON with `prompt`, `model`, `state` (path of the trajectory file). Standard output:
one JSON object a message, `{"message": {...}}`. mini itself always begins anew; here the earlier
messages are put back before its first step.
"""

import json
import pathlib
import sys

from minisweagent.agents.default import DefaultAgent
from minisweagent.config import get_config_from_spec
from minisweagent.environments import get_environment
from minisweagent.models import get_model

SUBMITTED = "The work was submitted to the user, who answers below."


def earlier(state: pathlib.Path) -> list:
    """Messages of earlier turns, every tool call answered, without the marks of their ends."""
    if not state.is_file():
        return []
    kept = [m for m in json.loads(state.read_text())["messages"] if m.get("role") != "exit"]
    answered = {m.get("tool_call_id") for m in kept}
    whole = []
    for message in kept:
        whole.append(message)
        for call in message.get("tool_calls") or ():
            if call["id"] not in answered:
                reply = {"role": "tool", "tool_call_id": call["id"], "content": SUBMITTED}
                whole.append(reply)
    return whole


class Agent(DefaultAgent):
    """mini's own agent, with its past."""

    def remember(self, messages: list, prompt: str) -> None:
        self.past, self.prompt = messages, prompt

    def add_messages(self, *messages: dict) -> list:
        if self.past:
            self.messages.extend(self.past)
            self.past = []
            messages = (self.model.format_message(role="user", content=self.prompt),)
        for message in messages:
            print(json.dumps({"message": message}, default=str), flush=True)
        return super().add_messages(*messages)


def main() -> None:
    given = json.load(sys.stdin)
    state = pathlib.Path(given["state"])
    config = get_config_from_spec("mini.yaml")
    settings = {k: v for k, v in config["agent"].items() if k != "mode"}
    settings |= {"cost_limit": 0, "output_path": state}
    model = get_model(config={**config["model"], "model_name": f"openai/{given['model']}"})
    environment = get_environment(config["environment"], default_type="local")
    agent = Agent(model, environment, **settings)
    agent.remember(earlier(state), given["prompt"])
    agent.run(given["prompt"])


if __name__ == "__main__":
    main()
