"""What shops write about their stock, by language: patterns of whole words, in lower case.

Source: how the interfaces of WooCommerce, Magento and PrestaShop are worded in these languages, and the stock lines of
the product pages that this was tested on; written down by hand in 2026. A store file adds its own
(``product.availability_phrases``). A plain denial ("not", "nicht", "ne pas" before a promise) needs no entry:
`availability` makes it of ``DENIALS`` and the promises here.
"""

from __future__ import annotations

from storebot.items import Availability

_DISCONTINUED = Availability.DISCONTINUED
_SOLD_OUT = Availability.SOLD_OUT
_OUT = Availability.OUT_OF_STOCK
_PRE_ORDER = Availability.PRE_ORDER
_BACK_ORDER = Availability.BACK_ORDER
_MADE = Availability.MADE_TO_ORDER
_STORE_ONLY = Availability.IN_STORE_ONLY
_LIMITED = Availability.LIMITED_AVAILABILITY
_IN = Availability.IN_STOCK

DENIALS = (
    r"no|not|nicht|keine?|não|nao|non|niet|geen|inte|ikke|ej|nie|není|neni|ne|не|нет|нема|nu|nincs|ei|pas|μη|δεν|bez"
)

PHRASES: dict[str, dict[Availability, str]] = {
    "en": {
        _DISCONTINUED: r"discontinued|no longer (?:available|sold|made|in production)",
        _SOLD_OUT: r"sold[ -]out|(?:all|every(?:thing|one)?) gone",
        _OUT: r"out[ -]of[ -]stock|no stock|(?<![\d.,])0 (?:in stock|available|left|pcs)|(?:un|not |non[- ])available"
        r"|(?:not|isn't|aren't|never|no longer|non)\W+(?:\w+\W+){0,2}?(?:in stock|available)"
        r"|(?:when|once|if|until|as soon as)\W+(?:\w+\W+){0,3}?(?:in stock|available)"
        r"|(?:back |again )?(?:in stock|available) (?:again )?(?:soon|shortly)|coming soon|notify me|email me when"
        r"|temporarily out|(?:awaiting|waiting for) (?:stock|delivery)",
        _PRE_ORDER: r"pre-?orders?",
        _BACK_ORDER: r"back-?orders?(?:ed)?|on backorder|available on (?:order|request)|(?:special|to) order only",
        _MADE: r"made to order|custom[- ]made|built to order",
        _STORE_ONLY: r"in[- ]store only|only in stores?|(?:available )?in stores? only",
        Availability.ONLINE_ONLY: r"online only|only (?:available )?online|web exclusive",
        _LIMITED: r"low (?:in )?stock|limited (?:stock|availability|quantity)|almost gone|few left",
        _IN: r"in[ -]stock|instock|(?:\d+|only \d+) (?:available|left|in stock|remaining)|available|ready to ship"
        r"|ships? (?:today|within|in|now)|on stock",
    },
    "de": {
        _DISCONTINUED: r"nicht mehr (?:lieferbar|verfügbar|erhältlich|im sortiment)|auslaufartikel ohne bestand",
        _SOLD_OUT: r"ausverkauft|vergriffen|restlos verkauft",
        _OUT: r"nicht (?:auf lager|am lager|vorrätig|verfügbar|lieferbar|erhältlich)|kein bestand"
        r"|(?:derzeit|momentan|zurzeit|aktuell|zur zeit) nicht\b.*|nicht mehr auf lager|bald (?:wieder )?verfügbar"
        r"|wieder (?:lieferbar|verfügbar) ab|benachrichtig\w+ (?:mich|sie mich)",
        _PRE_ORDER: r"vorbestell\w+",
        _BACK_ORDER: r"nachbestellt|lieferbar bei nachbestellung|bestellartikel|wird (?:für sie )?bestellt",
        _MADE: r"auf bestellung(?: gefertigt)?|maßanfertigung|wird für sie gefertigt",
        _STORE_ONLY: r"nur im (?:laden|geschäft|markt)|nur in der filiale",
        Availability.ONLINE_ONLY: r"nur online(?: erhältlich)?",
        _LIMITED: r"nur noch wenige|wenige exemplare|geringer bestand|begrenzt verfügbar",
        _IN: r"(?:auf|am|ab) lager|lagernd|vorrätig|(?:sofort )?(?:lieferbar|verfügbar)|sofort versandfertig"
        r"|nur noch \d+ (?:stück|auf lager|vorrätig|verfügbar)",
    },
    "fr": {
        _DISCONTINUED: r"plus (?:disponible|commercialisé)\w*|produit arrêté|fin de série épuisée",
        _SOLD_OUT: r"victime de son succès",
        _OUT: r"(?:en )?rupture(?: de stock)?|épuisé\w*|indisponible|pas (?:en stock|disponible)|hors stock"
        r"|non disponible|bientôt (?:disponible|de retour)|prévenez-moi|m'avertir|en réapprovisionnement",
        _PRE_ORDER: r"précommande\w*",
        _BACK_ORDER: r"sur commande|disponible sur commande|en cours d'approvisionnement",
        _STORE_ONLY: r"uniquement en magasin",
        Availability.ONLINE_ONLY: r"uniquement en ligne|exclusivité web",
        _LIMITED: r"derniers? articles?|dernières? pièces?|stock (?:faible|limité)|plus que quelques",
        _IN: r"en stock|disponibles?|dispo|plus que \d+ (?:en stock|disponibles?)|expédié sous",
    },
    "es": {
        _DISCONTINUED: r"descatalogad[oa]|ya no (?:está )?disponible",
        _SOLD_OUT: r"todo vendido",
        _OUT: r"agotad[oa]s?|sin (?:stock|existencias?|inventario)|no (?:hay stock|hay existencias|disponible)"
        r"|fuera de stock|no está disponible|próximamente|avísame|temporalmente sin",
        _PRE_ORDER: r"preventa|reserva anticipada|pre-?pedido",
        _BACK_ORDER: r"bajo pedido|disponible para reserva|por encargo",
        _STORE_ONLY: r"(?:solo|sólo) en tiendas?",
        Availability.ONLINE_ONLY: r"(?:solo|sólo) (?:en línea|online)",
        _LIMITED: r"últimas? unidade?s|pocas unidades|stock limitado",
        _IN: r"en existencia|hay (?:stock|existencias)|disponibles?|en stock|solo quedan? \d+|quedan? \d+",
    },
    "it": {
        _DISCONTINUED: r"fuori produzione|non più (?:disponibile|in vendita)",
        _SOLD_OUT: r"tutto venduto",
        _OUT: r"non disponibil[ei]|esaurit[oaie]|terminat[oa]|non in (?:stock|magazzino)|prossimamente|avvisami",
        _PRE_ORDER: r"preordin[ei]|in prevendita|prenotabile",
        _BACK_ORDER: r"su (?:ordinazione|richiesta)|disponibile su ordinazione|ordinabile",
        _STORE_ONLY: r"solo in negozio",
        Availability.ONLINE_ONLY: r"solo online|esclusiva online",
        _LIMITED: r"ultimi (?:pezzi|articoli)|disponibilità limitata|scorte limitate",
        _IN: r"disponibil[ei]|disponibilità(?: immediata)?|in magazzino|pronta consegna"
        r"|solo \d+ (?:rimast[ie]|disponibili)",
    },
    "pt": {
        _DISCONTINUED: r"descontinuad[oa]|fora de linha",
        _OUT: r"esgotad[oa]s?|indisponíve(?:l|is)|fora de (?:estoque|stock)|sem (?:estoque|stock)|avise-?me|brevemente",
        _PRE_ORDER: r"pré-venda|pré-encomenda|pre-?venda",
        _BACK_ORDER: r"por encomenda|sob encomenda|disponível por encomenda",
        _STORE_ONLY: r"(?:apenas|só|somente) (?:em|na) lojas?",
        _LIMITED: r"últimas? unidades|stock (?:limitado|reduzido)|poucas unidades",
        _IN: r"disponíve(?:l|is)|em (?:estoque|stock)|pronta entrega|apenas \d+ (?:em stock|disponíveis)|restam \d+",
    },
    "nl": {
        _DISCONTINUED: r"niet meer (?:leverbaar|verkrijgbaar|beschikbaar)|uit (?:het )?assortiment",
        _SOLD_OUT: r"uitverkocht",
        _OUT: r"niet (?:op voorraad|leverbaar|beschikbaar|voorradig)|(?:tijdelijk|momenteel) (?:uitverkocht|niet\b.*)"
        r"|geen voorraad|binnenkort (?:weer )?(?:leverbaar|beschikbaar|verwacht)|houd me op de hoogte",
        _PRE_ORDER: r"pre-?orderen",
        _BACK_ORDER: r"nabestelling|(?:beschikbaar via )?nabestelling|op bestelling|wordt besteld",
        _STORE_ONLY: r"alleen in de winkel",
        Availability.ONLINE_ONLY: r"alleen online",
        _LIMITED: r"bijna uitverkocht|beperkte voorraad|laatste stuks|laatste exemplaren",
        _IN: r"op voorraad|leverbaar|voorradig|beschikbaar|nog (?:maar )?\d+ (?:op voorraad|stuks|beschikbaar)",
    },
    "pl": {
        _DISCONTINUED: r"wycofan\w*|produkt niedostępny na stałe",
        _SOLD_OUT: r"wyprzedan[eyao]",
        _OUT: r"niedostępn\w*|brak (?:w magazynie|towaru|na stanie|produktu)|chwilowo niedostępn\w*|wkrótce|powiadom o"
        r"|(?<![\d.,])0 szt",
        _PRE_ORDER: r"przedsprzedaż|zapowiedź",
        _BACK_ORDER: r"na zamówienie|dostępn[eyao] na zamówienie|sprowadzany na zamówienie",
        _STORE_ONLY: r"tylko w (?:sklepie|salonie)",
        _LIMITED: r"ostatni\w+ sztuk\w*|mała ilość|na wyczerpaniu",
        _IN: r"dostępn[yaeo]|w magazynie|na stanie|zostały? (?:tylko )?\d+ szt\w*|duża ilość",
    },
    "cs": {
        _DISCONTINUED: r"ukončen(?:o|á|ý)? výrob\w*|prodej ukončen|výroba ukončena|již se nevyrábí",
        _SOLD_OUT: r"vyprodán[oaáéy]?",
        _OUT: r"není (?:skladem|na skladě|dostupn\w+)|nedostupn\w*|momentálně není|hlídat dostupnost|(?<![\d.,])0 ks",
        _PRE_ORDER: r"předobjedn\w+|předprodej",
        _BACK_ORDER: r"na objednávku|na dotaz|u dodavatele",
        _MADE: r"na zakázku",
        _STORE_ONLY: r"(?:jen|pouze) na prodejně",
        _LIMITED: r"poslední(?: \d+)? kus\w*|posledních \d+ ks",
        _IN: r"skladem|na skladě|dostupn[éýáo]|ihned k odeslání|k odeslání (?:dnes|ihned|do \d+)",
    },
    "sk": {
        _DISCONTINUED: r"predaj ukončený|výroba ukončená",
        _SOLD_OUT: r"vypredan[éáýo]",
        _OUT: r"nie je (?:skladom|na sklade|dostupn\w+)|nedostupn\w*|momentálne nie je|strážiť dostupnosť",
        _PRE_ORDER: r"predobjedn\w+|predpredaj",
        _BACK_ORDER: r"na objednávku|na dopyt|u dodávateľa",
        _LIMITED: r"posledn[ýé](?: \d+)? kus\w*",
        _IN: r"skladom|na sklade|dostupn[éýáo]|ihneď k odoslaniu",
    },
    "sv": {
        _DISCONTINUED: r"utgått|har utgått|utgången produkt",
        _SOLD_OUT: r"slutsåld[at]?",
        _OUT: r"(?:ej|inte|slut) i lager|tillfälligt slut|slut online|kommer snart|bevaka|meddela mig"
        r"|inte tillgänglig",
        _PRE_ORDER: r"förbeställ\w*|förhandsboka",
        _BACK_ORDER: r"beställningsvara|restnotera\w*|tillgänglig för restnotering",
        _STORE_ONLY: r"endast i butik",
        _LIMITED: r"få i lager|fåtal kvar|begränsat antal|snart slut",
        _IN: r"i lager|finns i lager|på lager|tillgänglig|(?:bara |endast )?\d+ (?:kvar|i lager)",
    },
    "da": {
        _DISCONTINUED: r"udgået|varen er udgået",
        _SOLD_OUT: r"udsolgt",
        _OUT: r"ikke (?:på lager|tilgængelig)|midlertidigt udsolgt|kommer snart|giv mig besked",
        _PRE_ORDER: r"forudbestil\w*",
        _BACK_ORDER: r"bestillingsvare|restordre|(?:tilgængelig )?på restordre|skaffevare",
        _STORE_ONLY: r"kun i butik(?:ken)?",
        _LIMITED: r"få (?:stk\.? )?(?:tilbage|på lager)|begrænset antal",
        _IN: r"på lager|tilgængelig|(?:kun )?\d+ (?:stk\.? )?(?:tilbage|på lager)",
    },
    "no": {
        _DISCONTINUED: r"utgått|ikke lenger (?:tilgjengelig|i produksjon)",
        _SOLD_OUT: r"utsolgt",
        _OUT: r"ikke (?:på lager|tilgjengelig)|tomt på lager|midlertidig utsolgt"
        r"|kommer snart|varsle meg|gi meg beskjed",
        _PRE_ORDER: r"forhåndsbestill\w*",
        _BACK_ORDER: r"bestillingsvare|(?:tilgjengelig )?på restordre",
        _STORE_ONLY: r"kun i butikk",
        _LIMITED: r"få (?:igjen|på lager)|begrenset antall",
        _IN: r"på lager|tilgjengelig|(?:kun |bare )?\d+ (?:igjen|på lager)",
    },
    "fi": {
        _DISCONTINUED: r"poistunut valikoimasta|poistuva tuote loppu",
        _SOLD_OUT: r"loppuunmyyty",
        _OUT: r"ei (?:varastossa|saatavilla)|loppu(?: varastosta)?|tulossa (?:pian|myyntiin)|tilapäisesti loppu",
        _PRE_ORDER: r"ennakkotila\w*",
        _BACK_ORDER: r"tilaustuote|(?:saatavilla )?jälkitoimituksena",
        _IN: r"varastossa|saatavilla|heti saatavilla",
    },
    "ru": {
        _DISCONTINUED: r"снят[оа]? с производства|больше не производится",
        _SOLD_OUT: r"распродан[оаы]?",
        _OUT: r"нет (?:в наличии|на складе)|отсутствует|закончил\w+|ожидается(?: поступление)?|сообщить о поступлении"
        r"|временно (?:нет|отсутствует)|недоступ[ен]\w*",
        _PRE_ORDER: r"предзаказ\w*",
        _BACK_ORDER: r"на заказ|под заказ",
        _LIMITED: r"заканчивается|осталось мало|последний экземпляр",
        _IN: r"в наличии|есть на складе|на складе|осталось \d+ шт",
    },
    "uk": {
        _DISCONTINUED: r"знят[оа]? з виробництва",
        _SOLD_OUT: r"розпродано",
        _OUT: r"нема[єе]? (?:в|у) наявності|відсутній|закінчи\w+|повідомити про наявність|немає на складі",
        _PRE_ORDER: r"передзамовлення",
        _BACK_ORDER: r"під замовлення",
        _LIMITED: r"закінчується",
        _IN: r"(?:в|у|є в) наявності|є на складі",
    },
    "bg": {
        _OUT: r"изчерпан\w*|няма (?:в )?налич\w+|не е наличен",
        _IN: r"в наличност|наличен|налично|на склад",
    },
    "hu": {
        _OUT: r"nincs (?:raktáron|készleten)|elfogyott|nem (?:elérhető|rendelhető)",
        _IN: r"raktáron|készleten|elérhető",
    },
    "ro": {
        _OUT: r"stoc epuizat|indisponibil[ăe]?|nu este în stoc|fără stoc",
        _BACK_ORDER: r"la comandă|disponibil la comandă",
        _LIMITED: r"ultimele (?:bucăți|produse)|stoc limitat",
        _IN: r"(?:în|in) stoc|disponibil",
    },
    "hr": {
        _SOLD_OUT: r"rasprodano|razprodano",
        _OUT: r"nije (?:dostupn\w+|na (?:zalihi|skladištu))|nema na (?:zalihi|skladištu)|ni na zalogi",
        _BACK_ORDER: r"po narudžbi|po naročilu",
        _IN: r"na (?:zalihi|skladištu|zalogi)|raspoloživo|dostupno",
    },
    "tr": {
        _SOLD_OUT: r"tükendi",
        _OUT: r"stokta yok|stokta kalmadı",
        _PRE_ORDER: r"ön sipariş",
        _IN: r"stokta(?: var)?",
    },
    "el": {
        _SOLD_OUT: r"εξαντλ\w+",
        _OUT: r"μη διαθέσιμ\w+",
        _BACK_ORDER: r"κατόπιν παραγγελίας",
        _IN: r"άμεσα διαθέσιμ\w+|διαθέσιμ\w+|σε απόθεμα",
    },
    "et": {_SOLD_OUT: r"läbi müüdud", _OUT: r"laost otsas|otsas|pole laos|ei ole laos", _IN: r"laos|saadaval"},
    "lv": {_OUT: r"nav (?:noliktavā|pieejams|krājumā)|izpārdots", _IN: r"ir (?:noliktavā|pieejams)|noliktavā|pieejams"},
    "lt": {_OUT: r"nėra (?:sandėlyje|prekės)|išparduota|neturime", _IN: r"yra sandėlyje|turime|sandėlyje"},
    "vi": {_OUT: r"hết hàng", _IN: r"còn hàng"},
    "id": {_OUT: r"(?:stok )?habis", _IN: r"tersedia|ready stock"},
    "ar": {_OUT: r"نفد|غير متوفر", _IN: r"متوفر|موجود"},
    "fa": {_OUT: r"ناموجود", _IN: r"موجود"},
    "he": {_OUT: r"אזל(?: מהמלאי)?", _IN: r"במלאי"},
}

UNSPACED: dict[str, dict[Availability, str]] = {
    "ja": {
        _OUT: r"在庫(?:なし|切れ)|品切れ",
        _SOLD_OUT: r"売り切れ|売切れ|完売",
        _PRE_ORDER: r"予約",
        _MADE: r"受注生産",
        _IN: r"在庫あり",
    },
    "zh": {
        _OUT: r"缺货|缺貨|无货|無貨|补货中|補貨中",
        _SOLD_OUT: r"售罄|售完",
        _PRE_ORDER: r"预订|預購",
        _IN: r"有货|有貨|现货|現貨",
    },
    "ko": {_OUT: r"일시품절|입고 ?예정", _SOLD_OUT: r"품절", _PRE_ORDER: r"예약", _IN: r"재고 ?있음"},
}
"""The same for scripts that put no spaces between words."""
