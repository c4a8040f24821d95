"""The shop's clock: moves it on, and says exactly what changed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from storebot.demo.goods import Offer, Product, decimal_text
from storebot.demo.shop import Shop
from storebot.demo.words import EDITIONS
from storebot.exceptions import ConfigurationError

# what a change is when nobody asked for a kind
_KINDS = ("price", "stock", "title")
_KIND_WEIGHTS = (70, 20, 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One move of the clock. ``price``, ``stock`` and ``title`` are counts; what they leave of ``changed`` is mixed."""

    changed: int | None = None  # None: the sum of the three counts
    price: int = 0
    stock: int = 0
    title: int = 0
    vanished: int = 0
    vanished_status: int = 404
    appeared: int = 0
    hours: float = 24.0
    ids: Sequence[int] = ()  # exactly these products change, vanished ones last, instead of some at random
    seed: int | str | None = None  # another choice of products for the same tick


class Change(NamedTuple):
    """What the clock did to one product: the ground truth of a test."""

    kind: str  # price | stock | title | vanished | appeared
    id: int
    path: str
    sku: str  # of the variant, where one variant changed
    field: str  # price | availability | name; "" where the product came or went
    before: str
    after: str


def advance(shop: Shop, step: Step) -> list[Change]:
    """Move the clock and change exactly as many distinct products as asked, each in exactly one field.

    Of a product with variants exactly one variant changes, and never its name, so that one change is one listing's.
    Raises ConfigurationError where there aren't as many products; nothing has moved then.
    """
    rng = random.Random(f"{shop.options.seed}:tick:{shop.tick + 1}:{step.seed}")
    kinds = _kinds(rng, step)
    if step.vanished_status not in (404, 410):
        raise ConfigurationError(f"vanished_status is {step.vanished_status}: a product that is gone says 404 or 410")
    if step.hours <= 0 or step.vanished < 0 or step.appeared < 0:
        raise ConfigurationError("the clock moves forward: give hours above 0, and counts of 0 or more")
    chosen = _named(shop, step, len(kinds)) if step.ids else _choose(rng, shop, kinds, step.vanished)
    kinds = _fitting(kinds, chosen, step.title)
    shop.tick += 1
    shop.now_s += max(1, round(step.hours * 3_600))
    changes = [_change(rng, shop, product, kind) for product, kind in zip(chosen, kinds, strict=False)]
    changes += [_vanish(shop, product, step.vanished_status) for product in chosen[len(kinds) :]]
    return changes + [_appear(shop) for _ in range(step.appeared)]


def _kinds(rng: random.Random, step: Step) -> list[str]:
    named = {"price": step.price, "stock": step.stock, "title": step.title}
    asked = [kind for kind, count in named.items() for _ in range(count)]
    changed = len(asked) if step.changed is None else step.changed
    if min(changed, *named.values()) < 0 or changed < len(asked):
        raise ConfigurationError(f"changed is {changed}, but price + stock + title is {len(asked)}: ask for fewer")
    mixed = rng.choices(_KINDS, _KIND_WEIGHTS, k=changed - len(asked))
    return sorted(asked + mixed, reverse=True)  # titles first: they need products without variants


def _choose(rng: random.Random, shop: Shop, kinds: list[str], vanished: int) -> list[Product]:
    count = len(kinds) + vanished
    if count > len(shop.live):
        raise ConfigurationError(f"{count} products are to change or vanish, but the shop sells {len(shop.live)}")
    chosen: list[Product] = []
    waiting: list[Product] = []  # have variants, and so can't take a title
    for product_id in rng.sample(shop.live, len(shop.live) if "title" in kinds else count):
        if len(chosen) == count:
            break
        product = shop.product(product_id)
        if product is None:
            continue
        kind = kinds[len(chosen)] if len(chosen) < len(kinds) else "vanished"
        (waiting if kind == "title" and product.has_variants else chosen).append(product)
    return chosen + waiting[: count - len(chosen)]


def _named(shop: Shop, step: Step, changed: int) -> list[Product]:
    named = [product for product_id in dict.fromkeys(step.ids) if (product := shop.product(product_id)) is not None]
    if not len(named) == len(step.ids) == changed + step.vanished:
        raise ConfigurationError(
            f"{len(step.ids)} ids are given, {len(named)} of them of different products on sale, and "
            f"{changed + step.vanished} are to change or vanish: name as many"
        )
    return named


def _fitting(kinds: list[str], chosen: list[Product], titles: int) -> list[str]:
    """Turn titles that fell on a product with variants into prices, unless they were asked for by count."""
    pairs = zip(kinds, chosen, strict=False)
    fitting = ["price" if kind == "title" and product.has_variants else kind for kind, product in pairs]
    if fitting.count("title") < titles:
        raise ConfigurationError(f"{titles} titles are to change, but not as many products are without variants")
    return fitting


def _change(rng: random.Random, shop: Shop, product: Product, kind: str) -> Change:
    if kind == "title":
        return _retitle(rng, shop, product)
    place = rng.randrange(len(product.offers))
    offer = product.offers[place]
    fresh = _reprice(rng, offer) if kind == "price" else _restock(rng, offer)
    offers = (*product.offers[:place], fresh, *product.offers[place + 1 :])
    shop.put(replace(product, offers=offers, modified_s=shop.now_s))
    if kind == "stock":
        return Change(kind, product.id, product.path, offer.sku, "availability", offer.availability, fresh.availability)
    before, after = (decimal_text(o.price_minor, shop.options.currency) for o in (offer, fresh))
    return Change(kind, product.id, product.path, offer.sku, "price", before, after)


def _reprice(rng: random.Random, offer: Offer) -> Offer:
    """Move a price by 2 to 15 %: never so far that a gate for wrong prices has a reason to stop it."""
    moved = max(1, offer.price_minor * rng.randrange(2, 16) // 100)
    rises = offer.price_minor < 200 or rng.random() < 0.5
    return replace(offer, price_minor=offer.price_minor + (moved if rises else -moved))


def _restock(rng: random.Random, offer: Offer) -> Offer:
    others = [name for name in ("InStock", "OutOfStock", "BackOrder") if name != offer.availability]
    return replace(offer, availability=rng.choice(others))


def _retitle(rng: random.Random, shop: Shop, product: Product) -> Change:
    original = shop.opening(product.id).name
    names = [f"{original} \N{EN DASH} {edition}" for edition in EDITIONS]
    name = rng.choice([name for name in names if name != product.name])
    shop.put(replace(product, name=name, modified_s=shop.now_s))
    return Change("title", product.id, product.path, product.sku, "name", product.name, name)


def _vanish(shop: Shop, product: Product, status: int) -> Change:
    shop.remove(product.id, status)
    return Change("vanished", product.id, product.path, product.sku, "", "200", str(status))


def _appear(shop: Shop) -> Change:
    shop.last_id += 1
    shop.live.append(shop.last_id)
    fresh = replace(shop.opening(shop.last_id), modified_s=shop.now_s)
    shop.put(fresh)
    return Change("appeared", fresh.id, fresh.path, fresh.sku, "", "", "200")
