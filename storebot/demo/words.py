"""The vocabulary that products and pages of the demo store are made of."""

from __future__ import annotations

# brand -> the three letters that its SKUs begin with
BRANDS = {
    "Ardenwood": "ARD",
    "Brühl & Söhne": "BRU",
    "Café Noir": "CAF",
    "Dovecote": "DOV",
    "Elm & Ivy": "ELM",
    "Fjordlys": "FJO",
    "Greyfriar": "GRE",
    "Hüttenwerk": "HUT",
    "Ironbark": "IRO",
    "Juniper Lane": "JUN",
    "Kestrel": "KES",
    "L'Atelier Bleu": "LAT",
    "Marlow & Finch": "MAR",
    "Northmoor": "NOR",
    "Oakhurst": "OAK",
    "Piña Verde": "PIN",
}

# (category, subcategory) -> the things that it sells
CATEGORIES: dict[tuple[str, str], tuple[str, ...]] = {
    ("Kitchen", "Cookware"): ("Saucepan", "Casserole Dish", "Frying Pan", "Stock Pot", "Salt & Pepper Set"),
    ("Kitchen", "Tableware"): ("Dinner Plate", "Cereal Bowl", "Espresso Cup", "Serving Platter", "Teapot"),
    ("Living Room", "Lighting"): ("Floor Lamp", "Table Lamp", "Pendant Light", "Reading Light"),
    ("Living Room", "Furniture"): ("Side Table", "Armchair", "Bookcase", "Footstool", "Nest of Tables"),
    ("Bedroom", "Bedding"): ("Duvet Cover", "Pillowcase Pair", "Fitted Sheet", "Quilt", "Wool Blanket"),
    ("Bathroom", "Towels"): ("Bath Towel", "Hand Towel", "Bath Mat", "Towel Bale"),
    ("Garden", "Tools"): ("Hand Trowel", "Border Fork", "Secateurs", "Watering Can"),
    ("Garden", "Pots & Planters"): ("Planter", "Hanging Basket", "Window Box", "Crème Brûlée Pot"),
    ("Office", "Stationery"): ("Notebook", "Fountain Pen", "Desk Pad", "Letter Rack"),
    ("Outdoor", "Picnic"): ("Picnic Hamper", "Cool Bag", "Enamel Mug", "Vacuum Flask"),
}

QUALITIES = (
    "Classic", "Compact", "Everyday", "Folding", "Hand-made", "Heritage", "Large", "Lightweight",
    "Modern", "Original", "Reclaimed", "Round", "Rustic", "Slim", "Small", "Stackable",
)  # fmt: skip
MATERIALS = (
    "Ash", "Bamboo", "Beech", "Brass", "Cast Iron", "Copper", "Cotton", "Enamel",
    "Linen", "Oak", "Porcelain", "Slate", "Steel", "Stoneware", "Walnut", "Wool",
)  # fmt: skip
FLOURISHES = ("🌿", "✨", "☕", "🎁")  # at the end of one name in twenty-five

OPTION_VALUES = {
    "Colour": ("Charcoal", "Forest Green", "Ivory", "Navy", "Rosé", "Terracotta"),
    "Size": ("Small", "Medium", "Large", "Extra Large"),
}

EDITIONS = ("2026 Edition", "New Design", "Limited Edition", "Mark II", "Gift Boxed")

SENTENCES = (
    "Made in small batches by people who have done it for three generations.",
    "The finish deepens with use, so that no two pieces stay alike.",
    "Wipes clean with a damp cloth & needs no special care.",
    "Designed to be mended: every part can be ordered on its own.",
    "It holds its heat well and sits flat on every surface.",
    "Packed without plastic, in a box that is worth keeping.",
    "A quiet favourite of ours, at home in old houses and new flats.",
    "Tested at 40 °C and below freezing; it minds neither.",
    "Allow a few millimetres of difference, as each one is turned by hand.",
    "Comes with our ten-year promise against faults in the making.",
)

REVIEWERS = ("A. Moreau", "B. Okafor", "C. Lindqvist", "D. Whitmore", "E. Castañeda", "F. Novák")

# words that filler scripts and styles are made of: nothing that reads like a price, a product or a challenge
FILLER = (
    "layout", "drawer", "carousel", "gutter", "swatch", "banner", "footer", "header", "lens", "ribbon", "tile", "panel",
    "anchor", "badge", "column", "divider", "easing", "figure", "grid", "hover", "inset", "journal", "kerning", "ledge",
)  # fmt: skip
