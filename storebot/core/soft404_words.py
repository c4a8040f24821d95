"""How shops say "this page isn't here", by language, and the marks that shop software leaves on such pages.

Source: the not-found pages of the interfaces of WordPress, Shopify, Magento, PrestaShop, OpenCart and Shopware in these
languages; written down by hand in 2026. Patterns of whole words, in lower case.
"""

from __future__ import annotations

# The page, whatever was to be on it: said of no page that sells something.
PAGE_GONE: dict[str, str] = {
    "en": r"(?:page|url|address) (?:(?:was|is|could|can) ?not|cannot|can't|couldn't|not) (?:be )?found"
    r"|(?:page|product|item)(?: you (?:requested|(?:a|we)re looking for))? (?:does not|doesn't|no longer) exists?"
    r"|we (?:can't|cannot|couldn't|could not) find (?:that|the|this|your) (?:page|product)"
    r"|page (?:is )?(?:missing|unavailable|not available)|oops!?[ ,.]*(?:that|this|the) page"
    r"|(?:no such|unknown) (?:page|product|item)",
    "de": r"(?:seite|artikel|produkt) (?:wurde |konnte |kann )?(?:leider )?nicht gefunden(?: werden)?"
    r"|(?:seite|artikel|produkt) existiert (?:leider )?nicht(?: mehr)?|seite nicht (?:vorhanden|verfügbar)",
    "fr": r"page (?:introuvable|non trouvée|inexistante|inconnue)"
    r"|(?:page|produit)(?: que vous (?:cherchez|recherchez|demandez|avez demandée?))? n['’]existe (?:pas|plus)"
    r"|(?:page|produit) n['’]a pas (?:pu )?être? trouvée?|produit introuvable|aucun résultat trouvé",
    "es": r"página (?:no (?:encontrada|existe|disponible)|inexistente)|(?:página|producto) no (?:se )?(?:ha )?"
    r"(?:encontrad[oa]|encuentra|existe)|no (?:se )?(?:encontró|encontramos|pudimos encontrar) (?:la|esta|el|este)",
    "it": r"pagina non (?:trovata|esiste\w*|disponibile)|prodotto non trovato|la pagina (?:richiesta|cercata) non",
    "pt": r"página (?:não (?:encontrada|existe|localizada)|inexistente)|produto não (?:encontrado|existe|localizado)",
    "nl": r"pagina (?:niet (?:gevonden|beschikbaar)|bestaat niet)|product (?:niet gevonden|bestaat niet)",
    "pl": r"(?:strona|strony|produkt\w*) nie (?:została? )?(?:znalezion\w+|istnieje)|nie (?:znaleziono|odnaleziono)",
    "sv": r"sidan (?:hittades inte|kunde inte hittas|finns inte|saknas)|produkten (?:hittades|finns) inte",
    "da": r"siden (?:blev ikke fundet|findes ikke|kunne ikke findes|kan ikke findes)|varen findes ikke",
    "nb": r"siden (?:ble ikke funnet|finnes ikke|fins ikke)|fant ikke siden|varen finnes ikke",
    "fi": r"sivua ei (?:löytynyt|löydy|ole)|tuotetta ei (?:löytynyt|löydy)",
    "cs": r"stránka (?:nenalezena|nebyla nalezena|neexistuje)|(?:produkt|zboží) (?:nenalezen\w*|nebyl\w* nalezen\w*)",
    "sk": r"stránka (?:sa nenašla|nenájdená|neexistuje)|produkt (?:sa nenašiel|neexistuje)",
    "hu": r"az? oldal nem (?:található|létezik)|a (?:keresett )?(?:oldal|termék) nem (?:található|létezik)",
    "ro": r"pagina (?:nu (?:a fost găsită|există)|inexistentă)|produsul nu (?:a fost găsit|există)",
    "tr": r"sayfa bulunamadı|ürün bulunamadı|aradığınız (?:sayfa|ürün) (?:bulunamadı|mevcut değil)",
    "el": r"η σελίδα δεν (?:βρέθηκε|υπάρχει)|το προϊόν δεν (?:βρέθηκε|υπάρχει)",
    "ru": r"страница не (?:найдена|существует)|(?:товар|продукт) не найден|такой страницы (?:нет|не существует)",
    "uk": r"сторінк\w+ не (?:знайдено|знайдена|існує)|товар не знайдено",
    "bg": r"страницата не (?:е намерена|беше намерена|съществува)|продуктът не (?:е намерен|съществува)",
    "hr": r"stranica nije (?:pronađena|dostupna)|stranica ne postoji|proizvod nije pronađen",
    "ar": r"الصفحة غير موجودة|لم يتم العثور على الصفحة",
    "he": r"הדף לא נמצא|העמוד לא נמצא",
    "ja": r"ページが見つかりません|お探しのページは|商品が見つかりません",
    "ko": r"페이지를 찾을 수 없습니다|존재하지 않는 (?:페이지|상품)",
    "zh": r"页面不存在|找不到(?:该)?页面|頁面不存在|找不到(?:此)?頁面|商品不存在",
    "vi": r"không tìm thấy trang|trang không tồn tại",
    "id": r"halaman tidak ditemukan",
}

# The same where nothing else stands before it: as part of a name it could be anything.
BARE = r"(?:not|nothing|nichts|niets|rien) (?:found|gefunden|gevonden|trouvé)|page (?:missing|unavailable)"

# The product, in words that a page which still shows it says, too: evidence only where nothing else is said.
PRODUCT_GONE: dict[str, str] = {
    "en": r"(?:product|item|article|listing)(?: you (?:requested|(?:a|we)re looking for))? (?:is|was|has been) "
    r"(?:no longer (?:available|sold|offered)|removed|deleted|discontinued)",
    "de": r"(?:artikel|produkt) (?:ist )?(?:leider )?nicht mehr (?:verfügbar|erhältlich|lieferbar|im sortiment)",
    "fr": r"(?:produit|article) n['’]est (?:plus|pas) (?:disponible|commercialisé|en vente)",
    "es": r"(?:producto|artículo) (?:ya )?no (?:está )?disponible",
    "it": r"(?:prodotto|articolo) non (?:è )?(?:più )?disponibile",
    "pt": r"produto (?:já )?não (?:está )?(?:mais )?disponível",
    "nl": r"(?:product|artikel) is niet (?:meer|langer) (?:leverbaar|verkrijgbaar|beschikbaar)",
    "pl": r"produkt (?:jest )?(?:już )?niedostępny|produkt został (?:usunięty|wycofany)",
    "sv": r"produkten (?:finns inte längre|har utgått|är inte längre tillgänglig)",
    "cs": r"(?:produkt|zboží) již není (?:dostupn\w+|v nabídce)",
    "ru": r"товар (?:больше не (?:продаётся|продается|доступен)|снят с продажи)",
}

# What stands on the body or html element, as class or id.
MARKS = (
    "error404",  # WordPress, and WooCommerce with it
    "template-404",  # Shopify's themes
    "cms-no-route",  # Magento
    "cms-noroute-index",
    "pagenotfound",  # PrestaShop
    "page-not-found",
    "error-not_found",  # OpenCart
    "error-not-found",
    "is-ctl-error",  # Shopware
    "page-404",
    "error-404",
)

# Pages that say that the shop, not the product, isn't there: never evidence.
OUTAGE = (
    r"maintenance|be (?:right )?back (?:soon|shortly)|wartung\w*|scheduled downtime|temporarily (?:unavailable|down)"
    r"|vorübergehend nicht|mantenimiento|manutenzione|manutenção|onderhoud|техническ\w+ работ\w*|coming soon"
    r"|internal (?:server )?error|server error|something went wrong|service unavailable|too many requests"
)
# Addresses that a shop sends visitors to for other reasons than a product that is gone.
ELSEWHERE = (
    r"log-?in|log-?on|sign-?in|anmeld\w*|connexion|accedi|iniciar-sesion|account|konto|auth\w*|sso|oauth\w*|customer"
    r"|cart|basket|warenkorb|panier|checkout|captcha|challenge|verify|validate\w*|consent|cookies?|privacy|age-?(?:gate|check)"
    r"|error|errors|fehler|busy|queue|wait\w*|maintenance|wartung|blocked|denied|country|region|locale|password"
)
NOT_FOUND_PATH = r"404|not-?found|page-?not-?found|no-?route|pagenotfound|error-?404"
