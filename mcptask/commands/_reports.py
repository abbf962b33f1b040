"""Reports of tasks and calls → the `Answer` of a command, in both formats."""

from collections.abc import Sequence
from dataclasses import replace

from mcptask.commands._answer import Answer
from mcptask.commands._job import Job
from mcptask.errors import ExitCode, McptaskError
from mcptask.protocol.outcome import Outcome, Problem, exit_code_of_many, outcome_of_error
from mcptask.render.human import error_lines, open_requests, opening_lines, question_lines
from mcptask.render.jsonout import document, documents
from mcptask.render.report import Report, ServerInfo, Subject
from mcptask.render.results import result_text
from mcptask.render.text import clean
from mcptask.servers.endpoint import Endpoint


def answer_of(
    job: Job, report: Report, *, remarks: Sequence[str] = (), text: str | None = None
) -> Answer:
    """One task or call. `text` takes the place of the result on stdout."""
    return Answer(
        exit_code=report.outcome.exit_code,
        body=lambda: document(report),
        text=result_of(job, report.outcome) if text is None else text,
        remarks=tuple(remarks),
        errors=tuple(problem_lines(job, report)),
        lines=job.reporter.printed if job.reporter else 0,
    )


def answer_of_all(job: Job, reports: Sequence[Report]) -> Answer:
    """Several tasks: each result under the name of its task."""
    code = exit_code_of_many(r.outcome.exit_code for r in reports)
    if any(r.outcome.name == "interrupted" for r in reports):
        code = next(r.outcome.exit_code for r in reports if r.outcome.name == "interrupted")
    return Answer(
        exit_code=code,
        body=lambda: documents(reports, code),
        text="".join(_titled(job, report) for report in reports),
        errors=tuple(line for report in reports for line in problem_lines(job, _named(report))),
        lines=job.reporter.printed if job.reporter else 0,
    )


def server_info(endpoint: Endpoint, version: str | None = None) -> ServerInfo:
    """What the document says of the server."""
    return ServerInfo(endpoint.server, endpoint.address, version, endpoint.name)


def result_of(job: Job, outcome: Outcome) -> str:
    """The result as text for stdout; empty where there is none."""
    if outcome.result is None:
        return ""
    return result_text(outcome.result, terminal=job.env.stdout.isatty())


def problem_lines(job: Job, report: Report) -> list[str]:
    """What a person reads on stderr about an outcome that is not plain success."""
    outcome = report.outcome
    problem, task = outcome.error, outcome.task
    if problem is None or outcome.exit_code == ExitCode.OK:
        return []
    colour = job.env.colour(job.env.stderr)
    if outcome.name == "tool_error":
        # Its own text is the result on stdout.
        return [f"error: {report.tool or 'the tool'} ended with an error of its own"]
    server = report.server.label if report.server else "the server"
    subject = Subject(report.tool, server, report.ref, task.task_id if task else "", 0.0)
    if outcome.name == "interrupted":
        return _goodbye(problem)
    lines = error_lines(problem, colour=colour)
    if outcome.name == "input_required" and task is None:
        return lines[:1] + opening_lines(server, open_requests(problem)) + lines[1:]
    if outcome.name == "input_required":
        told = job.reporter is not None and job.reporter.stays
        return lines[:1] if told else lines[:1] + question_lines(subject, open_requests(problem))
    return lines


def _goodbye(problem: Problem) -> list[str]:
    """Nothing went wrong: what goes on, and the commands to come back, each on a line of its own."""
    commands = (problem.hint or "").split("; ")
    return [f"{clean(problem.message)}."] + [f"  {clean(line)}" for line in commands if line]


def _named(report: Report) -> Report:
    """One of several tasks: its error says which."""
    outcome = report.outcome
    if outcome.error is None:
        return report
    name = report.ref or (outcome.task.task_id if outcome.task else "?")
    error = replace(outcome.error, message=f"task {name}: {outcome.error.message}")
    return replace(report, outcome=replace(outcome, error=error))


def _titled(job: Job, report: Report) -> str:
    text = result_of(job, report.outcome)
    return f"== {report.ref} {report.tool or ''} ==\n{text}" if text else ""


def error_answer(error: McptaskError, warnings: tuple[str, ...] = ()) -> Answer:
    """An error before there was anything to report on."""
    report = Report(outcome=outcome_of_error(error), warnings=warnings)
    problem = report.outcome.error
    return Answer(
        exit_code=error.exit_code,
        body=lambda: document(report),
        errors=tuple(error_lines(problem)) if problem else (),
    )
