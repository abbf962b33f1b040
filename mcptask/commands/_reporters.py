"""Which reporter shows a followed task, by what the user asked for and where stderr goes."""

from mcptask.commands._options import Options
from mcptask.env import Env
from mcptask.render.report import Reporter


def make_reporter(env: Env, options: Options, *, several: bool = False) -> Reporter:
    """Live for a person, lines for a log, JSON lines for a program, nothing with --quiet."""
    if options.jsonl:
        from mcptask.render.jsonlines import JsonLinesReporter

        return JsonLinesReporter(env.stdout, env.clock, env.stderr)
    if env.live and not options.quiet:
        from mcptask.render.live import LiveReporter

        return LiveReporter(env)
    from mcptask.render.lines import LineReporter

    return LineReporter(
        env.stderr,
        env.clock,
        quiet=options.quiet,
        several=several,
        colour=env.colour(env.stderr),
        errors_follow=options.format == "text",  # in the document they are for programs
    )
