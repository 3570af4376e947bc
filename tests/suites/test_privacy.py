"""Private variables: read from a local file, placeholders refused, values taken out of texts."""

import base64
import json
from pathlib import Path

import pytest
from suite_makers import Checkout

from uniclaw.assets import Assets
from uniclaw.errors import UserError
from uniclaw.records import ProbeResult
from uniclaw.suites import load_suite
from uniclaw.suites.bundle import TaskBundle
from uniclaw.suites.privacy import Secrets, read_secrets

VALUE = "tok-93af/27+x=="


def load(checkout: Checkout, secrets: Secrets, *, snapshot: bool = False) -> TaskBundle:
    (bundle,) = load_suite(
        checkout.uri,
        assets=Assets(roots=()),
        snapshot=snapshot,
        credentials=secrets.names,
        placeholders=secrets.placeholders,
    ).tasks
    return bundle


def errors(bundle: TaskBundle) -> list[str]:
    return [f"{f.code}: {f.message}" for f in bundle.findings if f.severity == "error"]


def test_a_file_of_variables_is_read_with_quotes_exports_and_remarks(tmp_path: Path) -> None:
    file = tmp_path / "private.env"
    file.write_text(
        f"# mine\n\nA_TOKEN={VALUE}\nexport B='two words'\nC=\"x y\"\n", encoding="utf-8"
    )
    assert read_secrets(file).values == {"A_TOKEN": VALUE, "B": "two words", "C": "x y"}
    assert read_secrets(None).names == frozenset()


@pytest.mark.parametrize(
    "value",
    [
        *("", "''", "<your token>", "your-api-key", "YOUR_API_KEY_HERE", "changeme", "change-me"),
        *("replace_with_token", "xxxx", "${TOKEN}", "TODO", "...", "sk-...", "placeholder"),
    ],
)
def test_a_placeholder_is_no_value(tmp_path: Path, value: str) -> None:
    file = tmp_path / "private.env"
    file.write_text(f"A_TOKEN={value}\n", encoding="utf-8")
    read = read_secrets(file)
    assert (read.names, read.placeholders) == (frozenset(), {"A_TOKEN"})


def test_a_line_that_is_none_is_refused_without_its_value(tmp_path: Path) -> None:
    file = tmp_path / "private.env"
    for text, said in (
        ("A=1\ntok-93af27\n", "line 2"),
        ("A b=tok-93af27\n", "line 1"),
        ("A=tok-93af27\nA=tok-93af27\n", "line 2"),
    ):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(UserError, match=said) as raised:
            read_secrets(file)
        assert "tok-93af27" not in str(raised.value)
    with pytest.raises(UserError, match="cannot be read"):
        read_secrets(tmp_path / "missing.env")


def test_values_and_their_usual_encodings_are_taken_out() -> None:
    secrets = Secrets({"A_TOKEN": VALUE, "PIN": "4711"})
    encoded = base64.b64encode(VALUE.encode()).decode()
    text = f"x {VALUE} y tok-93af%2F27%2Bx%3D%3D z {encoded} pin 4711 in 247119"
    assert secrets.redact(text) == "x [A_TOKEN] y [A_TOKEN] z [A_TOKEN] pin [PIN] in 247119"
    assert secrets.redact_bytes(b"\xff\0" + VALUE.encode()) == b"\xff\0[A_TOKEN]"
    assert VALUE not in repr(secrets)


def test_a_record_is_taken_apart_also_where_json_escapes_the_value() -> None:
    value = 'a"b\\c\u00e9'
    secrets = Secrets({"ODD": value})
    probe = ProbeResult(id="p", exit_code=0, stdout=json.dumps({"said": value}) + value)
    shown = secrets.redact_record(probe)
    assert shown.stdout == '{"said": "[ODD]"}[ODD]'
    assert secrets.redact_record(shown) == shown


def test_a_task_runs_when_its_variables_have_values(checkout: Checkout) -> None:
    checkout.put(".privacy", "# names\nA_TOKEN\nSNAPSHOT_MODE\n")
    given = load(checkout, Secrets({"A_TOKEN": VALUE}))
    assert given.runnable
    assert (given.variables, given.env) == (("A_TOKEN",), {})
    missing = load(checkout, Secrets({}, frozenset({"A_TOKEN"})))
    assert errors(missing) == ["needs-credentials: variables not provided: A_TOKEN (a placeholder)"]
    frozen = load(checkout, Secrets(), snapshot=True)
    assert frozen.runnable
    assert frozen.env == {"SNAPSHOT_MODE": "1"}


def test_a_value_in_the_list_of_names_is_refused(checkout: Checkout) -> None:
    checkout.put(".privacy", f"A_TOKEN={VALUE}\n")
    (said,) = errors(load(checkout, Secrets()))
    assert said.startswith("privacy-file")
    assert VALUE not in said
