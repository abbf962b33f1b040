"""The headers that carry credentials. Made at each call, so that a rotated token is seen.

No message here holds the value of a header or a variable.
"""

from collections.abc import Iterable, Mapping

from mcptask.errors import ConfigError, UsageError
from mcptask.protocol.transports.headers import checked_value, is_token, reserved
from mcptask.servers.endpoint import Endpoint
from mcptask.servers.expansion import expand, is_variable_name

AUTHORIZATION = "Authorization"


def credentials(endpoint: Endpoint, environ: Mapping[str, str]) -> dict[str, str]:
    """The headers to send with one request; {} for stdio.

    Raises ConfigError for a `${VAR}` that is not set, UsageError for a token variable that is not
    set or empty, and for a value that no header can carry.
    """
    if not endpoint.is_http:
        return {}
    headers = {
        name: checked_value(name, expand(value, environ, f"the header {name} of {endpoint.name}"))
        for name, value in endpoint.headers.items()
    }
    if endpoint.bearer_env is None:
        return headers
    headers = without(headers, [AUTHORIZATION])
    token = _token(endpoint.bearer_env, environ)
    headers[AUTHORIZATION] = checked_value(AUTHORIZATION, f"Bearer {token}")
    return headers


def _token(variable: str, environ: Mapping[str, str]) -> str:
    value = environ.get(variable)
    token = (value or "").strip()
    if not token:
        state = "not set" if value is None else "empty"
        raise UsageError(
            f"the variable {variable}, which should hold the bearer token, is {state}",
            hint=f"export {variable}=… and try again",
        )
    return token


def check_variable(name: str) -> str:
    """`--bearer-env` takes a name. A token given instead must not come back in a message."""
    if not is_variable_name(name):
        raise UsageError(
            "--bearer-env takes the name of an environment variable, not the token itself",
            hint="export TOKEN=… and give --bearer-env TOKEN",
        )
    return name


def parse_headers(given: Iterable[str]) -> dict[str, str]:
    """`Name: value` texts of `--header` → name → value. Raises UsageError; see `check_header`."""
    headers: dict[str, str] = {}
    for text in given:
        name, colon, value = text.partition(":")
        name = name.strip()
        if not colon or not is_token(name):
            raise UsageError("--header takes 'Name: value'", hint="-H 'X-Studio: north'")
        check_name(name, "--header")
        if name.lower() in (known.lower() for known in headers):
            raise UsageError(f"--header {name} is given twice")
        headers[name] = checked_value(name, value)
    return headers


def check_name(name: str, where: str, error: type[UsageError] = UsageError) -> None:
    """Refuses a name that is none, or that mcptask sets itself."""
    if not is_token(name):
        raise error(f"{where}: {name[:60]!r} is not the name of a header")
    if reserved(name):
        raise error(f"{where}: {name} is set by mcptask itself and cannot be given")


def check_config_headers(headers: Mapping[str, str], where: str) -> None:
    for name in headers:
        check_name(name, where, ConfigError)
    if len({name.lower() for name in headers}) < len(headers):
        raise ConfigError(f"{where}: a header is there twice, in capitals and not")


def without(headers: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """`headers` less those named, whatever the case."""
    dropped = {name.lower() for name in names}
    return {name: value for name, value in headers.items() if name.lower() not in dropped}
