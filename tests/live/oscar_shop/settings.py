"""Settings of the shop: oscar's defaults and templates, SQLite and Whoosh in the folder that ``OSCAR_SHOP`` names."""

from __future__ import annotations

import os
from pathlib import Path

import oscar
from oscar.defaults import *  # noqa: F403  # how oscar wants its defaults to be taken over

FOLDER = Path(os.environ["OSCAR_SHOP"])

SECRET_KEY = "a shop of the tests, on loopback"
DEBUG = False  # as in production: templates are cached
ALLOWED_HOSTS = ["127.0.0.1"]
ROOT_URLCONF = "tests.live.oscar_shop.urls"
SITE_ID = 1
LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
STATIC_URL = "/static/"
MEDIA_URL = "/media/"

INSTALLED_APPS = oscar.INSTALLED_APPS
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "oscar.apps.basket.middleware.BasketMiddleware",
    "django.contrib.flatpages.middleware.FlatpageFallbackMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "oscar.apps.search.context_processors.search_form",
                "oscar.apps.checkout.context_processors.checkout",
                "oscar.apps.communication.notifications.context_processors.notifications",
                "oscar.core.context_processors.metadata",
            ],
        },
    },
]
AUTHENTICATION_BACKENDS = ["oscar.apps.customer.auth_backends.EmailBackend"]

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": FOLDER / "shop.db",
        "ATOMIC_REQUESTS": True,
        "CONN_MAX_AGE": None,
        "OPTIONS": {
            # Every look at a product is counted, so every request writes.
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF",
        },
    }
}
# The tables are made from the models: oscar's migrations end at the same ones, twelve seconds later.
MIGRATION_MODULES = dict.fromkeys(
    (
        *("address", "admin", "analytics", "auth", "basket", "catalogue", "communication", "contenttypes", "customer"),
        *("flatpages", "offer", "order", "partner", "payment", "reviews", "sessions", "shipping", "sites", "voucher"),
        "wishlists",
    )
)
HAYSTACK_CONNECTIONS = {
    "default": {"ENGINE": "haystack.backends.whoosh_backend.WhooshEngine", "PATH": str(FOLDER / "index")}
}

OSCAR_DYNAMIC_CLASS_LOADER = "tests.live.oscar_shop.tax.class_loader"
OSCAR_THUMBNAILER = "tests.live.oscar_shop.thumbnails.AsUploaded"
# A box of them is on every page. Oscar shows six, which take it as long as the rest of the page.
OSCAR_RECENTLY_VIEWED_PRODUCTS = 1
