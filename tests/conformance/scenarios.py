"""What is demanded of each scenario of the official suite, and why others are left out.

The judge holds the suite's own list against these tables: a scenario that is in none of them is a failure.
"""

from dataclasses import dataclass

REVISION = "2026-07-28"


@dataclass(frozen=True)
class Scenario:
    """`passed` checks pass, the checks named in `skipped` are skipped, and there are no others.

    `note` says why none passes; without it none is a failure.
    """

    passed: int
    skipped: frozenset[str] = frozenset()
    revision: str | None = REVISION
    note: str = ""


def _extension(passed: int, skipped: frozenset[str] = frozenset(), note: str = "") -> Scenario:
    """Asked to run one at a revision, the suite does not run it, and ends with 0."""
    return Scenario(passed, skipped, revision=None, note=note)


NEVER_DECLARED = frozenset({"ClientDeclaresRootsCapability", "ClientDeclaresSamplingCapability"})
NEVER_SENT = frozenset(
    f"ClientMcp{header}Header_{method}"
    for header, methods in {
        "Method": (
            *("initialize", "notifications_initialized"),
            *("resources_list", "resources_read", "prompts_list", "prompts_get"),
        ),
        "Name": ("resources_read", "prompts_get"),
    }.items()
    for method in methods
)

CLIENT = {
    "tools_call": Scenario(2),
    "request-metadata": Scenario(6, NEVER_DECLARED),
    "http-standard-headers": Scenario(3, NEVER_SENT),
    "http-custom-headers": Scenario(18),
    "http-invalid-tool-headers": Scenario(12),
    "sep-2322-client-request-state": Scenario(5),
    "json-schema-ref-no-deref": Scenario(1),
    "json-schema-2020-12-preservation": Scenario(9),
}

LISTS_CHANGE = frozenset(
    f"ServerSends{kind}ListChangedOnSubscription" for kind in ("Prompts", "Tools")
)

SERVER = {
    "tasks-lifecycle": _extension(9),
    "tasks-capability-negotiation": _extension(5),
    "tasks-wire-fields": _extension(4),
    "tasks-request-state-removal": _extension(3),
    "tasks-mrtr-input": _extension(4),
    "tasks-request-headers": _extension(5),
    "tasks-dispatch-and-envelope": _extension(9),
    "tasks-status-notifications": _extension(
        0,
        frozenset({"TasksStatusNotificationsScenario"}),
        note="a placeholder in this release: it asks the server nothing; tests/demo/test_listen.py does",
    ),
    "tasks-required-task-error": _extension(3),
    "tasks-mrtr-composition": _extension(2),
    # The two about changes of a list are for servers that declare them.
    "server-stateless": Scenario(28, LISTS_CHANGE),
    "http-header-validation": Scenario(14),
    "http-custom-header-server-validation": Scenario(10),
    "server-sse-multiple-streams": Scenario(1),
    "dns-rebinding-protection": Scenario(2),
    # Four of them are about lists that the demo has not: fixture_lists.py stands in.
    "caching": Scenario(8),
    "tools-list": Scenario(4),
    "tools-call-simple-text": Scenario(2),
    "tools-call-image": Scenario(2),
    "tools-call-audio": Scenario(2),
    "tools-call-embedded-resource": Scenario(2),
    "tools-call-mixed-content": Scenario(2),
    "tools-call-error": Scenario(2),
    "json-schema-2020-12": Scenario(8),
    "input-required-result-basic-elicitation": Scenario(3),
    "input-required-result-basic-sampling": Scenario(3),
    "input-required-result-basic-list-roots": Scenario(3),
    "input-required-result-request-state": Scenario(3),
    "input-required-result-multiple-input-requests": Scenario(3),
    "input-required-result-multi-round": Scenario(4),
    "input-required-result-missing-input-response": Scenario(2),
    "input-required-result-result-type": Scenario(2),
    "input-required-result-unsupported-methods": Scenario(2),
    "input-required-result-tampered-state": Scenario(2),
    "input-required-result-capability-check": Scenario(2),
    "input-required-result-ignore-extra-params": Scenario(2),
    "input-required-result-validate-input": Scenario(3),
}

# Shell patterns.
LEFT_OUT = {
    "auth/*": "mcptask sends the token that it is given, and gets none from an authorization server",
    "authorization-*": "nothing here is an authorization server",
    "sep-2640-*": "the extension for skills is not spoken here",
    "resources-*": "the demo server has tools alone",
    "sep-2164-resource-not-found": "the demo server has tools alone",
    "prompts-*": "the demo server has tools alone",
    "input-required-result-non-tool-request": "the demo server has tools alone",
    "completion-complete": "the demo server has tools alone",
    "tools-call-with-progress": "the demo server tells progress by the status message of a task",
}
