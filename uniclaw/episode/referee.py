"""The firewall's place in an episode: projects verdicts, screens drafts, watches for canaries."""

from collections.abc import Callable, Mapping, Sequence

from pydantic import JsonValue

from uniclaw.firewall.auditor import Auditor
from uniclaw.firewall.canary import CanarySet
from uniclaw.firewall.gate import MAX_REDRAWS, Source, step
from uniclaw.firewall.material import HiddenMaterial
from uniclaw.firewall.policy import Policy
from uniclaw.firewall.projection import build_view, project, visible_round, visible_texts
from uniclaw.firewall.screening import Screen
from uniclaw.hidden.verdict import Verdict
from uniclaw.records import (
    Brief,
    Feedback,
    NeutralId,
    Record,
    StopReason,
    Task,
    UserView,
)
from uniclaw.store.records import DraftRecord
from uniclaw.trajectory import Evidence


class Draft(Record):
    """A screened draft: deliver it, ask for another, or deliver the neutral text. Hidden."""

    again: bool
    feedback: Feedback | None
    records: tuple[DraftRecord, ...]


class Referee:
    """One episode's firewall under one policy."""

    def __init__(
        self,
        *,
        policy: Policy,
        screen: Screen,
        canaries: CanarySet,
        persona: str,
        brief: Brief,
        task: Task,
        episode_id: NeutralId,
        source: Source,
        neutral_text: Callable[[UserView], str],
        material: HiddenMaterial,
        auditor: Auditor | None = None,
    ) -> None:
        """Bind the parts.

        Args:
            policy: in force.
            screen: indexes what this task hides under the policy.
            canaries: of this episode.
            persona: text of the user's persona.
            brief: what the user knows.
            task: with neutral ids.
            episode_id: neutral.
            source: what kind of simulator writes the drafts.
            neutral_text: the replacement for what cannot be made clean.
            material: what this task hides under the policy.
            auditor: second tier; asked about what the first finds clean. A template's
                messages are fixed texts and are not audited.
        """
        self.policy = policy
        self._screen = screen
        self._canaries = canaries
        self._persona = persona
        self._brief = brief
        self._task = task
        self._episode_id = episode_id
        self._source: Source = source
        self._neutral_text = neutral_text
        self._material = material
        self._auditor = None if source == "template" else auditor

    @property
    def markers(self) -> Mapping[str, str]:
        """The marks planted in this episode's hidden texts."""
        return self._canaries.markers

    def canary_hits(self, text: str | bytes) -> tuple[str, ...]:
        """Labels of hidden texts whose canary stands in `text`."""
        return self._canaries.hits(text)

    def view(
        self,
        *,
        verdict: Verdict,
        evidences: Sequence[Evidence],
        messages: Sequence[str],
        rounds_left: int,
    ) -> UserView:
        """Project a verdict and assemble what the user simulator sees.

        Args:
            verdict: of the last round.
            evidences: of rounds 0 to the last, in order.
            messages: what the executor was told in each of them.
            rounds_left: feedback rounds that may follow.
        """
        return build_view(
            task_id=NeutralId(self._task.task_id),
            episode_id=self._episode_id,
            instruction=self._task.instruction,
            language=self._task.language,
            persona=self._persona,
            brief=self._brief,
            rounds=[
                visible_round(
                    message,
                    evidence.turn,
                    evidence,
                    self.policy,
                    pictures=self._source != "template" and evidence is evidences[-1],
                )
                for message, evidence in zip(messages, evidences, strict=True)
            ],
            progress=project(verdict, self.policy, strip=self._canaries.strip),
            asked=evidences[-1].turn.stop is StopReason.ASKED,
            feedback_rounds_left=rounds_left,
        )

    async def judge_draft(
        self, text: str, index: int, view: UserView, work: Sequence[str], history: Sequence[str]
    ) -> Draft:
        """Screen a draft and say what follows.

        Args:
            text: the draft.
            index: 0 for the round's first.
            view: what its author saw.
            work: texts of the executor's own work; what stands there is no secret to it.
            history: feedback delivered in earlier rounds.

        Raises:
            JudgeError: the auditor gave no usable answer.
            ProviderError: its provider failed.
        """
        visible = (*visible_texts(view), *work)
        decision = self._screen.check(
            text, visible=visible, progress=view.progress, history=history
        )
        if self._auditor is not None and not decision.leak:
            decision = await self._auditor.audit(
                text,
                material=self._material,
                instruction=self._task.instruction,
                brief=self._brief,
                visible=visible,
            )
        action, _ = step(
            decision, text=text, index=index, mode=self.policy.screen, source=self._source
        )
        hits: tuple[dict[str, JsonValue], ...] = tuple(
            hit.model_dump(mode="json") for hit in decision.hits
        )
        record = DraftRecord(
            text=text, decision=decision.decision, delivered=action == "deliver", hits=hits
        )
        if action == "redraw":
            return Draft(again=True, feedback=None, records=(record,))
        if action == "deliver":
            feedback = Feedback(text=text, source=self._source, drafts=index + 1)
            return Draft(again=False, feedback=feedback, records=(record,))
        neutral = self._neutral_text(view)
        replaced = DraftRecord(text=neutral, decision="clean", delivered=True)
        return Draft(
            again=False,
            feedback=Feedback(text=neutral, source="neutral", drafts=MAX_REDRAWS + 1),
            records=(record, replaced),
        )
