"""The query parameters that say where a visitor came from, and those that say which product is shown.

Compiled 2026-11-30: what Google, Meta, Microsoft, Yandex, Matomo, HubSpot, Mailchimp, Klaviyo, Shopify, Amazon, eBay,
AliExpress, Awin, CJ, Rakuten and Impact append to links, completed from links of saved shop pages and compared with the
global rules of ClearURLs (https://github.com/ClearURLs/Rules). A name is listed only if shops don't choose products by
it: ``cid``, ``source``, ``sid`` and ``id`` aren't here.

An entry is an exact name, a ``name*`` pattern (see `storebot.core.urls.KeyRules`) or ``name=value*``, in lower case.
"""

from __future__ import annotations

CAMPAIGN = (
    "utm*",
    "mtm_*",
    "matomo_*",
    "piwik_*",
    "pk_campaign",
    "pk_cid",
    "pk_content",
    "pk_keyword",
    "pk_kwd",
    "pk_medium",
    "pk_source",
    "itm_campaign",
    "itm_content",
    "itm_medium",
    "itm_source",
    "itm_term",
    "at_campaign",
    "at_medium",
    "cm_mmc*",
    "cm_mmca1",
    "cm_mmca2",
    "cm_mmca3",
    "cm_sp",
    "cm_re",
    "cid=cse*",  # comparison shopping engines; any other cid may be a category
    "cmpid",
    "s_cid",
    "sc_cid",
    "sc_campaign",
    "wt_mc",
    "wt.mc_id",
    "wtrid",
    "xtor",
    "ncid",
    "mkwid",
    "pcrid",
    "tracking_source",
)

CLICK_IDS = (
    "gclid",
    "gclsrc",
    "gbraid",
    "wbraid",
    "gad_source",
    "gad_campaignid",
    "dclid",
    "srsltid",
    "fbclid",
    "fb_action_ids",
    "fb_action_types",
    "fb_ref",
    "fb_source",
    "igshid",
    "igsh",
    "msclkid",
    "yclid",
    "ysclid",
    "ymclid",
    "_openstat",
    "twclid",
    "ttclid",
    "li_fat_id",
    "epik",
    "sccid",
    "rdt_cid",
    "rb_clickid",
    "wickedid",
    "_branch_match_id",
    "_branch_referrer",
)

ANALYTICS_AND_MAIL = (
    "_ga",
    "_gac",
    "_gl",
    "ga_campaign",
    "ga_content",
    "ga_medium",
    "ga_source",
    "ga_term",
    "gs_l",
    "_hsenc",
    "_hsmi",
    "__hsfp",
    "__hssc",
    "__hstc",
    "hsctatracking",
    "hsa_*",
    "mc_cid",
    "mc_eid",
    "mc_tc",
    "mkt_tok",
    "_ke",
    "_kx",
    "vero_conv",
    "vero_id",
    "oly_anon_id",
    "oly_enc_id",
    "elqtrack",
    "elqtrackid",
    "spjobid",
    "spmailingid",
    "spreportid",
    "spuserid",
    "bsft_*",
    "dm_i",
    "ml_subscriber",
    "ml_subscriber_hash",
    "trk_contact",
    "trk_module",
    "trk_msg",
    "trk_sid",
    "_bta_c",
    "_bta_tid",
)

AFFILIATES = (
    "affiliate",
    "affiliate_id",
    "a_aid",
    "a_bid",
    "awc",
    "cjdata",
    "cjevent",
    "irclickid",
    "irgwc",
    "ranmid",
    "raneaid",
    "ransiteid",
    "sscid",
    "afsrc",
    "zanpid",
    "ceneo_spo",
    "aff_fcid",
    "aff_fsk",
    "aff_platform",
    "aff_trace_key",
)

SHOPS = (
    "ref",  # but not where its value is a number: see NUMBERED
    "ref_",
    "refrid",
    "referrer",
    "store_ref",
    "pd_rd_*",
    "pf_rd_*",
    "aaxitk",
    "_trksid",
    "_trkparms",
    "trksid",
    "spm",
    "scm",
    "algo_pvid",
    "algo_exp_id",
    "show-uid",
    "_pos",
    "_psq",
    "_sid",
    "_ss",
    "_fid",
    "pr_prod_strat",
    "pr_rec_id",
    "pr_rec_pid",
    "pr_ref_pid",
    "pr_seq",
)

SESSIONS = ("jsessionid", "phpsessid", "sessionid", "session_id", "cfid", "cftoken", "oscsid", "zenid", "___sid")

TRACKING = CAMPAIGN + CLICK_IDS + ANALYTICS_AND_MAIL + AFFILIATES + SHOPS + SESSIONS

# A referrer when it is a word (`ref=footer_1_4`), a product's reference number when it is digits (`ref=20417`).
NUMBERED = frozenset({"ref"})

# What chooses a product: another path may say it as well (`/index.php?id=57` is `/mug-57`).
PRODUCT_IDS = (
    "id",
    "pid",
    "p",
    "item",
    "itemid",
    "item_id",
    "product",
    "productid",
    "product_id",
    "products_id",
    "article",
    "asin",
)

# What chooses a variant of it: a canonical link that leaves one out names the parent, not the page.
VARIANTS = (
    "sku",
    "childsku",
    "variant",
    "variantid",
    "variant_id",
    "variation",
    "variationid",
    "variation_id",
    "color",
    "colour",
    "size",
    "style",
    "model",
    "option",
    "v",
    "v1",
    "dwvar_*",
    "attribute_*",
)

# No pattern in a `drop` of a store removes one of these, its exact name does.
IDENTITY = PRODUCT_IDS + VARIANTS
