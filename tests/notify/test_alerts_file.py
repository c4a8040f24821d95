"""The alerts file: what it says reaches the rules, and what is wrong is said with its key."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

import pytest

from storebot.core.alerts.alerting import Rules
from storebot.core.alerts.digest import Terms, Watch
from storebot.core.alerts.finding import Kind
from storebot.core.alerts.moves import Event
from storebot.exceptions import StoreFileError
from storebot.notify.alerts_file import AlertsFile, read_alerts_file
from storebot.stores.keys import keys_of

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "commands.md"

ALL = """
time_zone = "Europe/Berlin"
[operator]
repeat = "12h"
settle = "0s"
quiet = "22:00-07:00"
urgent = ["disk", "silent"]
failures = 1
disk_free = "500MB"
[business]
every = "1d"
cool_down = "0s"
quiet = "20:00-08:00"
[[watch]]
name = "Tools"
events = ["price_drop", "new"]
stores = ["acme"]
brands = ["BOSCH"]
percent = 2.5
below = "99.00"
currency = "EUR"
[[watch]]
name = "Rest"
"""


def written(folder: Path, text: str) -> str:
    path = folder / "alerts.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_what_it_says_reaches_the_rules(tmp_path: Path) -> None:
    """Nought is a number, not a gap (case G03)."""
    file = read_alerts_file(written(tmp_path, ALL))
    assert (file.rules.repeat_ms, file.rules.settle_ms) == (43_200_000, 0)
    assert file.rules.urgent == {Kind.DISK, Kind.SILENT}
    assert str(file.rules.quiet and file.rules.quiet.zone) == "Europe/Berlin"
    assert (file.limits.failures, file.limits.disk_free_bytes) == (1, 500_000_000)
    assert (file.terms.every_ms, file.terms.cool_down_ms) == (86_400_000, 0)
    tools = Watch(
        name="Tools",
        events=frozenset({Event.PRICE_DROP, Event.NEW}),
        stores=frozenset({"acme"}),
        brands=frozenset({"bosch"}),
        percent=Decimal("2.5"),
        below=Decimal("99.00"),
        currency="EUR",
    )
    assert file.terms.watches == (tools, Watch(name="Rest"))


def test_without_a_file_or_a_word_all_is_as_the_rules_have_it() -> None:
    assert read_alerts_file("") == AlertsFile()
    assert (AlertsFile().rules.repeat_ms, AlertsFile().rules.settle_ms) == (Rules().repeat_ms, Rules().settle_ms)
    assert (AlertsFile().terms.every_ms, AlertsFile().terms.watches) == (Terms().every_ms, Terms().watches)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            'time_zone = "Europe/Berln"',
            "got \"Europe/Berln\" (did you mean 'Europe/Berlin'?)",
        ),
        ("[operator]\nquite = '22:00-07:00'", "operator.quite: unknown key (did you mean 'operator.quiet'?)"),
        ("[operator]\nquiet = '22-7'", "operator.quiet: expected times such as 22:00-07:00, got '22-7'"),
        (
            "[operator]\nquiet = 12:30:00",
            'operator.quiet: expected times such as "22:00-07:00", got the date or time 12:30:00',
        ),
        ("[operator]\nurgent = ['disks']", "(did you mean 'disk'?)"),
        ("[operator]\nfailures = 0", "operator.failures: expected a number of at least 1, got the number 0"),
        ("[[watch]]\nevents = ['new']", "watch[0].name: is missing: expected what the digest is called"),
        ("[[watch]]\nname = 'a'\n[[watch]]\nname = 'a'", 'watch: expected each item once, got "a" twice'),
        ("[[watch]]\nname = 'a'\nbelow = '9'", "watch.below: below and currency need each other"),
        (
            "[[watch]]\nname = 'a'\npercent = '10'",
            'watch[0].percent: expected a number of per cent such as 10 or 2.5, got the text "10"',
        ),
        ("[[watch]]\nname = 'a'\nstores = [true]", "put it in quotes"),
        ("a = ", "expected TOML"),
    ],
)
def test_what_is_wrong_is_said_with_its_key_and_what_was_expected(tmp_path: Path, text: str, said: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(StoreFileError) as error:
        read_alerts_file(path)
    assert said in str(error.value)
    assert str(error.value).startswith(path)


def test_the_documentation_has_all_keys_and_a_file_that_is_valid(tmp_path: Path) -> None:
    text = DOCUMENT.read_text(encoding="utf-8").partition("\n## alerts\n")[2].partition("\n## ")[0]
    (example,) = re.findall(r"^```toml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert read_alerts_file(written(tmp_path, example)).terms.watches[0].brands == {"bosch", "makita"}
    documented = {line.split("|")[1].strip(" *`[]"): line for line in text.splitlines() if line.startswith("| ")}
    for key in keys_of(AlertsFile):
        assert key.description in documented[key.name]
        if key.default not in ("", "none", "required"):
            assert f"| `{key.default}` |" in documented[key.name]
    assert {f"`{event}`" for event in Event} <= set(re.findall(r"`\w+`", text.rpartition("Events: ")[2]))
    assert {kind.value for kind in Kind} <= documented.keys()


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreFileError, match=r"none\.toml: can't be read: No such file"):
        read_alerts_file(str(tmp_path / "none.toml"))
