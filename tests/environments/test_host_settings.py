"""What a build gets of the host: how to fetch, and nothing that names the host's own files."""

from pathlib import Path

from uniclaw.environments.host_settings import (
    DEBIAN_MIRROR,
    DEBIAN_SECURITY,
    ca_bundle,
    debian_mirrors,
    gather,
    npm_settings,
    pip_settings,
)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_certificates_of_the_host_are_taken_with_its_bundle(tmp_path: Path) -> None:
    assert ca_bundle(tmp_path) == b""
    _write(tmp_path / "usr/local/share/ca-certificates/corp/a.crt", "OWN\n")
    assert ca_bundle(tmp_path) == b"OWN\n"
    _write(tmp_path / "etc/ssl/certs/ca-certificates.crt", "ALL\n")
    assert ca_bundle(tmp_path) == b"ALL\nOWN\n"
    settings = gather(tmp_path, {})
    assert settings.variables["PIP_CERT"] == settings.variables["NODE_EXTRA_CA_CERTS"]
    assert b"CaInfo" in settings.files["apt.conf"]


def test_a_host_without_certificates_sets_nothing(tmp_path: Path) -> None:
    settings = gather(tmp_path, {"HTTPS_PROXY": "http://proxy:3128", "SECRET": "x"})
    assert "SSL_CERT_FILE" not in settings.variables
    assert settings.variables["HTTPS_PROXY"] == "http://proxy:3128"
    assert "SECRET" not in settings.variables
    assert "sources.list" not in settings.files


def test_mirrors_of_both_formats_are_found(tmp_path: Path) -> None:
    assert debian_mirrors(tmp_path) == (DEBIAN_MIRROR, DEBIAN_SECURITY)
    _write(
        tmp_path / "etc/apt/sources.list",
        "# x\ndeb cdrom:[x]/ bookworm main\ndeb [arch=amd64] http://mirror/debian/ bookworm main\n",
    )
    assert debian_mirrors(tmp_path) == ("http://mirror/debian", DEBIAN_SECURITY)
    _write(
        tmp_path / "etc/apt/sources.list.d/s.sources",
        "Types: deb\nURIs: http://sec/x\nSuites: bookworm-security\nComponents: main\n\n"
        "Types: deb\nURIs: file:/local\nSuites: bookworm\n",
    )
    assert debian_mirrors(tmp_path) == ("http://mirror/debian", "http://sec/x")
    settings = gather(tmp_path, {})
    assert b"deb http://mirror/debian bookworm main" in settings.files["sources.list"]
    assert b"/mnt/sources.list" in settings.files["apt.conf"]


def test_pip_settings_leave_local_paths_out(tmp_path: Path) -> None:
    _write(tmp_path / "etc/pip.conf", "[global]\ncert = /etc/ssl/x\nindex-url = https://a/simple\n")
    _write(
        tmp_path / "home/u/.config/pip/pip.conf",
        "[global]\nextra-index-url = file:///opt/x https://b/simple\n[install]\nretries = 9\n",
    )
    text = pip_settings(tmp_path, {"HOME": "/home/u"})
    assert text == (
        "[global]\nindex-url = https://a/simple\nextra-index-url = https://b/simple\n"
        "[install]\nretries = 9\n"
    )
    variables = gather(
        tmp_path, {"PIP_INDEX_URL": "https://c", "PIP_FIND_LINKS": "/opt/wheels"}
    ).variables
    assert variables["PIP_INDEX_URL"] == "https://c"
    assert "PIP_FIND_LINKS" not in variables


def test_npm_settings_keep_registries_and_proxies(tmp_path: Path) -> None:
    _write(
        tmp_path / "root/.npmrc",
        "registry=https://npm.corp/\ncafile=/etc/x\n//npm.corp/:_authToken=t\nfund=false\n",
    )
    text = npm_settings(tmp_path, {"HOME": "/root", "npm_config_https_proxy": "http://p:1"})
    assert text == "registry=https://npm.corp/\n//npm.corp/:_authToken=t\nhttps-proxy=http://p:1\n"
