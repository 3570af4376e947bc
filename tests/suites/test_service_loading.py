"""Services of native tasks: which program a name stands for, and what is refused at load."""

from pathlib import Path

import pytest
from service_maker import DESCRIPTION, PORT, write_service
from suite_makers import NativeSuite

from uniclaw.assets import Assets
from uniclaw.errors import UserError
from uniclaw.records import Service
from uniclaw.suites import load_suite
from uniclaw.suites.bundle import TaskBundle
from uniclaw.suites.services import shipped


@pytest.fixture
def suite(tmp_path: Path) -> NativeSuite:
    return NativeSuite(tmp_path)


def load(suite: NativeSuite, *assets: Path) -> TaskBundle:
    (bundle,) = load_suite(str(suite.root), assets=Assets(roots=assets)).tasks
    return bundle


def services(suite: NativeSuite) -> Path:
    return suite.root / "sum_en" / "services"


def test_a_name_alone_stands_for_the_tasks_own_program(suite: NativeSuite) -> None:
    home = write_service(services(suite) / "notes")
    suite.task(services=["notes"])
    bundle = load(suite)
    (spec,) = bundle.sidecars
    assert (spec.name, spec.port, spec.ready_timeout_s) == ("notes", PORT, 10)
    assert spec.files == {
        "/service/program": home / "program",
        "/service/seed/seed.json": home / "seed.json",
    }
    assert bundle.task.services == (Service(name="notes"),)
    assert bundle.services == {"notes": home}


def test_without_a_program_of_its_own_the_shipped_one_takes_the_tasks_seed(
    suite: NativeSuite, tmp_path: Path
) -> None:
    home = write_service(tmp_path / "assets/environments/services/notes", seed=None)
    suite.text(services(suite) / "notes" / "seed.json", '{"notes": []}')
    suite.text(services(suite) / "notes" / "pictures" / "a.txt", "a")
    suite.task(services=[{"name": "notes"}])
    (spec,) = load(suite, tmp_path / "assets").sidecars
    assert spec.files["/service/program"] == home / "program"
    assert set(spec.files) == {
        "/service/program",
        "/service/seed/seed.json",
        "/service/seed/pictures/a.txt",
    }


def test_a_shipped_service_needs_no_seed(suite: NativeSuite, tmp_path: Path) -> None:
    write_service(tmp_path / "assets/environments/services/notes", seed=None)
    suite.task(services=["notes"])
    bundle = load(suite, tmp_path / "assets")
    assert list(bundle.sidecars[0].files) == ["/service/program"]
    assert bundle.services == {}


def test_an_unknown_service_is_named_with_those_that_are_known(
    suite: NativeSuite, tmp_path: Path
) -> None:
    write_service(tmp_path / "assets/environments/services/notes")
    suite.task(services=["mial"])
    with pytest.raises(UserError, match=r"unknown service.*shipped are notes") as raised:
        load(suite, tmp_path / "assets")
    assert (raised.value.field, raised.value.value) == ("services[0].name", "mial")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"command": None}, "command"),
        ({"command": []}, "command"),
        ({"command": ["python3", "/service/program/../../x"]}, "command[1]"),
        ({"port": None}, "port"),
        ({"port": 80}, "port"),
        ({"port": 8377}, "port"),
        ({"description": None}, "description"),
        ({"image": "../x"}, "image"),
        ({"ready": {"path": "health"}}, "ready.path"),
        ({"ready": {"timeout_s": 0}}, "ready.timeout_s"),
        ({"readdy": {}}, "readdy"),
    ],
)
def test_a_description_that_does_not_hold_is_refused(
    suite: NativeSuite, changes: dict[str, object], field: str
) -> None:
    described = {**DESCRIPTION, **changes}
    kept = {key: value for key, value in described.items() if value is not None}
    write_service(services(suite) / "notes", description=kept)  # type: ignore[arg-type]
    suite.task(services=["notes"])
    with pytest.raises(UserError) as raised:
        load(suite)
    assert raised.value.field == field
    assert str(raised.value.file).endswith("services/notes/service.yaml")


def test_a_service_without_a_program_is_refused(suite: NativeSuite) -> None:
    suite.write(services(suite) / "notes" / "service.yaml", DESCRIPTION)
    suite.task(services=["notes"])
    with pytest.raises(UserError, match="no program"):
        load(suite)


def test_links_and_paths_that_leave_are_refused(suite: NativeSuite, tmp_path: Path) -> None:
    home = write_service(services(suite) / "notes")
    suite.task(services=[{"name": "notes", "path": "../notes"}])
    with pytest.raises(UserError, match="stays inside"):
        load(suite)
    suite.task(services=["notes"])
    (home / "seed.json").unlink()
    (home / "seed.json").symlink_to(tmp_path)
    with pytest.raises(UserError, match="links are not allowed"):
        load(suite)


def test_two_services_cannot_have_one_port_or_one_name(suite: NativeSuite) -> None:
    for name in ("notes", "other"):
        write_service(services(suite) / name)
    suite.task(services=["notes", "other"])
    with pytest.raises(UserError, match=f"has the port {PORT} of 'notes'"):
        load(suite)
    suite.task(services=["notes", "notes"])
    with pytest.raises(UserError, match="stands twice"):
        load(suite)


def test_an_installer_needs_a_command_and_a_background_service_has_none(
    suite: NativeSuite,
) -> None:
    suite.text(services(suite) / "tools" / "install.sh", "true\n")
    suite.task(services=[{"name": "tools", "start": "sh install.sh", "oneshot": True}])
    bundle = load(suite)
    assert bundle.sidecars == ()
    assert bundle.services == {"tools": services(suite) / "tools"}
    for entry, said in (
        ({"name": "tools", "oneshot": True}, "shell command"),
        ({"name": "tools", "start": "sh install.sh"}, "service.yaml"),
        ({"name": "gone", "start": "true", "oneshot": True}, "no such directory"),
    ):
        suite.task(services=[entry])
        with pytest.raises(UserError, match=said):
            load(suite)


def test_a_service_directory_that_no_entry_names_is_reported(suite: NativeSuite) -> None:
    write_service(services(suite) / "notes")
    suite.task(services=[])
    assert "undeclared-service" in [f.code for f in load(suite).findings]


def test_a_program_has_what_it_includes_beside_its_own_files(
    suite: NativeSuite, tmp_path: Path
) -> None:
    tree = tmp_path / "assets/environments/services"
    write_service(tree / "notes", description={**DESCRIPTION, "include": ["common"]})
    suite.task(services=["notes"])
    with pytest.raises(UserError, match="no such directory"):
        load(suite, tmp_path / "assets")
    suite.text(tree / "common" / "kit.py", "x = 1\n")
    suite.text(tree / "common" / "__pycache__" / "kit.pyc", "x")
    (spec,) = load(suite, tmp_path / "assets").sidecars
    assert spec.files["/service/program/kit.py"] == tree / "common" / "kit.py"
    assert not any("__pycache__" in name for name in spec.files)
    suite.text(tree / "common" / "main.py", "y = 1\n")
    with pytest.raises(UserError, match="is there already"):
        load(suite, tmp_path / "assets")


def test_the_shipped_services_load(suite: NativeSuite) -> None:
    repository = Path(__file__).resolve().parents[2]
    names = shipped(Assets(roots=(repository,)))
    suite.task(services=list(names))
    specs = load(suite, repository).sidecars
    assert [spec.name for spec in specs] == list(names)
