"""Puts a repository at its base commit into an environment, without any trace of its future.

Nothing is deleted from a full repository: an empty one is made, and the base commit is fetched
into it, which brings what that commit reaches and nothing else. Then it is proven by
reachability: every object in the store must be reachable from the base commit, whatever refs,
logs, packs or stashes there were. Git of the image runs with no configuration but ours, before
any agent.
"""

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from uniclaw.errors import TaskRefused
from uniclaw.ports import Environment

TESTBED = "/testbed"
MATERIAL_DIR = "/tmp/uniclaw-swe"
MAX_FILES = 15_000
"""Tracked files; a freeze copies the working tree and the object store with it."""
ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2")
History = Literal["clean", "keep"]
_TIMEOUT_S = 600.0

_HEAD = """
set -eu
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_ATTR_NOSYSTEM=1
export GIT_NO_REPLACE_OBJECTS=1 GIT_TERMINAL_PROMPT=0 GIT_ALLOW_PROTOCOL=file LC_ALL=C
base=$1
refuse() { printf 'refused=%s\\n' "$1"; exit 3; }
command -v git >/dev/null || refuse 'the image has no git'
"""

_PREPARE = (
    _HEAD
    + """
history=$2 material=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
source=$scratch/source
find_in() {
  for place in "$1/.git" "$1" "$1"/*/.git "$1"/*; do
    if [ -f "$place/HEAD" ] && [ -d "$place/objects" ]; then printf '%s\\n' "$place"; return; fi
  done
}
case $material in
  -) [ -d .git ] && [ ! -L .git ] || refuse 'the image holds no repository there'
     mv .git "$source" ;;
  *.bundle) git clone -q --mirror "$material" "$source" || refuse 'not a readable bundle' ;;
  *.tar|*.tar.*|*.tgz)
     mkdir "$scratch/x"
     tar -xf "$material" -C "$scratch/x" --no-same-owner || refuse 'not a readable archive'
     source=$(find_in "$scratch/x") ;;
  *) source=$(find_in "$material") ;;
esac
[ -n "$source" ] || refuse 'there is no repository in it'
[ ! -e "$source/objects/info/alternates" ] || refuse 'its objects lie in another repository'
format=$(git config -f "$source/config" --get extensions.objectformat || echo sha1)
printf '[core]\\n\\trepositoryformatversion = 1\\n\\tbare = true\\n' > "$source/config"
printf '[extensions]\\n' >> "$source/config"
[ "$format" = sha1 ] || printf '\\tobjectformat = %s\\n' "$format" >> "$source/config"
printf '[uploadpack]\\n\\tallowAnySHA1InWant = true\\n' >> "$source/config"
git --git-dir="$source" cat-file -e "$base^{commit}" 2>/dev/null \\
  || refuse "the base commit $base does not exist in the repository"
if [ "$history" = clean ]; then
  git init -q --template= --initial-branch=main --object-format="$format" .
  git fetch -q --no-tags --no-write-fetch-head --no-auto-gc --update-shallow "$source" "$base" \\
    || refuse 'the base commit is not complete in the repository'
  git -c core.logAllRefUpdates=false update-ref refs/heads/main "$base"
else
  rm -f "$source/index"
  cp -a "$source" .git
  git config core.bare false
  git config --unset uploadpack.allowAnySHA1InWant || true
  git update-ref --no-deref HEAD "$base"
fi
git -c core.logAllRefUpdates=false reset -q --hard "$base"
git clean -ffdq
find . -mindepth 2 -name .git -prune -exec rm -rf {} +
git config user.name Developer
git config user.email developer@localhost
rm -f .git/ORIG_HEAD
printf 'files=%s\\n' "$(git ls-files | wc -l)"
printf 'prepared=%s\\n' "$(git rev-parse HEAD)"
"""
)

_PROVE = (
    _HEAD
    + """
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
leak() { printf 'leak=%s\\n' "$1"; }
[ -d .git ] && [ ! -L .git ] || refuse 'no repository'
[ "$(git rev-parse HEAD)" = "$base" ] || leak "HEAD is not the base commit"
git for-each-ref --format='%(objectname) %(refname)' > "$scratch/refs"
while read -r id name; do
  git merge-base --is-ancestor "$id" "$base" 2>/dev/null || leak "ref $name"
done < "$scratch/refs"
git rev-list --all --reflog --not "$base" | sed 's/^/leak=commit /;20q'
git rev-list --objects --no-object-names "$base" | LC_ALL=C sort -u > "$scratch/allowed"
git cat-file --batch-all-objects --unordered --batch-check='%(objectname)' \\
  | LC_ALL=C sort -u > "$scratch/present"
comm -13 "$scratch/allowed" "$scratch/present" > "$scratch/left"
while read -r id; do leak "object $(git cat-file -t "$id") $id"; done < "$scratch/left"
comm -23 "$scratch/allowed" "$scratch/present" | sed 's/^/leak=missing object /;5q'
find .git/logs -type f -size +0 2>/dev/null | sed 's/^/leak=reflog /'
for name in FETCH_HEAD ORIG_HEAD MERGE_HEAD CHERRY_PICK_HEAD objects/info/alternates \\
    worktrees modules lost-found info/grafts; do
  [ ! -e ".git/$name" ] || leak ".git/$name"
done
find .git/objects -name 'tmp_*' | sed 's/^/leak=/'
find . -mindepth 2 -name .git -prune | sed 's/^/leak=repository /'
printf 'proven=%s\\n' "$(wc -l < "$scratch/present")"
"""
)


@dataclass(frozen=True, kw_only=True)
class Repository:
    """Where a repository comes from, and which commit of it is wanted."""

    base_commit: str
    material: Path | None
    """A bundle, an archive or a directory on the host; None: the image holds it."""


def material_files(root: Path) -> Iterator[Path]:
    """What stands for a repository's bytes: the file, or the git directory's files."""
    if root.is_dir():
        inner = root / ".git" if (root / ".git").is_dir() else root
        yield from (p for p in sorted(inner.rglob("*")) if p.is_file() and not p.is_symlink())
    else:
        yield root


async def prepare_repository(
    environment: Environment,
    repository: Repository,
    *,
    history: History = "clean",
    workspace: str = TESTBED,
) -> int:
    """Put the repository at its base commit into the workspace; returns the number of objects.

    With `keep` the whole history stays, nothing is proven, and 0 is returned.

    Raises:
        TaskRefused: no such commit, no repository, or something of its future is left.
    """
    inside = "-"
    if repository.material is not None:
        inside = f"{MATERIAL_DIR}/{_inner_name(repository.material)}"
        source = repository.material
        if source.is_dir() and (source / ".git").is_dir():
            source = source / ".git"
        await environment.put({inside: source})
        inside = posixpath.relpath(inside, workspace)
    try:
        said = await _shell(
            environment, _PREPARE, [repository.base_commit, history, inside], workspace
        )
    finally:
        await environment.exec(
            ["rm", "-rf", posixpath.relpath(MATERIAL_DIR, workspace)], cwd=workspace
        )
    files = int(dict(said).get("files", "0"))
    if dict(said).get("prepared") != repository.base_commit:
        raise TaskRefused(f"the repository could not be set to {repository.base_commit}")
    if files > MAX_FILES:
        raise TaskRefused(f"the repository has {files} files; at most {MAX_FILES} are frozen")
    if history == "keep":
        return 0
    return await prove_history(environment, repository.base_commit, workspace=workspace)


async def prove_history(environment: Environment, base: str, *, workspace: str = TESTBED) -> int:
    """Prove that nothing outside the base commit's ancestry is there; returns the objects.

    Raises:
        TaskRefused: something is left, or it cannot be proven; says what.
    """
    said = await _shell(environment, _PROVE, [base], workspace)
    leaks = [value for key, value in said if key == "leak"]
    proven = dict(said).get("proven")
    if leaks or proven is None:
        shown = "; ".join(leaks[:5]) + (f"; and {len(leaks) - 5} more" if len(leaks) > 5 else "")
        raise TaskRefused(f"history after the base commit is left: {shown or 'not proven'}")
    return int(proven)


def _inner_name(material: Path) -> str:
    name = material.name.lower()
    if material.is_dir():
        return "repository"
    ending = next((e for e in (".bundle", *ARCHIVES) if name.endswith(e)), ".bundle")
    return f"repository{ending}"


async def _shell(
    environment: Environment, script: str, arguments: list[str], workspace: str
) -> list[tuple[str, str]]:
    """`key=value` lines that a script says.

    Raises:
        TaskRefused: it refused, failed or ran out of time.
    """
    result = await environment.exec(
        ["sh", "-s", "--", *arguments],
        stdin=script.encode(),
        cwd=workspace,
        timeout_s=_TIMEOUT_S,
    )
    lines = result.stdout.decode("utf-8", "replace").splitlines()
    said = [(key, value) for key, _, value in (line.partition("=") for line in lines)]
    refused = dict(said).get("refused")
    if refused is not None:
        raise TaskRefused(f"the repository: {refused}")
    if result.timed_out or result.exit_code != 0:
        told = result.stderr.decode("utf-8", "replace").strip()[-500:]
        how = "ran out of time" if result.timed_out else f"ended with {result.exit_code}"
        raise TaskRefused(f"preparing the repository {how}: {told}")
    return said
