"""A catalogue walk: its end is proven, its checkpoint contiguous, and it resumes right after a kill at any instant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.walk import Seen, Verdict, VerdictKind, Walk, WalkParams, page_fingerprint, resume_point
from storebot.items import WalkState

NUMBERED = WalkParams(template="https://shop.example/list?page={page}", product_url="/p/")
LINKED = WalkParams(template="https://shop.example/list", next="a.next::attr(href)", product_url="/p/")

Page = Callable[[int], Seen]


def page(number: int, *keys: str, status: int = 200, final_url: str = "", next_url: str | None = None) -> Seen:
    return Seen(
        number=number, url=NUMBERED.url(number), final_url=final_url, status=status, keys=keys, next_url=next_url
    )


def full(number: int) -> Seen:
    return page(number, f"p{number}a", f"p{number}b")


def shop_of(size: int, beyond: Page, special: Mapping[int, Page] | None = None) -> Page:
    """Return a catalogue: ``size`` full pages, then what the shop shows beyond them; some pages are special."""

    def show(number: int) -> Seen:
        own = (special or {}).get(number)
        return own(number) if own else full(number) if number <= size else beyond(number)

    return show


def missing(number: int) -> Seen:
    return page(number, status=404)


def empty(number: int) -> Seen:
    return page(number)


def front_page(number: int) -> Seen:
    return page(number, "p1a", "p1b", final_url="https://shop.example/list?page=1")


def home(number: int) -> Seen:
    return page(number, "featured", final_url="https://shop.example/")


def clamped_to(last: int) -> Page:
    return lambda number: page(number, f"p{last}b", f"p{last}a")


def blocked(number: int) -> Seen:
    return Seen(number=number, url=NUMBERED.url(number), status=200, blocked=True)


def failed(number: int) -> Seen:
    return Seen(number=number, url=NUMBERED.url(number), status=0, failed=True)


def first_time(*looks: Page) -> Page:
    """Return a page that shows one thing at each look; the last of them from then on."""
    left = list(looks)
    return lambda number: (left.pop(0) if len(left) > 1 else left[0])(number)


@dataclass
class Log:
    """What a walk asked for and decided."""

    fetched: list[int] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)

    def numbers(self, kind: VerdictKind) -> list[int]:
        return [verdict.number for verdict in self.verdicts if verdict.kind is kind]

    @property
    def committed(self) -> list[int]:
        return self.numbers(VerdictKind.COMMIT)


def drive(
    walk: Walk, show: Page, window: int = 3, kill_after: int = 10_000, pick: Callable[[int], int] | None = None
) -> Log:
    """Walk a shop as a spider does: ``pick`` says which of the pages under way arrives next."""
    log, under_way = Log(), list[int]()
    while len(log.fetched) - len(under_way) < kill_after:
        asked = walk.to_fetch(window)
        log.fetched += asked
        under_way += asked
        if not under_way:
            break
        number = under_way.pop(pick(len(under_way)) if pick else 0)
        log.verdicts += walk.receive(show(number))
    assert walk.done or kill_after < 10_000, "the walk waits for nothing"
    return log


@pytest.mark.parametrize("window", [1, 4, 16])
@pytest.mark.parametrize(
    ("beyond", "reason"),
    [
        (missing, "page 6 answers 404"),
        (empty, "page 6 is empty"),
        (clamped_to(5), "page 6 repeats page 5"),
        (front_page, "page 6 redirects to page 1"),
        (home, "page 6 redirects to https://shop.example/"),
    ],
)
def test_each_way_past_the_end_is_recognised_and_named(beyond: Page, reason: str, window: int) -> None:
    walk = Walk(NUMBERED)
    log = drive(walk, shop_of(5, beyond), window)
    assert (walk.state, walk.reason) == (WalkState.ENDED, reason)
    assert log.committed == [1, 2, 3, 4, 5]
    assert walk.checkpoint == 5
    assert log.verdicts[-1] == (VerdictKind.ENDED, 6, reason, None)


def test_last_page_again_and_again_ends_the_walk_after_three_real_pages() -> None:
    """Case P01: ?page=4, 5 … show the last page again, with 200."""
    walk = Walk(NUMBERED)
    assert drive(walk, shop_of(3, clamped_to(3))).committed == [1, 2, 3]
    assert walk.state is WalkState.ENDED


@pytest.mark.parametrize("window", [1, 4])
def test_page_that_is_empty_once_is_looked_at_again_and_committed(window: int) -> None:
    """Case P05: page 40 is empty by a fault of a cache, and full at the second look."""
    walk = Walk(NUMBERED)
    log = drive(walk, shop_of(41, missing, {40: first_time(empty, full)}), window)
    assert log.committed == list(range(1, 42))
    assert walk.state is WalkState.ENDED
    assert log.fetched.count(40) == 2
    assert 40 in log.numbers(VerdictKind.LOOK_AGAIN)


@pytest.mark.parametrize(
    ("hole", "what"), [(empty, "is empty"), (missing, "answers 404"), (front_page, "redirects to page 1")]
)
def test_page_that_stays_barren_between_full_pages_makes_the_walk_incomplete(hole: Page, what: str) -> None:
    """Case P05: the rest of the catalogue is saved all the same, and the checkpoint stays before the hole."""
    walk = Walk(NUMBERED)
    log = drive(walk, shop_of(6, missing, {4: hole}))
    assert log.committed == [1, 2, 3]
    assert log.numbers(VerdictKind.HOLD) == [4, 5, 6]
    assert (walk.state, walk.reason) == (WalkState.INCOMPLETE, f"page 4 {what} between full pages")
    assert walk.checkpoint == 3


@pytest.mark.parametrize(
    ("first", "reason"),
    [
        (empty, "the first page has no products: check [catalogue] url / product_url"),
        (missing, "the first page answers 404: check [catalogue] url / product_url"),
        (lambda number: page(number, status=400), "the first page answers HTTP 400: check [catalogue] url"),
    ],
)
def test_walk_that_found_nothing_is_no_success(first: Page, reason: str) -> None:
    walk = Walk(NUMBERED)
    log = drive(walk, shop_of(0, missing, {1: first}))
    assert (walk.state, walk.reason) == (WalkState.INCOMPLETE, reason)
    assert log.committed == []


def test_platform_page_cap_is_no_end() -> None:
    """Case P07: Shopify answers 400 beyond 25,000 products."""
    walk = Walk(NUMBERED)
    log = drive(walk, shop_of(7, lambda number: page(number, status=400)))
    assert log.committed == [1, 2, 3, 4, 5, 6, 7]
    assert (walk.state, walk.reason) == (WalkState.INCOMPLETE, "page 8 answers HTTP 400: the platform's page cap?")


@pytest.mark.parametrize("status", [401, 403, 429, 503])
def test_refusal_that_no_one_flagged_is_no_end_either(status: int) -> None:
    walk = Walk(NUMBERED)
    drive(walk, shop_of(3, lambda number: page(number, status=status)))
    assert walk.state is WalkState.INCOMPLETE
    assert "resumes there" in walk.reason
    assert walk.checkpoint == 3


def test_redirect_that_was_not_followed_is_no_end() -> None:
    walk = Walk(NUMBERED)
    drive(walk, shop_of(3, lambda number: page(number, status=302)))
    assert (walk.state, walk.checkpoint) == (WalkState.INCOMPLETE, 3)


@pytest.mark.parametrize(("bad", "word"), [(blocked, "blocked"), (failed, "failed")])
def test_page_that_can_not_be_read_stops_the_checkpoint_but_later_rows_are_saved(bad: Page, word: str) -> None:
    walk = Walk(NUMBERED)
    show = shop_of(20, missing, {7: bad})
    assert walk.to_fetch(7) == [1, 2, 3, 4, 5, 6, 7]
    for number in range(1, 7):
        walk.receive(show(number))
    assert walk.to_fetch(4) == [8, 9, 10]
    assert walk.receive(show(9)) == []
    verdicts = walk.receive(show(7))
    assert [(verdict.kind, verdict.number) for verdict in verdicts] == [
        (VerdictKind.HOLD, 9),
        (VerdictKind.INCOMPLETE, 7),
    ]
    assert walk.reason == f"page 7 {word}; resumes there"
    assert [(late.kind, late.number) for late in walk.receive(show(8))] == [(VerdictKind.HOLD, 8)]
    assert walk.receive(missing(10)) == []
    assert (walk.checkpoint, walk.to_fetch(4)) == (6, [])


@pytest.mark.parametrize("bad", [blocked, failed])
def test_blocked_page_never_proves_an_end(bad: Page) -> None:
    for special in ({6: first_time(empty, bad)}, {6: empty, 7: bad}):
        walk = Walk(NUMBERED)
        drive(walk, shop_of(5, empty, special))
        assert walk.state is WalkState.INCOMPLETE
        assert walk.checkpoint == 5


def test_short_page_is_not_the_end() -> None:
    """Case P08: the server gives 50 a page where 250 were asked for; the walk goes by what comes back."""
    walk = Walk(NUMBERED)
    short = {number: lambda number: page(number, f"only-{number}") for number in (2, 3, 9)}
    assert drive(walk, shop_of(16, empty, short)).committed == list(range(1, 17))
    assert walk.state is WalkState.ENDED


@pytest.mark.parametrize(("total", "asked"), [(6, 3), (7, 5), (None, 5), (0, 5)])
def test_walk_that_has_all_products_that_the_shop_declares_asks_for_no_more(total: int | None, asked: int) -> None:
    walk = Walk(NUMBERED)
    log = drive(walk, lambda number: replace(shop_of(3, empty)(number), total=total), window=1)
    assert walk.state is WalkState.ENDED
    assert (walk.reason == "all 6 products that the shop declares") is (asked == 3)
    assert max(log.fetched) == asked


def test_walk_that_resumes_has_not_seen_all_and_proves_its_end() -> None:
    walk = Walk(NUMBERED, resume_after=2)
    drive(walk, lambda number: replace(shop_of(3, empty)(number), total=6), window=1)
    assert walk.reason == "page 4 is empty"


def test_page_of_known_products_is_not_empty() -> None:
    """Case P10: the end is judged by the raw keys; the walk isn't even told which of them are new."""
    walk = Walk(NUMBERED, fingerprints={1: page_fingerprint(full(1).keys), 2: page_fingerprint(full(2).keys)})
    assert drive(walk, shop_of(3, missing)).committed == [1, 2, 3]


def test_product_that_moved_to_the_next_page_marks_the_walk_as_shifted_and_changes_nothing_else() -> None:
    """Case P06 (insertion): 81 is seen twice. (Deletion leaves no trace on the pages: delisting deals with it.)"""
    walk = Walk(NUMBERED)
    moved = {1: lambda number: page(number, "90", "81"), 2: lambda number: page(number, "81", "72")}
    assert drive(walk, shop_of(3, missing, moved)).committed == [1, 2, 3]
    assert (walk.state, walk.shifted) == (WalkState.ENDED, 1)


def test_endless_catalogue_stops_at_max_pages_as_incomplete() -> None:
    params = WalkParams(template=NUMBERED.template, max_pages=4)
    walk = Walk(params)
    assert drive(walk, shop_of(100, missing)).committed == [1, 2, 3, 4]
    assert (walk.state, walk.reason) == (WalkState.INCOMPLETE, "max_pages reached: 4 pages, and no end in sight")
    resumed = Walk(params, resume_after=9)
    assert (resumed.done, resumed.to_fetch(3)) == (True, [])


def test_first_page_may_redirect_to_its_plain_address() -> None:
    """WooCommerce sends /page/1/ to the bare list, and later pages there when they are past the end."""
    bare = "https://shop.example/list/"
    special = {1: lambda number: page(number, "p1a", "p1b", final_url=bare)}
    walk = Walk(NUMBERED)
    log = drive(walk, shop_of(3, lambda number: page(number, "p1a", "p1b", final_url=bare), special))
    assert log.committed == [1, 2, 3]
    assert walk.reason == "page 4 redirects to page 1"


def test_shop_that_spells_its_pages_in_another_way_is_walked_to_its_end() -> None:
    def spelled(number: int) -> Seen:
        return page(number, f"p{number}", final_url=f"https://shop.example/list/seite-{number}")

    walk = Walk(NUMBERED)
    log = drive(walk, shop_of(5, missing, dict.fromkeys(range(1, 6), spelled)))
    assert log.committed == [1, 2, 3, 4, 5]
    assert walk.reason == "page 6 answers 404"


def test_redirect_that_only_spells_the_address_in_another_way_is_none() -> None:
    def respelled(number: int) -> Seen:
        return page(number, f"p{number}", final_url=f"http://www.shop.example/list?page={number}&utm_source=x#top")

    walk = Walk(NUMBERED)
    assert drive(walk, shop_of(2, missing, {2: respelled})).committed == [1, 2]


def test_no_page_far_beyond_an_empty_one_is_asked_for() -> None:
    walk = Walk(NUMBERED)
    assert walk.to_fetch(4) == [1, 2, 3, 4]
    walk.receive(missing(3))
    walk.receive(full(1))
    assert walk.to_fetch(16) == []


def test_page_nobody_asked_for_changes_nothing() -> None:
    walk = Walk(NUMBERED)
    assert walk.receive(full(1)) == []
    walk.to_fetch(1)
    assert [verdict.kind for verdict in walk.receive(full(1))] == [VerdictKind.COMMIT]
    assert walk.receive(full(1)) == []


def test_verdict_brings_the_page_back() -> None:
    walk = Walk(NUMBERED)
    walk.to_fetch(2)
    walk.receive(full(2))
    assert [verdict.seen for verdict in walk.receive(full(1))] == [full(1), full(2)]


def linked(*pages: Seen) -> Page:
    return lambda number: pages[number - 1]


def link(number: int, to: str | None, *keys: str) -> Seen:
    url = LINKED.template if number == 1 else f"https://shop.example/list?page={number}"
    return Seen(number=number, url=url, keys=keys or (f"p{number}",), next_url=to)


@pytest.mark.parametrize("back", ["?page=3", "?page=2", "", "?page=2&utm_source=pager#top"])
def test_next_link_to_a_visited_page_ends_the_walk(back: str) -> None:
    """Case P02: the last page's next link names itself, the page before, or the first."""
    list_ = "https://shop.example/list"
    walk = Walk(LINKED)
    log = drive(walk, linked(link(1, f"{list_}?page=2"), link(2, f"{list_}?page=3"), link(3, f"{list_}{back}")))
    assert log.fetched == log.committed == [1, 2, 3]
    assert (walk.state, walk.reason) == (WalkState.ENDED, "next link repeats")


def test_walk_by_next_links_is_sequential_and_ends_where_there_is_none() -> None:
    walk = Walk(LINKED)
    assert walk.to_fetch(16) == [1]
    assert walk.url(1) == LINKED.template
    walk.receive(link(1, "https://shop.example/list?after=x"))
    assert walk.to_fetch(16) == [2]
    assert walk.url(2) == "https://shop.example/list?after=x"
    walk.receive(link(2, None))
    assert (walk.state, walk.reason, walk.checkpoint) == (WalkState.ENDED, "no next link", 2)


def test_next_link_that_lost_the_filter_is_a_scope_escape() -> None:
    """Case P04: ?cat=5&days=3&page=10 links on to ?page=11, the whole shop."""
    walk = Walk(WalkParams(template="https://shop.example/l?cat=5&days=3&page=1", next="a.next"))
    follow = ["https://shop.example/l?days=3&cat=5&page=2", "https://shop.example/l?page=3"]
    log = drive(walk, lambda number: link(number, follow[number - 1]))
    assert log.committed == [1, 2]
    assert walk.state is WalkState.INCOMPLETE
    assert walk.reason == "scope escape: the next link https://shop.example/l?page=3 lost cat, days"


def test_empty_last_page_of_a_walk_by_next_links_ends_it_after_a_second_look() -> None:
    walk = Walk(LINKED)
    last = Seen(number=2, url="https://shop.example/list?page=2")
    log = drive(walk, linked(link(1, last.url), last))
    assert log.fetched == [1, 2, 2]
    assert (walk.state, walk.reason) == (WalkState.ENDED, "page 2 is empty")


def test_empty_page_with_a_next_link_is_a_hole() -> None:
    hole = Seen(number=2, url="https://shop.example/list?page=2", next_url="https://shop.example/list?page=3")
    walk = Walk(LINKED)
    log = drive(walk, linked(link(1, hole.url), hole, link(3, None)))
    assert log.committed == [1]
    assert log.numbers(VerdictKind.HOLD) == [2, 3]
    assert (walk.state, walk.reason) == (WalkState.INCOMPLETE, "page 2 is empty between full pages")


def test_walk_by_next_links_resumes_at_the_stored_link_or_starts_over() -> None:
    walk = Walk(LINKED, resume_after=6, resume_url="https://shop.example/list?page=7")
    assert (walk.to_fetch(1), walk.url(7), walk.checkpoint) == ([7], "https://shop.example/list?page=7", 6)
    assert Walk(LINKED, resume_after=6).to_fetch(1) == [1]


def test_single_page_is_a_walk_too() -> None:
    walk = Walk(WalkParams(template="https://shop.example/all"))
    assert drive(walk, full).committed == [1]
    assert (walk.state, walk.reason) == (WalkState.ENDED, "single page")


def test_resume_steps_back_one_page_and_fetches_none_below() -> None:
    stored = {number: page_fingerprint(full(number).keys) for number in range(1, 21)}
    walk = Walk(NUMBERED, resume_after=20, fingerprints=stored)
    log = drive(walk, shop_of(25, missing))
    assert min(log.fetched) == 20
    assert log.committed == [20, 21, 22, 23, 24, 25]
    assert walk.state is WalkState.ENDED


def test_pages_pushed_back_between_two_sessions_are_no_end() -> None:
    """Three pages' worth of new products: pages 20, 21 … show what 17, 18 … showed, and the rest comes after."""
    stored = {number: page_fingerprint(full(number).keys) for number in range(1, 21)}

    def pushed(number: int) -> Seen:
        return page(number, *full(number - 3).keys) if number <= 28 else missing(number)

    walk = Walk(NUMBERED, resume_after=20, fingerprints=stored)
    assert drive(walk, pushed).committed == list(range(20, 29))
    assert walk.reason == "page 29 answers 404"


def test_repeat_of_a_page_of_an_earlier_session_is_recognised() -> None:
    stored = {number: page_fingerprint(full(number).keys) for number in range(1, 6)}

    def first_again(number: int) -> Seen:
        return page(number, *full(1).keys)

    walk = Walk(NUMBERED, resume_after=5, fingerprints=stored)
    assert drive(walk, shop_of(6, first_again)).committed == [5, 6]
    assert walk.reason == "page 7 repeats page 1"


def test_checkpoint_of_other_parameters_is_refused_with_a_message() -> None:
    """Case M08: page 20 at 24 a page isn't page 20 at 48."""
    old = WalkParams(template="https://shop.example/list?per_page=24&page={page}", product_url="/p/")
    new = WalkParams(template="https://shop.example/list?per_page=48&page={page}", product_url="/p/")
    assert resume_point(old, 20, old.params_fingerprint()) == (20, "")
    after, message = resume_point(new, 20, old.params_fingerprint())
    assert after == 0
    assert "page 20 was made with other parameters" in message
    assert "starts again from page 1" in message
    assert resume_point(new, 0, "") == (0, "")


@pytest.mark.parametrize("change", [{"first": 0}, {"next": "a.n"}, {"product_url": "/q/"}, {"links": ("a.card",)}])
def test_each_parameter_that_gives_pages_their_meaning_is_in_the_fingerprint(change: dict[str, object]) -> None:
    changed = WalkParams(**({"template": NUMBERED.template, "product_url": "/p/"} | change))  # type: ignore[arg-type]
    assert changed.params_fingerprint() != NUMBERED.params_fingerprint()


def test_other_host_or_page_limit_leaves_a_checkpoint_valid() -> None:
    moved = WalkParams(template="http://127.0.0.1:8000/list?page={page}", product_url="/p/", max_pages=7)
    assert moved.params_fingerprint() == NUMBERED.params_fingerprint()


@given(st.lists(st.from_regex(r"https://[a-z/?=]{1,9}", fullmatch=True)), st.randoms())
def test_fingerprint_of_a_page_does_not_know_order_or_repeats(keys: list[str], random: Random) -> None:
    shuffled = [*keys, *keys[:1]]
    random.shuffle(shuffled)
    assert page_fingerprint(shuffled) == page_fingerprint(keys)
    assert page_fingerprint([*keys, "https://another"]) != page_fingerprint(keys)


ENDINGS = st.sampled_from(["missing", "empty", "front_page", "home", "clamp"])


def beyond(ending: str, size: int) -> Page:
    return {"missing": missing, "empty": empty, "front_page": front_page, "home": home, "clamp": clamped_to(size)}[
        ending
    ]


@given(size=st.integers(1, 25), window=st.integers(1, 9), ending=ENDINGS, data=st.data())
def test_any_catalogue_is_committed_once_in_order_and_ends_once(
    size: int, window: int, ending: str, data: st.DataObject
) -> None:
    walk = Walk(NUMBERED)
    log = drive(walk, shop_of(size, beyond(ending, size)), window, pick=lambda n: data.draw(st.integers(0, n - 1)))
    assert log.committed == list(range(1, size + 1))
    assert log.numbers(VerdictKind.ENDED) == [size + 1]
    assert walk.state is WalkState.ENDED
    assert max(log.fetched) <= size + window + 1
    assert [log.fetched.count(number) for number in range(1, size + 1)] == [1] * size


@given(
    size=st.integers(1, 15),
    window=st.integers(1, 6),
    ending=ENDINGS,
    kills=st.lists(st.integers(1, 30), max_size=4),
    data=st.data(),
)
def test_walk_killed_at_any_instant_and_resumed_commits_everything_and_fetches_nothing_twice_below_its_checkpoint(
    size: int, window: int, ending: str, kills: list[int], data: st.DataObject
) -> None:
    shop = shop_of(size, beyond(ending, size))
    saved: dict[int, str] = {}  # what the database holds: committed pages and their fingerprints
    for kill_after in [*kills, 10_000]:
        checkpoint = max(saved, default=0)
        walk = Walk(NUMBERED, resume_after=checkpoint, fingerprints=saved)
        log = drive(walk, shop, window, kill_after, pick=lambda n: data.draw(st.integers(0, n - 1)))
        assert min(log.fetched, default=checkpoint) >= checkpoint
        assert log.committed == list(range(max(1, checkpoint), max(1, checkpoint) + len(log.committed)))
        saved |= {
            v.number: page_fingerprint(v.seen.keys) for v in log.verdicts if v.kind is VerdictKind.COMMIT and v.seen
        }
    assert sorted(saved) == list(range(1, size + 1))
    assert walk.state is WalkState.ENDED
