"""How much a server may send: on the command line and in the config."""

from pathlib import Path

import pytest

from mcptask.commands import _quantities
from mcptask.errors import ConfigError, UsageError
from mcptask.servers import bounds, config


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("65536", 65536),
        ("64K", 65536),
        (" 64m ", 64 * 1024**2),
        ("64MB", 64 * 1024**2),
        ("64MiB", 64 * 1024**2),
        ("4G", 4 * 1024**3),
        ("63K", None),
        ("5G", None),
        ("0", None),
        ("-1", None),
        ("1.5M", None),
        ("M", None),
        ("64T", None),
        ("٦٤M", None),
        ("9" * 5000, None),
        (True, None),
    ],
)
def test_a_size_is_bytes_within_its_bounds_s18(text: object, found: int | None) -> None:
    assert bounds.size(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [("1", 1), (" 20000 ", 20000), (1_000_000, 1_000_000), ("1000001", None), ("0", None)]
    + [(other, None) for other in ("-1", "1e3", "x", "", True, 1.5, "9" * 5000)],
)
def test_a_count_is_a_number_within_its_bounds_s18(text: object, found: int | None) -> None:
    assert bounds.count(text) == found


def test_on_the_command_line_what_cannot_be_used_says_what_can() -> None:
    assert (_quantities.size("64M"), _quantities.count("7")) == (64 * 1024**2, 7)
    with pytest.raises(UsageError, match="'1' is not a size") as size:
        _quantities.size("1")
    with pytest.raises(UsageError, match="'0' is not a number") as count:
        _quantities.count("0")
    assert bounds.SIZES in str(size.value.hint)
    assert bounds.COUNTS in str(count.value.hint)


def test_the_config_says_it_for_one_server(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[servers.one]\nurl = "https://x"\nmax_message = "64M"\nmax_tools = 20\n')
    one = config.read(file).servers["one"]
    assert (one.max_message, one.max_tools) == (64 * 1024**2, 20)


@pytest.mark.parametrize(
    ("line", "said"), [("max_message = 1", bounds.SIZES), ("max_tools = true", bounds.COUNTS)]
)
def test_a_bound_that_cannot_be_used_is_refused_with_its_place(
    tmp_path: Path, line: str, said: str
) -> None:
    file = tmp_path / "config.toml"
    file.write_text(f'[servers.one]\nurl = "https://x"\n{line}\n')
    with pytest.raises(ConfigError, match=r"servers\.one") as refused:
        config.read(file)
    assert said in refused.value.message
