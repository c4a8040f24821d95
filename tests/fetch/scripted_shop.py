"""A shop whose pages need a browser, and misbehave in one: each path is one thing that browsers meet."""

from __future__ import annotations

import asyncio
import gzip
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import WSMsgType, web

from tests.vendors.serving import Served, app_port

FINAL = "<!doctype html><title>Mug</title><h1>Mug</h1><p class=price>€ 12.50</p>"
# Case W04: a skeleton, its price by a script after a while, and beacons that never end.
SKELETON = """<!doctype html><h1>Mug</h1><span class=price>$0.00</span><script>
setInterval(() => fetch('/beacon', {method: 'POST'}), 50); fetch('/never');
setTimeout(async () => {
  document.querySelector('.price').textContent = await (await fetch('/api/price')).text();
}, 300);
</script>"""
ASSETS = """<!doctype html><link rel=stylesheet href=/site.css><h1>Mug</h1><img src=/mug.png>
<video src=/mug.mp4></video><script src=/app.js></script><script src=http://stats.doubleclick.net/a.js></script>
<script src=http://www.google-analytics.com/ga.js></script>"""
DIALOGS = """<!doctype html><body><script>
alert('one'); const said = confirm('two'); prompt('three'); open('/popup'); print();
onbeforeunload = event => { event.preventDefault(); return 'stay'; };
document.body.innerHTML = `<h1>confirmed: ${said}</h1>`;
</script>"""
CHALLENGE = """<!doctype html><title>Just a moment...</title><h1>Checking your browser</h1><script>
window._cf_chl_opt = {}; setTimeout(() => { document.cookie = 'passed=1'; location.reload(); }, 500);
</script>"""
WORKER = """<!doctype html><h1>none</h1><script>
navigator.serviceWorker.register('/sw.js').catch(() => 0).then(async () => {
  document.querySelector('h1').textContent = (await navigator.serviceWorker.getRegistrations()).length + ' workers';
});
</script>"""
REACHING = """<!doctype html><h1>reached:</h1><iframe src={secret}/frame></iframe><script>
const told = text => document.querySelector('h1').textContent += ' ' + text;
fetch('{secret}/fetch', {{mode: 'no-cors'}}).then(() => told('fetch'), () => 0);
const socket = new WebSocket('{secret}/socket'.replace('http', 'ws')); socket.onopen = () => told('socket');
navigator.sendBeacon('{secret}/beacon'); new Image().src = '{secret}/image.png';
const apart = name => URL.createObjectURL(new Blob([`fetch('{secret}/${{name}}', {{mode: 'no-cors'}})`]));
new Worker(apart('worker')); new SharedWorker(apart('shared'));
fetch('/hop?to={secret}/hop', {{mode: 'no-cors'}}).then(() => told('hop'), () => 0);
</script>"""
OPENING = """<!doctype html><h1>opened</h1><a id=link target=_blank href={secret}/link></a><script>
open('{secret}/popup'); open('{secret}/alone', '_blank', 'noopener'); link.click(); open('/hop?to={secret}/hopped');
</script>"""
STUCK_CHALLENGE = "<!doctype html><title>Just a moment...</title><script>window._cf_chl_opt = {}</script>"
STATUS = {"/gone": 404, "/busy": 503, "/p/refused": 403}
PAGES = {
    "/p/1": FINAL,
    "/p/skeleton": SKELETON,
    "/p/stuck": "<!doctype html><h1>Mug</h1><span class=price>Loading…</span>",
    "/p/other": "<!doctype html><title>Mug</title><h1>Mug</h1><p>Nothing that anybody waits for.</p>"
    + "<p>text</p>" * 80,
    "/p/missing": "<!doctype html><title>Page not found</title><h1>Page not found</h1>" + "<p>text</p>" * 80,
    "/refresh": "<meta http-equiv=refresh content='0; url=result'>first",
    "/consent": "<h1>Consent</h1><script>setTimeout(() => location.replace('/result'), 150)</script>",
    "/result": FINAL,
    "/p/refused": STUCK_CHALLENGE + "<p>text</p>" * 80,
    "/p/stuck-challenge": STUCK_CHALLENGE + "<p>text</p>" * 80,
    "/p/robot": "<!doctype html><title>Robot Check</title><form action='/errors/validateCaptcha'></form>"
    + "<p>text</p>" * 80,
    "/gone": "<title>Gone</title><h1>Gone</h1>",
    "/dialogs": DIALOGS,
    "/assets": ASSETS,
    "/worker": WORKER,
    "/reload": "<script>setTimeout(() => location.reload(), 20)</script>",
    "/away": "<script>location = 'file:///etc/hostname'</script><h1>here</h1>",
    "/blank": "<script>location = 'about:blank'</script>",
    "/popup": "<h1>popup</h1>",
    "/huge-dom": "<script>document.write('<p>' + 'x'.repeat(2000000))</script>",
}


class ScriptedShop(Served):
    """Serves at ``url``. ``asked`` counts paths, ``agents`` has the last User-Agent, ``open`` what is answered now."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.agents: dict[str, str] = {}
        self.headers: dict[str, str] = {}
        self.url = ""

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Listen on a free port."""
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        async with app_port(app) as port:
            self.url = f"http://127.0.0.1:{port}"
            yield

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        path = request.path
        self.asked[path] += 1
        self.headers = dict(request.headers)
        if handler := getattr(self, f"_get_{path[1:].replace('/', '_').replace('.', '_').replace('-', '_')}", None):
            answer: web.StreamResponse = await handler(request)
            return answer
        if path in PAGES:
            return _html(PAGES[path], STATUS.get(path, 200))
        return _html("<h1>no such page</h1>", 404)

    async def _get_api_price(self, request: web.Request) -> web.Response:
        return web.Response(text="$49.00")

    async def _get_never(self, request: web.Request) -> web.Response:
        await asyncio.sleep(30)
        return web.Response()

    async def _get_latin(self, request: web.Request) -> web.Response:
        body = "<meta charset=iso-8859-15><h1>Müller Töpfe €</h1>".encode("iso-8859-15")
        headers = {"Content-Type": "text/html; charset=iso-8859-15", "ETag": '"shell"', "Last-Modified": "now"}
        return web.Response(body=body, headers={**headers, "Set-Cookie": "seen=1", "X-Shop": "yes"})

    async def _get_sitemap_xml(self, request: web.Request) -> web.Response:
        headers = {"Content-Type": "application/xml", "Content-Encoding": "gzip", "ETag": '"map"'}
        return web.Response(body=gzip.compress(b"<?xml version='1.0'?><urlset/>"), headers=headers)

    async def _get_data_json(self, request: web.Request) -> web.Response:
        return web.Response(text='{"price": "ü"}', content_type="application/json")

    async def _get_file_pdf(self, request: web.Request) -> web.Response:
        return web.Response(body=b"%PDF-1.4 \xff", content_type="application/pdf")

    async def _get_page_download(self, request: web.Request) -> web.Response:
        return web.Response(text=FINAL, content_type="text/html", headers={"Content-Disposition": "attachment; x"})

    async def _get_endless_zip(self, request: web.Request) -> web.StreamResponse:
        return await _endless(request, "application/zip")

    async def _get_endless(self, request: web.Request) -> web.StreamResponse:
        return await _endless(request, "text/html")

    async def _get_bomb(self, request: web.Request) -> web.Response:
        body = gzip.compress(b"<p>" + b"0" * 40_000_000)
        return web.Response(body=body, headers={"Content-Type": "text/html", "Content-Encoding": "gzip"})

    async def _get_announced(self, request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"Content-Type": "text/html", "Content-Length": "50000000"})
        await answer.prepare(request)
        await asyncio.sleep(30)
        return answer

    async def _get_cut(self, request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"Content-Type": "text/html", "Content-Length": "5000"})
        await answer.prepare(request)
        await answer.write(b"<h1>Mug</h1>")
        await asyncio.sleep(0.1)
        assert request.transport is not None
        request.transport.close()
        return answer

    async def _get_nothing(self, request: web.Request) -> web.Response:
        return web.Response(status=204)

    async def _get_hang(self, request: web.Request) -> web.Response:
        await asyncio.sleep(60)
        return web.Response()

    async def _get_moved(self, request: web.Request) -> web.Response:
        raise web.HTTPFound("/moved-again")

    async def _get_moved_again(self, request: web.Request) -> web.Response:
        raise web.HTTPFound("/result", headers={"Set-Cookie": "seen=1; Max-Age=600"})

    async def _get_loop(self, request: web.Request) -> web.Response:
        raise web.HTTPFound("/loop")

    async def _get_hop(self, request: web.Request) -> web.Response:
        raise web.HTTPFound(request.query["to"])

    async def _get_later(self, request: web.Request) -> web.Response:
        return _html(f"<script>location = '/hop?to={request.query['to']}'</script>")

    async def _get_reaching(self, request: web.Request) -> web.Response:
        return _html(REACHING.format(secret=request.query["to"]))

    async def _get_framed(self, request: web.Request) -> web.Response:
        to, first, *rest = request.query["to"], *request.query["by"].split(",")
        frame = f"<iframe src='http://{first}/framed?to={to}&by={','.join(rest)}'></iframe>" if first else ""
        return _html(REACHING.format(secret=to) + frame)

    async def _get_embedding(self, request: web.Request) -> web.Response:
        return _html(f"<h1>Mug</h1><iframe src=http://{request.query['of']}></iframe>")

    async def _get_opening(self, request: web.Request) -> web.Response:
        return _html(OPENING.format(secret=request.query["to"]))

    async def _get_borrowing(self, request: web.Request) -> web.Response:
        return _html(f"<h1>Mug</h1><script src={request.query['to']}/app.js></script>")

    async def _get_cookies(self, request: web.Request) -> web.Response:
        said = "; ".join(sorted(f"{name}={value}" for name, value in request.cookies.items()))
        return _html(f"<h1>{said or 'none'}</h1>")

    async def _get_challenge(self, request: web.Request) -> web.Response:
        status = int(request.query.get("status", "403"))
        return _html(FINAL) if "passed" in request.cookies else _html(CHALLENGE, status)

    async def _get_p_cookie_first(self, request: web.Request) -> web.Response:
        if "entry" in request.cookies:
            return _html(FINAL)
        answer = _html("<!doctype html><meta http-equiv=refresh content=1><h1>One moment</h1>")
        answer.set_cookie("entry", "1")
        return answer

    async def _get_site_css(self, request: web.Request) -> web.Response:
        return _cached("@font-face {font-family: x; src: url(/x.woff2)} h1 {font-family: x}", "text/css")

    async def _get_app_js(self, request: web.Request) -> web.Response:
        return _cached("document.querySelector('h1').textContent += ' with scripts'", "text/javascript")

    async def _get_sw_js(self, request: web.Request) -> web.Response:
        return web.Response(text="", content_type="text/javascript")

    async def _get_socket(self, request: web.Request) -> web.WebSocketResponse:
        answer = web.WebSocketResponse()
        await answer.prepare(request)
        async for message in answer:
            if message.type is WSMsgType.TEXT:
                await answer.send_str(message.data)
        return answer


async def _endless(request: web.Request, kind: str) -> web.StreamResponse:
    answer = web.StreamResponse(headers={"Content-Type": kind})
    await answer.prepare(request)
    for _ in range(400):
        await answer.write(b"x" * 50_000)
    return answer


def _html(text: str, status: int = 200) -> web.Response:
    return web.Response(text=text, status=status, content_type="text/html")


def _cached(text: str, kind: str) -> web.Response:
    return web.Response(text=text, content_type=kind, headers={"Cache-Control": "max-age=600"})
