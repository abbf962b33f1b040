"""Reports of tasks and calls → the `Answer` of a command, in both formats."""

import re
from collections.abc import Sequence
from dataclasses import replace

from mcptask.commands._answer import Answer
from mcptask.commands._job import Job
from mcptask.errors import ExitCode, McptaskError
from mcptask.protocol.outcome import Outcome, outcome_of_error
from mcptask.render.human import error_lines, open_requests, opening_lines, question_lines
from mcptask.render.jsonout import document
from mcptask.render.questions import task_name, to_type
from mcptask.render.report import Report, ServerInfo, Subject
from mcptask.render.results import result_text
from mcptask.render.text import clean
from mcptask.servers.endpoint import Endpoint

# What a shell takes for one word, such as a server's id; and what stands between two commands of a hint.
_WORD_OR_BREAK = re.compile(r"""\$'(?:\\.|[^'\\])*'|'[^']*'|"[^"]*"|(; (?=[a-z ]+: mcptask ))""")


def answer_of(
    job: Job, report: Report, *, remarks: Sequence[str] = (), text: str | None = None
) -> Answer:
    """One task or call. `text` takes the place of the result on stdout."""
    return Answer(
        exit_code=report.outcome.exit_code,
        body=lambda: document(report),
        text=result_of(job, report.outcome) if text is None else text,
        remarks=tuple(remarks),
        errors=(*reasons(job, [report]), *problem_lines(job, report)),
        lines=job.reporter.printed if job.reporter else 0,
    )


def reasons(job: Job, reports: Sequence[Report]) -> list[str]:
    """The warnings that --quiet held back, where a question is left open: they say why nothing answered it,
    and belong to the error."""
    left = any(report.outcome.exit_code == ExitCode.INPUT_REQUIRED for report in reports)
    if not (left and job.options.quiet):
        return []
    told = (text for report in reports for text in report.warnings)
    return [f"warning: {clean(text)}" for text in dict.fromkeys(told)]


def server_info(endpoint: Endpoint, version: str | None = None) -> ServerInfo:
    """What the document says of the server."""
    return ServerInfo(endpoint.server, endpoint.address, version, endpoint.name)


def result_of(job: Job, outcome: Outcome) -> str:
    """The result as text for stdout; empty where there is none."""
    if outcome.result is None:
        return ""
    return result_text(outcome.result, terminal=job.env.stdout.isatty())


def name_of(report: Report) -> str:
    """What people call the task of a report."""
    task = report.outcome.task
    return task_name(report.ref, report.task_id or (task.task_id if task else "?"))


def to_type_for(*reports: Report) -> str:
    """What follows the name of a command about these tasks."""
    where = next((report.where for report in reports if report.where), "")
    return to_type([name_of(report) for report in reports], where)


def problem_lines(job: Job, report: Report, about: str = "") -> list[str]:
    """What a person reads on stderr about an outcome that is not plain success. `about` goes before what
    went wrong: of several tasks, which one it is.
    """
    outcome = report.outcome
    problem, task = outcome.error, outcome.task
    if problem is None or outcome.exit_code == ExitCode.OK:
        return []
    colour = job.env.colour(job.env.stderr)
    if outcome.name == "tool_error":
        # Its own text is the result on stdout.
        text = f"{about}{report.tool or 'the tool'} ended with an error of its own"
        return [f"error: {clean(text)}"]
    server = report.server.label if report.server else "the server"
    task_id = task.task_id if task else ""
    known = (report.answered, report.where)
    subject = Subject(report.tool, server, report.ref, task_id, 0.0, *known)
    if outcome.name == "interrupted":
        return parting_lines(problem.message, problem.hint)
    lines = error_lines(replace(problem, message=about + problem.message), colour=colour)
    if outcome.name == "input_required" and task is None:
        return lines[:1] + opening_lines(server, open_requests(problem)) + lines[1:]
    if outcome.name == "input_required":
        told = job.reporter is not None and job.reporter.stays
        asked = [] if told else question_lines(subject, open_requests(problem))
        return [lines[0], *asked, *lines[1:]]
    return lines


def parting_lines(message: str, hint: str | None) -> list[str]:
    """Nothing went wrong: what goes on, and the commands to come back, each on a line of its own."""
    commands = _WORD_OR_BREAK.sub(lambda found: "\n" if found[1] else found[0], hint or "")
    listed = [f"  {clean(line)}" for line in commands.split("\n") if line]
    return [f"{clean(message)}.", *listed]


def error_answer(error: McptaskError, warnings: tuple[str, ...] = ()) -> Answer:
    """An error before there was anything to report on."""
    report = Report(outcome=outcome_of_error(error), warnings=warnings)
    problem = report.outcome.error
    return Answer(
        exit_code=error.exit_code,
        body=lambda: document(report),
        errors=tuple(error_lines(problem)) if problem else (),
    )
