"""What a build must have of this host: extra CA certificates, proxies, package-manager settings.

They reach a build as files on a memory file system and as variables of its commands only, so
nothing of them can stay in an image. Settings that name local files of the host are left out.
Must not know the engine.
"""

import configparser
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

MOUNT = "/mnt"
"""Where the files lie in a build; every Debian has that directory, so no mount point is left."""

_CA_DIR = Path("usr/local/share/ca-certificates")
_CA_BUNDLE = Path("etc/ssl/certs/ca-certificates.crt")
_CA_VARIABLES = (
    "SSL_CERT_FILE",
    "PIP_CERT",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "NODE_EXTRA_CA_CERTS",
    "npm_config_cafile",
)
_PROXIES = ("http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy")
_APT_KEPT = re.compile(
    r"Acquire::((https?|ftp)::(?!SslCert|SslKey|CaInfo|CaPath)|Retries|Check-Valid-Until|Check-Date)"
)
_NPM_KEPT = re.compile(r"(//|@[^:=]+:registry|registry|(https?-)?proxy|noproxy|strict-ssl)")
_SOURCE_LINE = re.compile(r"^deb(?:\s+\[[^\]]*\])?\s+(https?://\S+)\s+(\S+)", re.MULTILINE)

DEBIAN_SUITE = "bookworm"
DEBIAN_MIRROR = "http://deb.debian.org/debian"
DEBIAN_SECURITY = "http://deb.debian.org/debian-security"


@dataclass(frozen=True, kw_only=True)
class HostSettings:
    """Files for `MOUNT` and variables for every command of a build."""

    files: Mapping[str, bytes]
    variables: Mapping[str, str]
    mirror: str = DEBIAN_MIRROR


def debian_sources(mirror: str, security: str) -> str:
    """A one-line-style sources.list of our Debian suite."""
    suite = DEBIAN_SUITE
    return (
        f"deb {mirror} {suite} main\n"
        f"deb {mirror} {suite}-updates main\n"
        f"deb {security} {suite}-security main\n"
    )


def gather(root: Path = Path("/"), environ: Mapping[str, str] = os.environ) -> HostSettings:
    """Read the settings of the host under `root`."""
    files: dict[str, bytes] = {}
    variables = {key: value for key, value in environ.items() if key.lower() in _PROXIES and value}
    apt = list(_apt_settings(root))
    bundle = ca_bundle(root)
    if bundle:
        inside = f"{MOUNT}/ca-certificates.crt"
        files["ca-certificates.crt"] = bundle
        variables.update(dict.fromkeys(_CA_VARIABLES, inside))
        apt.append(f'Acquire::https::CaInfo "{inside}";')
    mirror, security = debian_mirrors(root)
    if (mirror, security) != (DEBIAN_MIRROR, DEBIAN_SECURITY):
        files["sources.list"] = debian_sources(mirror, security).encode()
        apt += [f'Dir::Etc::sourcelist "{MOUNT}/sources.list";', 'Dir::Etc::sourceparts "-";']
    files["apt.conf"] = "".join(f"{line}\n" for line in apt).encode()
    files["pip.conf"] = pip_settings(root, environ).encode()
    files["npmrc"] = npm_settings(root, environ).encode()
    variables |= {
        "APT_CONFIG": f"{MOUNT}/apt.conf",
        "PIP_CONFIG_FILE": f"{MOUNT}/pip.conf",
        "npm_config_userconfig": f"{MOUNT}/npmrc",
        "DEBIAN_FRONTEND": "noninteractive",
    }
    variables |= _pip_variables(environ)
    return HostSettings(files=files, variables=variables, mirror=mirror)


def ca_bundle(root: Path) -> bytes:
    """The host's bundle with its own certificates; empty when the host has none of its own."""
    own = sorted((root / _CA_DIR).rglob("*.crt")) if (root / _CA_DIR).is_dir() else []
    if not own:
        return b""
    parts = [p.read_bytes() for p in own]
    if (root / _CA_BUNDLE).is_file():
        parts.insert(0, (root / _CA_BUNDLE).read_bytes())
    return b"\n".join(part.strip() for part in parts) + b"\n"


def _is_local(value: str) -> bool:
    return value.startswith(("/", "file:", "~", "."))


def _without_local(value: str) -> str:
    return " ".join(part for part in value.split() if not _is_local(part))


def _apt_settings(root: Path) -> Iterator[str]:
    """Lines of the host's apt configuration about how to fetch; hooks stay on the host."""
    if root != Path("/") or shutil.which("apt-config") is None:
        return
    done = subprocess.run(["apt-config", "dump"], capture_output=True, check=False)
    for line in done.stdout.decode("utf-8", "replace").splitlines():
        name, _, value = line.partition(" ")
        if _APT_KEPT.match(name) and not _is_local(value.strip('";')):
            yield line


def debian_mirrors(root: Path) -> tuple[str, str]:
    """The host's mirrors of our Debian suite and of its security updates, or the public ones."""
    found: dict[str, str] = {}
    directory = root / "etc/apt"
    for path in (directory / "sources.list", *sorted(directory.glob("sources.list.d/*"))):
        if path.suffix not in {".list", ".sources"} or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        for uri, suite in _sources(text, one_line=path.suffix == ".list"):
            found.setdefault(suite, uri.rstrip("/"))
    return (
        found.get(DEBIAN_SUITE, DEBIAN_MIRROR),
        found.get(f"{DEBIAN_SUITE}-security", DEBIAN_SECURITY),
    )


def _sources(text: str, *, one_line: bool) -> Iterator[tuple[str, str]]:
    if one_line:
        yield from ((m.group(1), m.group(2)) for m in _SOURCE_LINE.finditer(text))
        return
    for stanza in re.split(r"\n\s*\n", text):
        fields = dict(re.findall(r"^(\w[\w-]*):[ \t]*(.*)$", stanza, re.MULTILINE))
        uris = [u for u in fields.get("URIs", "").split() if u.startswith(("http:", "https:"))]
        for suite in fields.get("Suites", "").split() if uris else ():
            yield uris[0], suite


def _pip_files(root: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    yield root / "etc/xdg/pip/pip.conf"
    yield root / "etc/pip.conf"
    home = root / environ.get("HOME", "root").lstrip("/")
    yield home / ".pip/pip.conf"
    yield home / ".config/pip/pip.conf"
    if environ.get("PIP_CONFIG_FILE"):
        yield Path(environ["PIP_CONFIG_FILE"])


def pip_settings(root: Path, environ: Mapping[str, str]) -> str:
    """The host's pip configuration, later files first, without what names its own files."""
    merged: dict[str, dict[str, str]] = {}
    for path in _pip_files(root, environ):
        parser = configparser.RawConfigParser()
        try:
            parser.read(path, encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError):
            continue
        for section in parser.sections():
            for key, value in parser.items(section):
                merged.setdefault(section, {})[key] = _without_local(value)
    lines: list[str] = []
    for section, values in merged.items():
        kept = [f"{key} = {value}" for key, value in values.items() if value]
        lines += [f"[{section}]", *kept] if kept else []
    return "".join(f"{line}\n" for line in lines)


def _pip_variables(environ: Mapping[str, str]) -> dict[str, str]:
    kept: dict[str, str] = {}
    for key, value in environ.items():
        if key.startswith("PIP_") and key not in {"PIP_CONFIG_FILE", "PIP_CERT"}:
            rest = _without_local(value)
            if rest:
                kept[key] = rest
    return kept


def npm_settings(root: Path, environ: Mapping[str, str]) -> str:
    """The host's npm settings about where and how to fetch."""
    lines: list[str] = []
    home = root / environ.get("HOME", "root").lstrip("/")
    for path in (root / "etc/npmrc", home / ".npmrc"):
        if path.is_file():
            lines += path.read_text(encoding="utf-8", errors="replace").splitlines()
    for key, value in environ.items():
        if key.lower().startswith("npm_config_"):
            lines.append(f"{key[len('npm_config_') :].lower().replace('_', '-')}={value}")
    kept = [line.strip() for line in lines if _NPM_KEPT.match(line.strip())]
    return "".join(f"{line}\n" for line in kept if not _is_local(line.partition("=")[2].strip()))
