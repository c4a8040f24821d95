"""The command behind each kind of job, and what a job may ask for."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from storebot.core.job_kinds import check_job, command
from storebot.exceptions import ConfigurationError


@pytest.mark.parametrize(
    ("kind", "store", "args", "words"),
    [
        ("refresh", "acme", {"budget": "500"}, "crawl refresh -a store=acme -a budget=500"),
        (
            "backfill",
            "acme",
            {"base_url": "http://x/?a=b=c"},
            "crawl backfill -a store=acme -a base_url=http://x/?a=b=c",
        ),
        ("reparse", "acme", {"announce": "", "workers": "2"}, "reparse --store=acme --announce --workers=2"),
        ("prune", "acme", {}, "archive prune --store=acme"),
        ("coverage", "acme", {}, "coverage --store=acme"),
        ("export", "acme", {"format": "csv,xlsx"}, "export --store=acme --tell --format=csv,xlsx"),
        (
            "export",
            "acme",
            {"filter": "price<20\nbrand=A", "no-tell": ""},
            "export --store=acme --tell --filter=price<20 --filter=brand=A --no-tell",
        ),
        ("deliver", "acme", {}, "deliver run"),
        ("deliver", "", {}, "deliver run"),
        ("stage", "acme", {}, "stage all --store=acme"),
        ("stage", "", {}, "stage all"),
    ],
)
def test_a_job_is_a_command(kind: str, store: str, args: Mapping[str, str], words: str) -> None:
    check_job(kind, store, args)
    assert " ".join(command(kind, store, args)) == words


@pytest.mark.parametrize(
    ("kind", "store", "args", "why"),
    [
        ("refesh", "acme", {}, "no kind of job 'refesh'"),
        ("refresh", "", {}, "needs a store"),
        ("refresh", "acme", {"budgte": "5"}, "no argument 'budgte': it takes base_url, budget, force, plan"),
        ("prune", "acme", {"days": "5"}, "it takes none"),
        ("export", "acme", {"out": "sftp://ann:hunter2@files.example/shops"}, "out has a password"),
    ],
)
def test_what_no_job_can_be_is_refused(kind: str, store: str, args: Mapping[str, str], why: str) -> None:
    with pytest.raises(ConfigurationError, match=why) as caught:
        check_job(kind, store, args)
    assert "hunter2" not in str(caught.value)
