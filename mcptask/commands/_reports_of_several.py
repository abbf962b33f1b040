"""The reports of several tasks → one `Answer`: each result under its task's name, like troubles told once."""

from collections import Counter
from collections.abc import Iterator, Sequence

from mcptask.commands._answer import Answer
from mcptask.commands._job import Job
from mcptask.commands._reports import name_of, problem_lines, reasons, result_of
from mcptask.commands._words import RESUMABLE
from mcptask.commands.following.leaving import all_of, goodbye_lines, in_short, left_running
from mcptask.errors import ExitCode
from mcptask.protocol.outcome import Outcome, Problem, exit_code_of_many
from mcptask.render.human import error_lines
from mcptask.render.jsonout import documents
from mcptask.render.report import Report
from mcptask.render.style import look
from mcptask.render.text import clean

ALIKE = 3  # tasks with the same trouble on one server that are each told of
IN_SIGHT = 10  # tasks whose ends a person has in sight; those of more are counted


def answer_of_all(job: Job, reports: Sequence[Report], decided: Outcome | None = None) -> Answer:
    """`decided` is the outcome that ended the following of the others: its exit code is that of all."""
    code = _exit_code(reports, decided)
    return Answer(
        exit_code=code,
        body=lambda: documents(reports, code),
        results=tuple(_results(job, reports)),
        errors=(*goodbye_lines(reports), *reasons(job, reports), *_problems(job, reports)),
        remarks=(*_left(reports), *_counted(reports)),
        lines=job.reporter.printed if job.reporter else 0,
    )


def _exit_code(reports: Sequence[Report], decided: Outcome | None) -> ExitCode:
    codes = [report.outcome.exit_code for report in reports]
    signal = [r.outcome.exit_code for r in reports if r.outcome.name == "interrupted"]
    if signal:
        return signal[0]
    return decided.exit_code if decided else exit_code_of_many(codes)


def _results(job: Job, reports: Sequence[Report]) -> Iterator[tuple[str, str]]:
    for report in reports:
        if text := result_of(job, report.outcome):
            what = report.tool or "task"
            where = f" on {report.server.label}" if report.server else ""
            word = look(report.outcome.name).word
            yield clean(f"── {name_of(report)} {what}{where}: {word}"), text


def _problems(job: Job, reports: Sequence[Report]) -> list[str]:
    """What each has to say but goodbye, unless many say the same: then the first one speaks for all."""
    alike: dict[object, list[Report]] = {}
    for report in reports:
        if report.outcome.name != "interrupted":
            alike.setdefault(_trouble(report), []).append(report)
    lines: list[str] = []
    for several in alike.values():
        each = several if len(several) <= ALIKE else several[:1]
        for report in each:
            lines += problem_lines(job, report, f"task {name_of(report)}: ")
        if len(each) < len(several) and lines:
            lines += _the_same(job, several[1:])
    return lines


def _trouble(report: Report) -> object:
    """What two reports have in common whose tasks are in the same trouble."""
    outcome = report.outcome
    own = {
        "failed": outcome.error.message if outcome.error else "",
        "tool_error": report.tool,
        "input_required": name_of(report),  # each question is for a person to read
    }
    server = report.server.label if report.server else None
    return outcome.ok, outcome.name, server, own.get(outcome.name)


def _the_same(job: Job, reports: Sequence[Report]) -> list[str]:
    server = f" on {reports[0].server.label}" if reports[0].server else ""
    again = reports[0].outcome.name in RESUMABLE
    problem = Problem(
        kind="",
        message=f"the same of {len(reports)} more{server}: {in_short(list(map(name_of, reports)))}",
        hint=f"all of them: mcptask watch {all_of(reports)}" if again else None,
    )
    return error_lines(problem, colour=job.env.colour(job.env.stderr))


def _left(reports: Sequence[Report]) -> list[str]:
    """Of a watch that ended before all its tasks did."""
    left = [r for r in reports if r.outcome.ok and r.outcome.name != "completed"]
    return [left_running(left)] if left else []


def _counted(reports: Sequence[Report]) -> list[str]:
    counts = Counter(look(report.outcome.name).word for report in reports)
    if len(reports) <= IN_SIGHT or {r.outcome.name for r in reports} == {"interrupted"}:
        return []
    ends = " · ".join(f"{count} {word}" for word, count in counts.most_common())
    return [f"{len(reports)} tasks: {ends}"]
