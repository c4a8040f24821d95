"""schema.org products, whichever syntax they came in: from nodes (nested mappings) to records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from storebot.core.parsing.offers import (
    MAX_OFFERS,
    Node,
    choose,
    code_of,
    gtin_of,
    has_amount,
    identify,
    options_of,
    read_offers,
)
from storebot.core.parsing.values import Clean, Values, many, text_of
from storebot.items import VARIANTS, Problem

PRODUCT_TYPES = frozenset(
    {
        "Product",
        "ProductGroup",
        "ProductModel",
        "IndividualProduct",
        "SomeProducts",
        "Vehicle",
        "Car",
        "Motorcycle",
    }
)
SELLABLE_TYPES = frozenset({"Book", "Movie", "MusicAlbum", "MusicRelease", "VideoGame", "SoftwareApplication", "Game"})
"""Types of works, which are products only where they carry offers."""

MAX_DEPTH = 12
MAX_NODES = 20_000
MAX_IMAGES = 50
MAX_VARIANTS = 2000
MAX_READ = 5000
"""Variants, and offers, of all products of a page: thousands of variants may refer to one list of a thousand offers."""
MAX_REFERENCES = 10_000
"""References by ``@id`` that are followed on one page."""
_MAX_CATEGORIES = 50


@dataclass(slots=True)
class Candidate:
    """A product node of a page, and whether the page calls it its main entity."""

    node: Node
    is_main: bool = False


@dataclass(slots=True)
class Found:
    """What one source says of the page's product: a full record for each listing (one, unless it has variants).

    ``sources`` names the source of single fields where it isn't ``source`` (a selector for each field).
    """

    source: str
    records: list[Values] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)
    conflicts: dict[str, dict[str, str]] = field(default_factory=dict)
    failure: str = ""  # a sentence: the source broke, so that what the others say mustn't be believed alone


@dataclass(slots=True)
class Graph:
    """The nodes of a page that matter: products, breadcrumbs, and everything that can be referred to by ``@id``.

    It counts what is read, for nodes that refer to each other can be many more than there are bytes; ``problems`` say
    what was left out.
    """

    products: list[Candidate] = field(default_factory=list)
    breadcrumbs: list[Node] = field(default_factory=list)
    by_id: dict[str, Node] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    _references: int = 0
    _read: dict[str, int] = field(default_factory=dict)
    _offers: dict[int, list[Values]] = field(default_factory=dict)

    def resolve(self, node: Node) -> Node:
        """Return what a node refers to by ``@id``; itself where it is no mere reference."""
        identity = node.get("@id")
        if len(node) > 2 or not isinstance(identity, str) or self._references >= MAX_REFERENCES:
            return node
        self._references += 1
        return self.by_id.get(identity, node)

    def may_read(self, kind: str, count: int, most: int) -> bool:
        """Count one more of a kind, the ``count``-th of its product; False, with a problem, where it's too many."""
        read = self._read[kind] = self._read.get(kind, 0) + 1
        if count <= most and read <= MAX_READ:
            return True
        reason = f"the page gives more than {most if count > most else MAX_READ} {kind}: the others are unknown"
        if not any(problem.reason == reason for problem in self.problems):
            self.problems.append(Problem(VARIANTS, reason))
        return False

    def offers_of(self, node: Node, clean: Clean) -> list[Values]:
        """Read the offers of a node, an object that several nodes refer to once only."""
        found: list[Values] = []
        for item in many(_resolved(node.get("offers"), self)):
            if not isinstance(item, dict):
                continue
            if id(item) not in self._offers:
                self._offers[id(item)] = read_offers(item, clean)
            for record in self._offers[id(item)]:
                if not self.may_read("offers", len(found) + 1, MAX_OFFERS):
                    return found
                if record not in found[-50:]:
                    found.append(record)
        return found


def types_of(node: Node) -> set[str]:
    """Return the names of a node's types, without the vocabulary's URL or prefix."""
    names = node.get("@type")
    if isinstance(names, str) and names.isalpha():
        return {names}
    return {
        name.rstrip("/").rpartition("/")[2].rpartition("#")[2].rpartition(":")[2]
        for name in many(names)
        if isinstance(name, str)
    }


def is_product(node: Node) -> bool:
    types = types_of(node)
    return bool(types & PRODUCT_TYPES) or (bool(types & SELLABLE_TYPES) and bool(node.get("offers")))


def survey(blocks: Sequence[Any]) -> Graph:
    """Find the products that a page speaks of itself: in lists, ``@graph`` and main entities.

    Products inside of other products (related, accessories, reviews of others) and in an ItemList are not candidates.
    Looks at no more than `MAX_NODES` nodes, `MAX_DEPTH` deep.
    """
    graph = Graph()
    main_ids: set[str] = set()
    budget = MAX_NODES
    stack: list[tuple[Any, int, bool]] = [(block, 0, False) for block in reversed(blocks)]
    while stack and budget:
        value, depth, main = stack.pop()
        budget -= 1
        if isinstance(value, list) and depth < MAX_DEPTH:
            stack.extend((item, depth + 1, main) for item in reversed(value))
        elif isinstance(value, dict):
            stack.extend(reversed(_visit(value, depth, main, graph, main_ids)))
    for candidate in graph.products:
        identity = candidate.node.get("@id")
        candidate.is_main = candidate.is_main or (isinstance(identity, str) and identity in main_ids)
    return graph


def _visit(node: Node, depth: int, main: bool, graph: Graph, main_ids: set[str]) -> list[tuple[Any, int, bool]]:
    identity = node.get("@id")
    if isinstance(identity, str):
        if main:
            main_ids.add(identity)
        if len(node) > 2 and identity not in graph.by_id:
            graph.by_id[identity] = node
    if is_product(node):
        if len(node) > 2 or "name" in node:
            graph.products.append(Candidate(node, main))
        return []
    if "BreadcrumbList" in types_of(node):
        graph.breadcrumbs.append(node)
    if depth >= MAX_DEPTH:
        return []
    children = [(node[name], depth + 1, main) for name in ("@graph", "breadcrumb") if name in node]
    mains = [(node[name], depth + 1, True) for name in ("mainEntity", "mainEntityOfPage") if name in node]
    return children + mains


def records_of(node: Node, graph: Graph, clean: Clean) -> list[Values]:
    """Return one full record per listing of a product node; at least one."""
    product = _product(node, graph, clean)
    variants = list(_variants(node, product, graph, clean))
    if variants:
        identities = identify(variants)
        if identities:
            return sorted(
                ({**variant, "variant_id": i} for variant, i in zip(variants, identities, strict=True)),
                key=lambda record: str(record["variant_id"]),
            )
        # Variants that nothing tells apart are offers of one product.
        return [{**product, **record} for record in choose(variants)]
    offers = choose(graph.offers_of(node, clean))
    if len(offers) == 1:
        return [{**offers[0], **product}]
    group = product.get("item_group_id") or product.get("sku") or product.get("product_id")
    shared = {**product, **({"item_group_id": group} if group else {})}
    return [{**shared, **offer} for offer in offers] or [product]


def siblings_of(readings: Sequence[Sequence[Values]]) -> list[Values] | None:
    """Return the records of several Product nodes that are the variants of one product, or None where they aren't."""
    if len(readings) < 2:
        return None
    records = [record for reading in readings for record in reading]
    if len({str(record.get("name")) for record in records}) > 1:
        return None
    identities = identify(records)
    if identities is None:
        return None
    rows = ({**record, "variant_id": identity} for record, identity in zip(records, identities, strict=True))
    return sorted(rows, key=lambda record: str(record["variant_id"]))


def richest(readings: Sequence[Sequence[Values]]) -> int:
    """Return the index of the reading with the most variants, then of the first one with a price."""
    ranked = ((len(reading), has_amount(reading[0]), -index) for index, reading in enumerate(readings))
    return -max(ranked)[2]


def path_of(breadcrumbs: Sequence[Node], clean: Clean, product: Values) -> list[str]:
    """Return the categories of the first breadcrumb trail that names any, without the home page and the product."""
    own = {str(product.get("name", "")).casefold(), str(product.get("url", ""))} - {""}
    for trail in breadcrumbs:
        crumbs = [crumb for item in _steps(trail) if (crumb := _crumb(item, clean))[0]]
        if crumbs and _is_home(crumbs[0][1]):
            crumbs = crumbs[1:]
        if crumbs and (crumbs[-1][0].casefold() in own or crumbs[-1][1] in own):
            crumbs = crumbs[:-1]
        if crumbs:
            return [name for name, _ in crumbs]
    return []


def _steps(trail: Node) -> list[Node]:
    steps = trail.get("itemListElement")
    if isinstance(steps, list) and steps and isinstance(steps[0], list):
        steps = steps[0]  # several trails in one list: each is a whole path
    return sorted((step for step in many(steps) if isinstance(step, dict)), key=_position)


def _position(item: Node) -> int:
    position = item.get("position")
    text = str(position) if isinstance(position, str | int) else ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 0


def _crumb(item: Node, clean: Clean) -> tuple[str, str]:
    inner = item.get("item")
    about = inner if isinstance(inner, dict) else {}
    url = text_of(inner, clean, "@id", "url") or text_of(item.get("url"), clean)
    return text_of(item.get("name"), clean) or text_of(about.get("name"), clean) or "", url or ""


def _is_home(url: str) -> bool:
    return url == "/" or (url.count("/") <= 3 and url.startswith(("http://", "https://")) and not _path(url))


def _path(url: str) -> str:
    return url.split("://", 1)[-1].partition("/")[2]


def _product(node: Node, graph: Graph, clean: Clean) -> Values:
    group = next((item for item in many(_resolved(node.get("isVariantOf"), graph)) if isinstance(item, dict)), {})
    rating = next((item for item in many(_resolved(node.get("aggregateRating"), graph)) if isinstance(item, dict)), {})
    values: dict[str, Any] = {
        "name": text_of(node.get("name"), clean, "@value") or text_of(group.get("name"), clean),
        "brand": code_of({"brand": _resolved(node.get("brand"), graph)}, clean, "brand")
        or code_of({"brand": group.get("brand")}, clean, "brand"),
        "gtin": gtin_of(node, clean),
        "mpn": code_of(node, clean, "mpn"),
        "sku": code_of(node, clean, "sku"),
        "product_id": code_of(node, clean, "productID"),
        "item_group_id": code_of(node, clean, "productGroupID", "inProductGroupWithID")
        or code_of(group, clean, "productGroupID"),
        "url": text_of(node.get("url"), clean, "@id"),
        "description": text_of(node.get("description"), clean, "@value"),
        "images": _images(_resolved(node.get("image"), graph), clean),
        "category_path": _categories(node.get("category"), clean),
        "rating_value": text_of(rating.get("ratingValue"), clean),
        "review_count": text_of(rating.get("reviewCount"), clean) or text_of(rating.get("ratingCount"), clean),
        "condition": text_of(node.get("itemCondition"), clean, "@id", "name"),
    }
    return {name: value for name, value in values.items() if value}


def _variants(node: Node, product: Values, graph: Graph, clean: Clean) -> Iterator[Values]:
    """Yield a record for each variant inside a ProductGroup that says enough to be sold."""
    varies = frozenset(text.rpartition("/")[2].lower() for text in many(node.get("variesBy")) if isinstance(text, str))
    own_codes = ("sku", "gtin", "mpn", "url", "product_id", "condition")
    shared = {name: value for name, value in product.items() if name not in own_codes}
    if group := product.get("item_group_id") or product.get("sku"):
        shared["item_group_id"] = group
    seen: set[int] = set()
    for variant in many(_resolved(node.get("hasVariant"), graph)):
        if not isinstance(variant, dict) or id(variant := graph.resolve(variant)) in seen:
            continue
        seen.add(id(variant))
        if not graph.may_read("variants", len(seen), MAX_VARIANTS):
            return
        own = _product(variant, graph, clean)
        offers = choose(graph.offers_of(variant, clean))
        if not offers and "sku" not in own:
            continue  # a mere link to another page
        options = options_of(variant, clean, varies)
        for offer in offers or [{}]:
            yield {**shared, **offer, **own, **({"options": options} if options else {})}


def _resolved(value: Any, graph: Graph) -> Any:
    """Replace references by ``@id`` with what they refer to."""
    if isinstance(value, dict):
        return graph.resolve(value)
    if isinstance(value, list):
        return [graph.resolve(item) if isinstance(item, dict) else item for item in value]
    return value


def _images(value: Any, clean: Clean) -> list[str]:
    found: dict[str, None] = {}
    for image in many(value):
        if text := text_of(image, clean, "url", "contentUrl", "@id"):
            found.setdefault(text)
        if len(found) >= MAX_IMAGES:
            break
    return list(found)


def _categories(value: Any, clean: Clean) -> list[str]:
    text = text_of(value, clean, "name")
    if not text or "<" in text:
        return []
    parts = [part.strip() for part in text.split(">", _MAX_CATEGORIES)[:_MAX_CATEGORIES]]
    return [part for part in parts if part]
