"""Staged solution scripts: steps, here-documents and messages."""

from pathlib import Path

from uniclaw.harnesses.events import ends_in_question
from uniclaw.harnesses.solution import parse_solution, read_solution


def test_steps_are_separated_and_comments_alone_are_no_step() -> None:
    solution = parse_solution("# head\n#--- one\necho a\necho b\n#---\n# nothing\n#---\necho c\n")
    assert solution.steps == ("echo a\necho b", "echo c")
    assert solution.message == ""


def test_message_lines_are_joined_and_leave_the_steps() -> None:
    solution = parse_solution("echo a\n#: All done.\n#:\n#: See results/x.\n")
    assert solution.steps == ("echo a",)
    assert solution.message == "All done.\n\nSee results/x."


def test_markers_inside_a_here_document_are_its_content() -> None:
    script = (
        "cat > x <<'END'\n#--- not a step\n#: not a message\nEND\n#---\ncat <<-E\n\t#: no\n\tE\n"
    )
    solution = parse_solution(script)
    assert solution.steps[0] == "cat > x <<'END'\n#--- not a step\n#: not a message\nEND"
    assert solution.steps[1] == "cat <<-E\n\t#: no\n\tE"
    assert solution.message == ""


def test_a_round_without_a_script_is_none(tmp_path: Path) -> None:
    assert read_solution(tmp_path, 3) is None


def test_question_marks_of_either_width_end_a_question() -> None:
    assert ends_in_question("Which year do you mean?")
    assert ends_in_question("做好了。\n请问是哪一年？\n\n")
    assert ends_in_question('Should I "merge" them?**')
    assert not ends_in_question("Is it so? I think yes.")
    assert not ends_in_question("")
