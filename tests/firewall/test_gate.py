from hidden_case import BRIEF
from hypothesis import given
from hypothesis import strategies as st

from uniclaw.firewall.decision import CLEAN, Hit, ScreenDecision
from uniclaw.firewall.gate import MAX_REDRAWS, deliver, relay, step
from uniclaw.records import NeutralId, Progress, UserView

LEAK = ScreenDecision(decision="leak", hits=(Hit(kind="number", matched="8842"),))
VIEW = UserView(
    task_id=NeutralId("n"),
    episode_id=NeutralId("e"),
    instruction="Do it.",
    language="en",
    persona="p",
    brief=BRIEF,
    rounds=(),
    progress=Progress(),
    asked=False,
    feedback_rounds_left=1,
)


class Drafts:
    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)
        self.views: list[UserView] = []

    async def draft(self, view: UserView) -> str:
        self.views.append(view)
        return self.texts[len(self.views) - 1]


def check(text: str) -> ScreenDecision:
    return LEAK if "8842" in text else CLEAN


async def test_a_clean_draft_is_delivered_byte_for_byte() -> None:
    text = "  Please\tlook again \u3000。\n"
    drafts = Drafts(text)
    done = await relay(VIEW, draft=drafts.draft, check=check, neutral_text=str, mode="enforce")
    assert done.feedback.text == text
    assert done.feedback.drafts == 1
    assert not drafts.views[0].reminder


async def test_a_leak_is_redrawn_from_the_same_view_with_a_reminder_and_nothing_else() -> None:
    drafts = Drafts("use 8842", "look again")
    done = await relay(VIEW, draft=drafts.draft, check=check, neutral_text=str, mode="enforce")
    assert done.feedback.text == "look again"
    assert done.feedback.drafts == 2
    assert drafts.views[1] == VIEW.model_copy(update={"reminder": True})
    assert [record.delivered for record in done.drafts] == [False, True]
    assert done.drafts[0].screening.hits == LEAK.hits


async def test_what_cannot_be_made_clean_becomes_neutral_after_two_redraws() -> None:
    drafts = Drafts(*["8842"] * 5)
    done = await relay(
        VIEW, draft=drafts.draft, check=check, neutral_text=lambda: "Please check.", mode="enforce"
    )
    assert len(drafts.views) == MAX_REDRAWS + 1
    assert (done.feedback.text, done.feedback.source) == ("Please check.", "neutral")
    assert [record.delivered for record in done.drafts] == [False, False, False, True]


async def test_observe_records_and_delivers() -> None:
    drafts = Drafts("use 8842")
    done = await relay(VIEW, draft=drafts.draft, check=check, neutral_text=str, mode="observe")
    assert done.feedback.text == "use 8842"
    assert done.drafts[0].screening.leak


@given(index=st.integers(0, 5), text=st.text(), leak=st.booleans())
def test_nothing_leaking_is_ever_delivered_under_enforce(index: int, text: str, leak: bool) -> None:
    done = step(LEAK if leak else CLEAN, text=text, index=index, mode="enforce")
    assert (done.action == "deliver") == (not leak)
    assert done.record.text == text
    if done.action == "deliver":
        assert deliver(done.record, index + 1).text == text
    else:
        assert done.action == ("redraw" if index < MAX_REDRAWS else "neutral")
