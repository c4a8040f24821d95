"""Hosts that serve advertisements and measure visitors, and nothing that a product page shows.

Picked by hand: exchanges, pixels and session recorders of the kinds that Disconnect's tracking protection calls
Advertising and Analytics (services.json of https://github.com/disconnectme/disconnect-tracking-protection; look there
before adding one). What also carries what a shop sells with is left out on purpose: tag managers, consent banners,
reviews, search, A/B tests that hide the page until they ran.
"""

from __future__ import annotations

AD_HOSTS = (
    # Advertising exchanges and networks
    "2mdn.net", "adform.net", "adnxs.com", "adroll.com", "adsafeprotected.com", "adsrvr.org", "amazon-adsystem.com",
    "bidswitch.net", "casalemedia.com", "creativecdn.com", "criteo.com", "criteo.net", "demdex.net", "doubleclick.net",
    "doubleverify.com", "everesttech.net", "googleadservices.com", "googlesyndication.com", "googletagservices.com",
    "ib-ibi.com", "media.net", "mediavine.com", "moatads.com", "mookie1.com", "openx.net", "outbrain.com",
    "pubmatic.com", "quantserve.com", "rlcdn.com", "rubiconproject.com", "scorecardresearch.com", "sharethis.com",
    "smartadserver.com", "taboola.com", "teads.tv", "tribalfusion.com", "turn.com", "yieldmo.com", "zemanta.com",
    # Pixels of networks
    "ads-twitter.com", "ads.linkedin.com", "ads.pinterest.com", "analytics.tiktok.com", "analytics.twitter.com",
    "bat.bing.com", "connect.facebook.net", "ct.pinterest.com", "sc-static.net",
    "snap.licdn.com", "tr.snapchat.com",
    # Measuring, recording of sessions
    "amplitude.com", "cdn.segment.com", "api.segment.io", "chartbeat.com", "chartbeat.net", "clarity.ms",
    "contentsquare.net", "crazyegg.com", "fullstory.com", "google-analytics.com", "heap.io", "heapanalytics.com",
    "hotjar.com", "hotjar.io", "imrworldwide.com", "inspectlet.com", "luckyorange.com", "mc.yandex.ru", "mixpanel.com",
    "mouseflow.com", "mxpnl.com", "nr-data.net", "omtrdc.net", "quantcount.com", "sessioncam.com", "smartlook.com",
    "statcounter.com", "yandexmetrica.com",
)  # fmt: skip


def patterns() -> list[str]:
    """Return the hosts, and all below them, as DevTools takes URLs to block (Network.setBlockedURLs)."""
    return [pattern for host in AD_HOSTS for pattern in (f"*://{host}/*", f"*://*.{host}/*")]
