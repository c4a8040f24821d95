"""The shop as an application: an empty page, the script that fills it, and the product that the script fetches."""

from __future__ import annotations

from html import escape

SCRIPT_PATH = "/app.js"

# The placeholder is what a browser shows that doesn't wait: a product without a name, at no price.
SCRIPT = b"""\
(async () => {
  const root = document.getElementById("app");
  root.innerHTML = '<main class="product-main"><h1 class="product-name">Loading...</h1>' +
    '<div class="price-box"><span class="price">$0.00</span></div></main>';
  const answer = await fetch(root.dataset.from);
  if (!answer.ok) {
    root.textContent = "Something went wrong. Please try again.";
    return;
  }
  const product = await answer.json();
  await new Promise((done) => setTimeout(done, Number(root.dataset.delayMs)));
  const head = document.createElement("template");
  head.innerHTML = product.head;
  document.head.append(head.content);
  root.innerHTML = product.main;
  document.title = product.title;
  root.dataset.ready = "yes";
})();
"""


def data_path(product_path: str) -> str:
    """Return the path at which the script finds the product of a page."""
    return f"/data{product_path}.json"


def root(product_path: str, delay_ms: int) -> bytes:
    """Return the body of the empty page: what the script fills, and the script."""
    return (
        f'<div id="app" data-from="{escape(data_path(product_path))}" data-delay-ms="{delay_ms}"></div>\n'
        "<noscript>You need to enable JavaScript to run this app.</noscript>\n"
        f'<script src="{SCRIPT_PATH}" defer></script>\n'
    ).encode()
