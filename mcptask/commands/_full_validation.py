"""The whole of JSON Schema, by the `jsonschema` package, for schemas that use rare keywords.

Imported only then, inside a function. A `$ref` to another document is refused, never fetched.
"""

import re
from typing import Any

from mcptask.errors import UsageError
from mcptask.protocol.schemas import Schema

_LONGEST = 200  # characters of a message: it may repeat the whole value


def full_problem(value: Any, schema: Schema, label: str, way_out: str | None) -> str | None:
    """The most telling problem as one sentence, or None. UsageError when the schema is unusable."""
    import jsonschema
    from jsonschema.exceptions import SchemaError, best_match
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    kind = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)
    try:
        kind.check_schema(dict(schema))
        registry: Registry[Any] = Registry()  # knows no document and fetches none
        error = best_match(kind(schema, registry=registry).iter_errors(value))
    except Unresolvable as problem:
        reason = f"refers to {str(problem.ref)[:_LONGEST]!r}, which is not fetched"
    except (SchemaError, re.error, ValueError, TypeError, LookupError, ArithmeticError):
        reason = "is not valid"
    except RecursionError:
        reason = "goes round in circles, or the value is nested too deeply"
    else:
        if error is None:
            return None
        message = error.message
        if len(message) > _LONGEST:
            message = message[:_LONGEST] + "…"
        return f"{_place(label, error.absolute_path)}: {message}"
    raise UsageError(f"{label or 'the arguments'}: the schema {reason}", hint=way_out)


def _place(label: str, path: Any) -> str:
    place = label
    for part in path:
        place += f"[{part}]" if isinstance(part, int) else f".{part}" if place else str(part)
    return place
