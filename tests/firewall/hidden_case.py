"""One task with a hidden side, for the firewall's tests."""

import json
from pathlib import Path

from uniclaw.assets import Assets, default_roots
from uniclaw.firewall.material import HiddenMaterial
from uniclaw.firewall.policy import Policy, load_policy
from uniclaw.firewall.screening import Screen
from uniclaw.hidden.rubric import LoadedRubric, Rubric
from uniclaw.hidden.verdict import CheckResult, LineResult, Verdict
from uniclaw.records import AttemptState, Brief, Decision, Fact, Progress

ASSETS = Assets(default_roots(None))
POLICIES = ("sealed", "binary", "coarse", "paper", "hints", "missing", "rationale", "open")

INSTRUCTION = {
    "en": "Please sum up the orders in sources/orders.csv by region and write results/summary.json"
    " with the fields region and total. Tell me which customer bought most.",
    "zh": "请把 sources/orders.csv 里的订单按地区汇总，写成 results/summary.json，字段是地区和"
    "总额，再告诉我哪位客户买得最多。",
}
SOURCES = (
    "orders.csv\nid,customer,region,amount\nO-1,Brightwater,north,120.50\nO-2,Kelm,south,88.10\n"
)
BRIEF = Brief(
    facts=(
        Fact(
            id="why", text="The board meets on 9 June 2026 at Hollowell.", topics=("when", "board")
        ),
    )
)
RULE = (
    "Refunded orders must be left out before the regional shares are worked out, and the"
    " quarantined warehouse counts as domestic."
)
RULE_ZH = "退货订单必须先剔除再计算各地区占比，隔离仓库按国内计。"


def references() -> dict[str, object]:
    return {
        "total_revenue": 9130438.08,
        "conflict_count": 17,
        "closing_date": "2024-03-05",
        "best_customer": "Oswin Tarrafel",
        "invoice": "INV-20931",
        "loaded_at": "14:35",
        "contact": "邓以诚",
        "formula": "df.groupby('zone')['net'].sum()",
    }


def loaded(directory: Path) -> LoadedRubric:
    (directory / "references").mkdir(parents=True, exist_ok=True)
    (directory / "references" / "ground_truth.json").write_text(
        json.dumps(references(), ensure_ascii=False), encoding="utf-8"
    )
    rubric = Rubric.model_validate(
        {
            "threshold": 0.9,
            "checkpoints": [
                {
                    "id": "refunds-out",
                    "weight": 0.6,
                    "description": RULE,
                    "tag": "check_exclusions",
                    "check": {"kind": "judge"},
                },
                {
                    "id": "ranking",
                    "weight": 0.4,
                    "description": RULE_ZH,
                    "artifact": "summary.json",
                    "check": {
                        "kind": "text",
                        "contains": ["Vellacourt Holdings"],
                        "regex": [r"quota\s+8842"],
                    },
                },
            ],
            "caps": [
                {
                    "id": "made-up",
                    "max": 0.35,
                    "description": "Invented customers.",
                    "when": {"kind": "judge"},
                }
            ],
            "references": ["references/ground_truth.json"],
            "secrets": ["The treasurer is Ambrose Quillfeather."],
        }
    )
    return LoadedRubric(rubric=rubric, root=directory, source="native", reference_root=directory)


def policy(name: str = "coarse") -> Policy:
    return load_policy(name, ASSETS)


def screen(directory: Path, name: str = "coarse", language: str = "en") -> Screen:
    used = policy(name)
    return Screen(
        HiddenMaterial.of(loaded(directory), used),
        public=[INSTRUCTION[language], SOURCES],
        brief=BRIEF,
        policy=used,
    )


def verdict(*, score: float | None = 0.6) -> Verdict:
    def line(identity: str, weight: float, value: float) -> LineResult:
        return LineResult(
            id=identity,
            kind="checkpoint",
            weight=weight,
            description=f"description of {identity}",
            decided_by="code",
            result=CheckResult(value=value, reason=f"reason of {identity}"),
            tag="check_exclusions",
        )

    return Verdict(
        round=0,
        decision=Decision.CONTINUE,
        attempt_state=AttemptState.COMPLETE_BUT_FAILED,
        recoverable=True,
        score=score,
        uncapped=score,
        threshold=0.9,
        lines=(line("refunds-out", 0.6, 1.0), line("ranking", 0.4, 0.0)),
        missing_artifacts=("summary.json",),
        guidance_tags=("check_exclusions",),
        rationale="the refunds were left in",
    )


NOTHING = Progress()
