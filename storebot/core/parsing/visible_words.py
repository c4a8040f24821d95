"""What shops call things on the page itself: buy buttons, labels of codes, old prices, other products' places."""

from __future__ import annotations

import re

# Parts of class names and ids, whole words of them: "price-old" has "old", "gold" hasn't.
ELSEWHERE = frozenset(
    {
        "related", "recommend", "recommended", "recommendation", "recommendations", "recommender", "upsell",
        "crosssell", "crossell", "similar", "minicart", "breadcrumb", "breadcrumbs", "recently", "viewed",
        "footer", "modal", "popup", "menu", "navbar", "navigation", "megamenu", "review", "reviews", "bundle",
        "banner", "accessory", "accessories", "suggestions", "shipping", "delivery", "financing", "credit",
        "loan", "wishlist", "compare", "alsobought", "login", "newsletter", "cookie", "cookies"
    }
)  # fmt: skip
PRICE = frozenset({"price", "prices", "pricing"})
BESIDE_PRICE = frozenset({"review", "reviews", "compare", "wishlist", "banner"})  # "reviews-and-prices"
NO_PLACE = re.compile(r"(?<![^\s])shipping-(?:taxable|required)(?![^\s])")  # said of a product, not of a place
FOR_READERS = re.compile(
    r"(?<![a-z])(?:sr-?only|visually-?hidden|screen-?reader(?:-?text)?|off-?left)(?![a-z])", re.IGNORECASE
)
STRUCK = frozenset(
    {"old", "was", "strike", "striked", "striken", "strikethrough"}
    | {"crossed", "rrp", "msrp", "uvp", "original", "before"}
)
CURRENT = frozenset(
    {"special", "sale", "current", "final", "new"} | {"now", "actual", "actionprice", "pricenew", "offer", "our"}
)
OFF = frozenset({"disabled", "unavailable", "soldout"})

BUY_TEXT = re.compile(
    r"(?:add(?: items?)? to (?:your |my |the )?(?:shopping )?(?:cart|basket|bag|trolley)|buy(?: it)? now|buy"
    r"|in den (?:warenkorb|einkaufswagen)|jetzt kaufen|ajouter au panier|acheter(?: maintenant)?"
    r"|añadir a(?:l carrito| la cesta)|agregar al carr(?:o|ito)|comprar(?: (?:ahora|agora|entradas?))?"
    r"|adicionar ao car(?:rinho|to)|aggiungi al carrello|acquista(?: ora)?"
    r"|in winkelwagen|toevoegen aan winkelwagen"
    r"|do koš[ií]ka|do košíku|vložit do košíku|koupit|kúpiť|do koszyka|dodaj do koszyka|kup teraz"
    r"|kupi(?: odmah)?|dodaj (?:v|u) košar(?:ic)?[ou]|lägg i (?:varukorgen|kundvagnen)"
    r"|köp|læg i kurv|legg i handlekurv"
    r"|kjøp|lisää (?:ostoskoriin|koriin)|osta|в корзину|добавить в корзину|купить|у кошик|купити|kosárba"
    r"|adaug[ăa] în coș|sepete ekle|satın al|lisa (?:ostu)?korvi|pirkt"
    r"|ielikt grozā|į krepšelį|pirkti|добави в количката"
    r"|加入購物車|加入购物车|立即購買|立即购买|購買|买|カートに入れる|購入する|장바구니 담기|구매하기|أضف إلى السلة"
    r"|הוסף לסל|(?:tambah(?:kan)?|masuk(?:kan)?) ke keranjang|beli(?: sekarang)?"
    r"|thêm vào giỏ(?: hàng)?|mua ngay|หยิบใส่ตะกร้า|προσθήκη στο καλάθι|αγορά|додати в кошик"
    r"|pre-?order(?: now)?|vorbestellen|précommander)",
    re.IGNORECASE,
)
BUY_CODE = re.compile(
    r"add[-_]?(?:items?[-_]?)?to[-_]?(?:cart|basket|bag)|(?<![a-z])tocart"
    r"|buy[-_]?(?:now|btn|button|box)|btn[-_]?buy"
    r"|cart[/_-]?add|basket[/_-]add|buyproduct|add2cart",
    re.IGNORECASE,
)

# Labels, whole: "EAN", "EAN:", never "EAN of the box".
LABELS: dict[str, re.Pattern[str]] = {
    name: re.compile(words, re.IGNORECASE)
    for name, words in {
        "gtin": r"ean(?:[ -]?(?:13|8))?(?:[ -]?(?:code|kód|kod))?|gtin(?:[ -]?1[234])?|upc"
        r"|isbn(?:[ -]?1[03])?|barcode|ean/isbn"
        r"|штрих-?код|código de barras|čárový kód",
        "sku": r"sku|(?:\w+ )?(?:product|item|article|stock) (?:code|number|no\.?)"
        r"|cat(?:alogue)? no\.?|artikel-?(?:nr\.?|nummer)"
        r"|best(?:ell)?-?nr\.?|réf(?:érence)?\.?|referencia|referência"
        r"|código(?: de producto)?|codice(?: prodotto| articolo)?"
        r"|artikelnummer|kód(?: produktu| zboží| tovaru)?|kod(?: produktu)?|indeks"
        r"|артикул|код(?: товара)?|cikkszám"
        r"|cod(?: produs)?|asin|varenummer|tuotenumero|商品編號|商品番号",
        "mpn": r"mpn|item model number|manufacturer(?:'s)? (?:part number(?: \(mpn\))?|code|reference)"
        r"|model name ?/ ?number|رقم الموديل من المورد|mfr\.? part (?:no\.?|number)"
        r"|model(?: number| no\.?)?"
        r"|part (?:number|no\.?)|herstellernummer|modell(?:nummer)?|part[ -]?number"
        r"|kód výrobcu|ražotāja kods"
        r"|référence fabricant|numero modello|modelo|modelis|модель",
        "brand": r"brand(?: name)?|manufacturer|marke|hersteller|marque|fabricant|marca"
        r"|fabricante|produttore|merk|fabrikant"
        r"|značka|výrobce|výrobca|marka|producent|бренд|производитель|торговая марка|varumärke|märke|mærke"
        r"|merke|merkki|valmistaja|márka|gyártó|zīmols|ražotājs|prekės ženklas|品牌|ブランド"
        r"|브랜드|العلامة التجارية",
    }.items()
}

# "Price: 54,50": the words that stand before an amount and say nothing but that it is the price.
PRICE_LABEL = re.compile(
    r"(?:(?:our|your|sale|now|today's) )?(?:price|preis|prix|precio|preço|prezzo|prijs|cena|cijena|ціна|цена|ár|preț"
    r"|pret|pris|hinta|hind|kaina|fiyat|harga|τιμή|售價|價格|价格|価格|가격)\s*:\s*",
    re.IGNORECASE,
)
WAS_LABEL = re.compile(
    r"(?:was|rrp|r\.r\.p\.?|msrp|uvp|statt|old price|(?:list|original|regular|normal|retail) price|prix conseillé"
    r"|au lieu de|pvpr|antes|původní cena|pôvodná cena|běžná cena|cena regularna|prezzo di listino|старая цена"
    r"|ord\. pris|tidligere|før|adviesprijs)\b[\s:.]*",
    re.IGNORECASE,
)
INSTALMENT = re.compile(
    r"每期|分期|per month|a month|/\s?mo\b|al mes|al mese|par mois|im monat|в месяц|mesačne|měsíčně"
)
# Said of an amount that is what the thing costs under other terms: without tax, or with the delivery.
OTHER_TERMS = re.compile(
    r"(?:incl?\.?|including|with) (?:shipping|delivery|postage)|inkl\.? versand|port compris|(?:livraison|port) inclus"
    r"|con envío|spedizione inclusa|s dopravou|z dostawą|с доставкой|כולל משלוח|"
    r"bez dph|bez pdv|bez vat|netto|без ндс|exc?l?\.? ?(?:vat|tax|gst|btw|mwst|moms)"
    r"|(?:ohne|zzgl\.?) mwst|hors taxe"
    r"|(?<![a-z])ht(?![a-z])|sin iva|iva (?:exclu|esclusa)|\+ ?iva|ilman alv"
    r"|exkl\.? moms|ilma käibemaksuta|bez pvn"
)
OTHER_DOLLARS = re.compile(rb"\b(?:AUD|CAD|NZD|SGD|HKD|MXN|CLP|COP|ARS|TWD|Australia|Canada|New Zealand|Singapore)\b")
# Begins with a literal, for speed: the whole page is searched.
SCRIPTED_CURRENCY = re.compile(rb"""urrency(?:_?[Cc]ode)?\\?["']?\s*[:=,]\s*\\?["']([A-Za-z]{3})\\?["']""")

# The currency of a country's shops where a price has a sign that several countries use ("$", "kr") or none.
CURRENCY_OF_DOMAIN = {
    "cl": "CLP", "tw": "TWD", "uk": "GBP", "au": "AUD", "nz": "NZD", "ca": "CAD", "mx": "MXN", "ar": "ARS",
    "co": "COP", "uy": "UYU", "hk": "HKD", "sg": "SGD", "se": "SEK", "no": "NOK", "dk": "DKK", "is": "ISK",
    "jp": "JPY", "cn": "CNY", "kz": "KZT", "br": "BRL", "us": "USD",
    "in": "INR", "pk": "PKR", "lk": "LKR", "np": "NPR", "kr": "KRW", "fo": "DKK", "jm": "JMD", "tt": "TTD",
}  # fmt: skip
