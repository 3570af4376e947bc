"""Views, and a model that gives scripted answers, for the simulator's tests."""

from collections.abc import Sequence

from uniclaw.assets import Assets, default_roots
from uniclaw.ports import ChatRequest, Completion
from uniclaw.records import (
    Brief,
    Fact,
    Language,
    NeutralId,
    Progress,
    Usage,
    UserView,
    VisibleFile,
    VisibleRound,
)

ASSETS = Assets(default_roots(None))
BRIEF = Brief(
    facts=(
        Fact(id="d", text="Payroll closes on Monday.", topics=("deadline", "when", "期限")),
        Fact(id="r", text="The rates come from finance.", topics=("rate", "exchange rate", "汇率")),
    )
)


def view(
    *,
    language: Language = "en",
    asked: bool = False,
    final: str = "Done. It is in results/a.json.",
    progress: Progress | None = None,
    reminder: bool = False,
    round_number: int = 0,
    brief: Brief = BRIEF,
) -> UserView:
    return UserView(
        task_id=NeutralId("task-7"),
        episode_id=NeutralId("episode-3"),
        instruction="Please sum up the orders.",
        language=language,
        persona="Somebody of few words.",
        brief=brief,
        rounds=(
            VisibleRound(
                round=round_number,
                user_message="Please sum up the orders.",
                final_message=final,
                files=(VisibleFile(path="/workspace/results/a.json", text='{"n": 12}', size=9),),
            ),
        ),
        progress=progress or Progress(),
        asked=asked,
        feedback_rounds_left=1,
        reminder=reminder,
    )


class Answers:
    """A chat model that gives one answer after the other."""

    spec = "scripted/answers"

    def __init__(self, answers: Sequence[str | Completion]) -> None:
        self.answers = list(answers)
        self.requests: list[ChatRequest] = []

    async def complete(self, request: ChatRequest) -> Completion:
        self.requests.append(request)
        answer = self.answers[min(len(self.requests), len(self.answers)) - 1]
        if isinstance(answer, Completion):
            return answer
        return Completion(text=answer, finish="stop", usage=Usage(), model="answers")

    async def close(self) -> None:
        return None
