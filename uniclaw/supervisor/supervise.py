"""The supervisor of one episode: code checks, one judge call for the rest, the verdict by code.

Every value of a verdict comes from this process's memory; what an agent writes, be it named
`verdict.json`, is an artifact like any other.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from uniclaw.errors import JudgeError, UserError
from uniclaw.hidden.references import References
from uniclaw.hidden.rubric import LoadedRubric, StateCheck
from uniclaw.hidden.scoring import compute_verdict
from uniclaw.hidden.tests_plan import all_tests
from uniclaw.hidden.verdict import CheckResult, Verdict
from uniclaw.records import NETWORK_PROBE
from uniclaw.supervisor.apart import CommandOutput
from uniclaw.supervisor.checks.context import CheckContext
from uniclaw.supervisor.evaluate import Evaluation, evaluate_lines
from uniclaw.supervisor.frozen import FrozenFiles
from uniclaw.supervisor.grader import Grader, Shared
from uniclaw.supervisor.lines import JudgeFunction, JudgeLine, judge_lines, parts, rubric_lines
from uniclaw.supervisor.plan import command_checks, plan_jobs
from uniclaw.supervisor.swe import run_tests
from uniclaw.supervisor.swe_patch import TestsRun
from uniclaw.supervisor.wild_result import Graded
from uniclaw.trajectory import Evidence


class Supervisor:
    """Scores the rounds of one episode against one rubric."""

    def __init__(
        self,
        *,
        loaded: LoadedRubric,
        bundle_sources: Mapping[str, Path],
        grader: Grader,
        judge: JudgeFunction | None,
    ) -> None:
        """Bind the parts.

        Args:
            loaded: the task's hidden side.
            bundle_sources: path relative to the task's sources -> host file.
            grader: of this episode; whoever made it closes it.
            judge: answers judge lines; None plays rubrics that have none.

        Raises:
            UserError: the rubric has judge lines and there is no judge.
        """
        self._loaded = loaded
        self._lines = rubric_lines(loaded.rubric)
        self._judge_lines = judge_lines(self._lines)
        if judge is None and self._judge_lines:
            names = ", ".join(line.id for line in self._judge_lines)
            raise UserError(
                "these lines need a judge model; expected `--supervisor PROVIDER/NAME`, or a "
                "rubric that code decides",
                file=loaded.root,
                field="checkpoints",
                value=names,
            )
        self._judge = judge
        self._grader = grader
        self._references = References.of(loaded)
        self._shared = Shared(
            references=self._references.files(loaded.rubric),
            sources=bundle_sources,
            checks={path.name: path for path in sorted(loaded.root.glob("*.py"))},
        )

    async def supervise(self, evidence: Evidence, *, rounds_left: int) -> Verdict:
        """Score one round from its frozen evidence.

        Args:
            evidence: of the round.
            rounds_left: feedback rounds that may follow.

        Raises:
            JudgeError: the judge gave no usable answer.
            UserError: the rubric asks for something that the task does not have.
        """
        self._refuse_unknown_probes(evidence)
        grading = asyncio.create_task(self._grade(evidence))
        try:
            judged = await self._ask_judge(evidence)
            context = await grading
        finally:  # without effect on a task that is done
            grading.cancel()
            await asyncio.gather(grading, return_exceptions=True)
        evaluation = await asyncio.to_thread(self._evaluate, context, judged)
        graded = context.graded
        verdict = compute_verdict(
            self._loaded.rubric,
            evaluation.lines,
            round_number=evidence.round,
            rounds_left=rounds_left,
            stop=evidence.turn.stop,
            missing_artifacts=self._missing_artifacts(context.files),
            flags=(*evaluation.flags, *(graded.flags if graded else ())),
        )
        return verdict.model_copy(update={"criteria": graded.values}) if graded else verdict

    async def _grade(self, evidence: Evidence) -> CheckContext:
        """Do all that is done apart: the agent's code first, then the grader's jobs."""
        commands: dict[str, CommandOutput] = {}
        for part, check in command_checks(self._lines):
            commands[part] = await self._grader.run_command(
                part,
                check,
                evidence=evidence,
                fixtures={inside: self._loaded.root / p for inside, p in check.files.items()},
            )
        files = FrozenFiles.of(evidence)
        seen = files
        for output in commands.values():
            if output.layer is not None:
                seen = seen.below(str(files.base), output.layer)
        jobs = plan_jobs(self._lines, files, commands)
        return CheckContext(
            evidence=evidence,
            files=files,
            references=self._references,
            jobs=await self._grader.run_jobs(
                jobs, shared=self._shared, evidence=evidence, files=seen
            ),
            commands=commands,
            tests=await self._run_tests(evidence),
            graded=await self._run_program(evidence),
        )

    async def _run_tests(self, evidence: Evidence) -> TestsRun | None:
        if not all_tests(self._loaded.rubric):
            return None
        return await run_tests(self._grader, self._loaded, evidence)

    async def _run_program(self, evidence: Evidence) -> Graded | None:
        program = self._loaded.program
        return None if program is None else await self._grader.run_program(program, evidence)

    async def _ask_judge(self, evidence: Evidence) -> Mapping[str, CheckResult]:
        if self._judge is None or not self._judge_lines:
            return {}
        results = await self._judge(evidence, self._judge_lines)
        _refuse_other_lines(self._judge_lines, results)
        return results

    def _evaluate(self, context: CheckContext, judged: Mapping[str, CheckResult]) -> Evaluation:
        return evaluate_lines(self._lines, replace(context, judged=judged))

    def _missing_artifacts(self, files: FrozenFiles) -> tuple[str, ...]:
        """Artifacts that checkpoints name and that are not there as regular files or folders."""
        named = dict.fromkeys(line.artifact for line in self._lines if line.artifact is not None)
        return tuple(
            path for path in named if all(e.kind not in {"file", "dir"} for e in files.find(path))
        )

    def _refuse_unknown_probes(self, evidence: Evidence) -> None:
        known = {probe.id for probe in evidence.task.probes}
        if evidence.task.network != "none":
            known.add(NETWORK_PROBE)
        services = {service.name for service in evidence.task.services}
        for line in self._lines:
            for part in parts(line):
                check = part.check
                if not isinstance(check, StateCheck):
                    continue
                missing = check.probe is not None and check.probe not in known
                if missing or (check.service is not None and check.service not in services):
                    raise UserError(
                        f"the task has probes {sorted(known)} and services {sorted(services)}; "
                        "expected one of them",
                        file=self._loaded.root,
                        field=f"{part.id}.{'probe' if missing else 'service'}",
                        value=check.probe if missing else check.service,
                    )


def _refuse_other_lines(lines: Sequence[JudgeLine], results: Mapping[str, CheckResult]) -> None:
    asked, answered = {line.id for line in lines}, set(results)
    if asked != answered:
        raise JudgeError(
            f"the judge answered other lines than asked: missing {sorted(asked - answered)}, "
            f"unknown {sorted(answered - asked)}"
        )
