"""A store as the rest of storebot sees it: what its file says, and what follows from that."""

from __future__ import annotations

import hashlib
import json
import re
from functools import cached_property
from urllib.parse import urlsplit

from pydantic import InstanceOf

from storebot.core.normalise import Context
from storebot.core.page import Page
from storebot.core.parsing import links
from storebot.core.parsing.rules import ProductRules, Rule, compile_rule
from storebot.core.urls import KeyRules, same_site, url_key
from storebot.stores.code import Code
from storebot.stores.product_section import FIELDS
from storebot.stores.running import Links, ProductParser, read_links
from storebot.stores.sections import StoreFile

# Raise it when a change in storebot.core makes the same page give another record: every page is then parsed anew.
PARSER_GENERATION = 3


class Store(StoreFile):
    """One store: what its file says, under the name of its folder, and what follows from it."""

    name: str
    path: str  # of the file, for messages
    file_base_url: str  # what the file says, where ``base_url`` was overridden
    product_code: InstanceOf[Code] | None = None  # product.py
    catalogue_code: InstanceOf[Code] | None = None  # catalogue.py

    @cached_property
    def product_pattern(self) -> re.Pattern[str]:
        """The pattern to search a whole URL with."""
        return re.compile(self.product_url)

    @cached_property
    def sitemap_pattern(self) -> re.Pattern[str] | None:
        """The pattern that a child sitemap's URL must hold; None lets all through."""
        return re.compile(self.discover.sitemap_url) if self.discover.sitemap_url else None

    def is_product(self, url: str) -> bool:
        """Whether a URL is on one of the store's hosts and matches ``product_url``."""
        return bool(self.product_pattern.search(url)) and same_site(url, self.base_url, self.keys.aliases)

    @cached_property
    def catalogue_keys(self) -> frozenset[str]:
        """The keys of the catalogue's first pages, which are no product's whatever ``product_url`` matches."""
        first = str(self.catalogue.first) if self.catalogue else ""
        return frozenset(url_key(url.replace("{page}", first), self.key_rules) for url in self.catalogue_urls)

    @property
    def sitemap_urls(self) -> tuple[str, ...]:
        """The declared sitemaps, absolute; empty where robots.txt is asked, or none are read."""
        declared = self.discover.sitemaps
        return () if isinstance(declared, bool) else tuple(self._absolute(location) for location in declared)

    @property
    def catalogue_urls(self) -> tuple[str, ...]:
        """The templates of the catalogue's walks, absolute; empty where it isn't walked."""
        if self.catalogue is None or not self.walks_catalogue:
            return ()
        return tuple(self._absolute(location) for location in self.catalogue.url)

    def walk_of(self, template: str) -> str:
        """Return the name of the walk of one of the `catalogue_urls`, as its checkpoint and its pages have it."""
        return f"catalogue {template.removeprefix(self.base_url)}"

    @property
    def feed_urls(self) -> tuple[str, ...]:
        """The declared product feeds, absolute."""
        return tuple(self._absolute(location) for location in self.discover.feeds)

    def _absolute(self, location: str) -> str:
        """Put a path behind ``base_url``; a URL of the shop moves along when ``base_url`` was overridden."""
        if location.startswith("/"):
            return self.base_url + location
        path = location.removeprefix(self.file_base_url)
        return self.base_url + path if path != location and path.startswith("/") else location

    def as_filed(self, url: str) -> str:
        """Return a URL of the shop with the address that the file says, where ``base_url`` was overridden.

        What is stored under a URL's name, such as a checkpoint, is then found at whatever address the shop is read.
        """
        path = url.removeprefix(self.base_url)
        return self.file_base_url + path if path != url and path[:1] in ("", "/") else url

    @cached_property
    def rules(self) -> ProductRules:
        """The compiled rules of ``[product]``, and ``product.py``."""
        fields = {name: _compiled(texts) for name in FIELDS if isinstance(texts := getattr(self.product, name), tuple)}
        declared = {"currency": self.product.currency} if isinstance(self.product.currency, str) else {}
        parser = ProductParser(self.product_code) if self.product_code else None
        return ProductRules(fields=fields, declared=declared, prefer=self.product.prefer, parser=parser)

    def read_catalogue(self, page: Page) -> Links:
        """Return the product links of a catalogue page and the link to the next one: by code, or by the rules."""
        if page.refusal:
            return Links(failure=page.refusal)
        if self.catalogue_code is None:
            found = links.read_links(page, self.product_pattern, self.link_rules)
            if page.refusal or len(found) == links.MAX_LINKS:
                return Links(failure=page.refusal or f"it links to {links.MAX_LINKS:,} products or more")
            return Links(found, links.next_link(page, self.next_rule) if self.next_rule else None)
        coded = read_links(self.catalogue_code, page)
        return coded._replace(links=[url for url in coded.links if self.product_pattern.search(url)])

    @property
    def walk_rules(self) -> tuple[tuple[str, ...], str]:
        """What finds the links of a walk, and what its next link: a checkpoint made with another is refused."""
        if self.catalogue is None:
            return (), ""
        if self.catalogue_code is None:
            return tuple(self.catalogue.links or ()), self.catalogue.next or ""
        return (f"catalogue.py {self.catalogue_code.digest}",), "catalogue.py"

    @cached_property
    def link_rules(self) -> tuple[Rule, ...]:
        """The compiled rules for the links to products; empty where every link is looked at."""
        return _compiled(self.catalogue.links) if self.catalogue else ()

    @cached_property
    def next_rule(self) -> Rule | None:
        """The compiled rule for the link to the next page; None where pages are counted, or there is one."""
        return compile_rule(self.catalogue.next) if self.catalogue and self.catalogue.next else None

    @property
    def required(self) -> tuple[str, ...]:
        """The fields without which a listing is invalid."""
        return self.expect.required

    @property
    def revisit_after_ms(self) -> int:
        """How old the last look at a page must be before the next."""
        return self.refresh.interval_ms

    @cached_property
    def key_rules(self) -> KeyRules:
        """The rules for `storebot.core.urls.url_key`."""
        return KeyRules(
            drop=self.keys.drop,
            keep=self.keys.keep,
            host=_host(self.base_url),
            aliases=self.keys.aliases,
            merge_slashes=self.keys.merge_slashes,
            fold_collections=self.keys.fold_collections,
        )

    def context(self, *, url: str, url_key: str) -> Context:
        """Return what `storebot.core.normalise` has to know of a page of this store."""
        return Context(
            store=self.name,
            url=url,
            url_key=url_key,
            decimal=self.product.decimal,
            currency=self.product.currency if isinstance(self.product.currency, str) else None,
            availability_phrases=self.product.availability_phrases,
        )

    def fingerprint(self) -> str:
        """Return the SHA-256 of all that decides how a page is parsed: not of comments, order of keys, or defaults.

        Of ``product.py`` the whole text decides.
        """
        deciding = self.model_dump(mode="json", include={"product_url", "product", "keys"}, exclude_defaults=True)
        if self.product_code:
            deciding["product.py"] = self.product_code.digest
        return hashlib.sha256(json.dumps(deciding, sort_keys=True).encode()).hexdigest()

    @cached_property
    def parser_version(self) -> str:
        """What travels with every record: storebot's parser generation and the start of the fingerprint."""
        return f"{PARSER_GENERATION}-{self.fingerprint()[:8]}"


def _compiled(texts: tuple[str, ...] | None) -> tuple[Rule, ...]:
    return tuple(compile_rule(text) for text in texts or ())


def _host(base_url: str) -> str:
    """Return host and port, without the port that the scheme means anyway."""
    parts = urlsplit(base_url)
    return parts.netloc.removesuffix({"http": ":80", "https": ":443"}[parts.scheme])
