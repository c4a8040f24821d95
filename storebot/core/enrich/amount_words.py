"""The words around amounts in shops' texts: units, packs, and those that make a number none."""

from __future__ import annotations

from decimal import Decimal

_POUND = Decimal("0.45359237")  # the international pound, 1959; the ounce is its sixteenth
_FLUID_OUNCE = Decimal("0.0295735295625")  # the US one
IMPERIAL_FLUID_OUNCE = Decimal("0.0284130625")

# As spelled, in lower case → the unit of the price, and how much of it one is. A space may be a point, or nothing. Not
# milligrams: those are a dose, or what is in it.
_BY_UNIT = (
    ("kg", "0.001", "g gr gram grams gramm gramme grammes grammi gramos"),
    ("kg", "1", "kg kgs kilo kilos kilogram kilograms kilogramm"),
    ("l", "0.001", "ml millilitre millilitres milliliter milliliters"),
    ("l", "0.01", "cl"),
    ("l", "0.1", "dl"),
    ("l", "1", "l lt ltr ltrs litre litres liter liters litri litros"),
    ("m", "1", "m mtr metre metres meter meters mètre mètres metri metros"),
)
UNITS: dict[str, tuple[str, Decimal]] = {
    **{spelled: (unit, Decimal(factor)) for unit, factor, spellings in _BY_UNIT for spelled in spellings.split()},
    **dict.fromkeys(("lb", "lbs"), ("kg", _POUND)),
    **dict.fromkeys(("oz", "ounce", "ounces"), ("kg", _POUND / 16)),
    **dict.fromkeys(("fl oz", "fluid ounce", "fluid ounces"), ("l", _FLUID_OUNCE)),
}

# Behind a number: what is sold by the piece. Not "pieces": a puzzle of 1000 pieces is one puzzle.
PIECES = "pcs|stück|stk|count|uds|unidades"
PIECES_PACK = "packs?|pk|er[ -]?packung|er[ -]?pack|er[ -]?set"
PACK_OF = "packs? of|pack de|lot de|set of|box of|case of|confezione da|paquete de|caja de|packung mit|set van"

# Before a number: a limit, not an amount.
LIMIT_BEFORE = (
    "up to|from|over|under|max|max\\.|min|min\\.|bis|bis zu|ab|über|unter|jusqu'à|dès|fino a|hasta|desde|tot|vanaf|"
    "load|capacity|rated|per|pro|je|par|weighs|tragkraft|belastbar bis|traglast|resistant|waterproof|wasserdicht|every"
)

# What holds things: its litres are room, not contents. Beginnings of words. It costs the glass cleaner its unit price.
CAPACITY = (
    r"\b(?:backpack|rucksack|sac à dos|zaino|mochila|dry ?bag|tasche|kettle|wasserkocher|bouilloire|bollitore|hervidor|"
    r"mugs?\b|cups?\b|tasse|becher|glass(?:es)?\b|gläser|verre|bicchier|vaso|jugs?\b|carafe|karaffe|pitcher|pots?\b|"
    r"kochtopf|pans?\b|casserole|saucepan|cooker|fryer|fritteuse|vase|fridge|refrigerator|kühlschrank|kühlbox|cooler|"
    r"freezer|gefrier|oven|backofen|microwave|mikrowelle|bins?\b|eimer|bucket|mülleimer|container|behälter|storage|"
    r"tanks?\b|canister|kanister|flask|thermos|tumbler|drinking bottle|water bottle|trinkflasche|isolierflasche|gourde|"
    r"bladder|suitcase|koffer|trolley|cabinet|locker|trunk|bowls?\b|schüssel|blender|compressor|aquarium|"
    r"capacity|fassungsvermögen|capacité|capacità|capacidad)"
)

# What is sold by the metre. Parts of words too: a Netzwerkkabel is a Kabel.
BY_LENGTH = (
    r"cable|kabel|câble|cavo\b|wire\b|draht|rope\b|seil|corde?\b|tape\b|klebeband|ribbon|hose\b|schlauch|tuyau|chain\b|"
    r"kette|fabric|stoff\b|tissu|tessuto|tela\b|yarn|garn\b|foil\b|folie|film\b|roll\b|rolls\b|rolle|paper|papier|"
    r"strip\b|leine|pipe\b|rohr\b|tubing|zaun|webbing|gurtband|borte|trim\b|thread|faden"
)

NET_LABEL = (
    "net weight|net wt\\.?|net contents?|net volume|contents?|nettogewicht|füllmenge|inhalt|nettoinhalt|nettofüllmenge|"
    "poids net|contenu|contenance|peso netto|contenuto|peso neto|contenido|contenido neto|netto inhoud|inhoud|"
    "nettovikt|masa netto|waga netto"
)
