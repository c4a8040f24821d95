"""Who gets in, and what a browser may do with an answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from starlette.testclient import TestClient

from storebot.core.dashboard.roles import Role
from storebot.dashboard.app import create_app
from storebot.dashboard.gatekeeper import SESSION
from storebot.dashboard.pages import PICTURES, VIEWS
from storebot.dashboard.rendering import FOLDER
from storebot.dashboard.site import Site
from storebot.db import users
from storebot.db.database import Database
from tests.dashboard.asking import form_token, post

PASSWORD = "correct horse battery"
HASH = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)


@pytest.fixture
def guarded(local_database: Database, client: TestClient) -> TestClient:
    """A dashboard with two users."""
    with local_database.write() as conn:
        users.add(conn, "anna", Role.OPERATOR, HASH, by="root")
        users.add(conn, "ben", Role.VIEWER, HASH, by="root")
    return client


def log_in(client: TestClient, name: str = "anna", password: str = PASSWORD, back: str = "/") -> int:
    fields = {"name": name, "password": password, "back": back, "form_token": form_token(client, "/login")}
    return client.post("/login", data=fields).status_code


class TestAtThisMachine:
    def test_nobody_needs_a_login_while_there_are_no_users(self, client: TestClient) -> None:
        answer = client.get("/audit")
        assert answer.status_code == 200
        assert "tester" in answer.text

    @pytest.mark.parametrize("host", ["evil.example", "dash.example:8080", "10.0.0.5", "127.0.0.1.evil.example"])
    def test_a_name_that_is_not_this_machines_is_refused(self, client: TestClient, host: str) -> None:
        """DNS rebinding (case H03): the name leads here, the page that asks isn't ours."""
        assert client.get("/audit", headers={"Host": host}).status_code == 421

    @pytest.mark.parametrize("host", ["localhost:8080", "127.0.0.1:8080", "[::1]:8080"])
    def test_its_own_names_are_let_in(self, client: TestClient, host: str) -> None:
        assert client.get("/audit", headers={"Host": host}).status_code == 200

    @pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "Via", "X-Real-IP"])
    def test_what_a_proxy_forwards_is_refused_as_it_may_be_anybodys(self, client: TestClient, header: str) -> None:
        assert client.get("/audit", headers={header: "203.0.113.9"}).status_code == 421
        assert client.get("/api/v1/stores/x/runs", headers={header: "203.0.113.9"}).status_code == 421


class TestLogin:
    def test_every_page_picture_and_the_api_want_one_as_soon_as_there_is_a_user(self, guarded: TestClient) -> None:
        for pattern in [*(one.path for one in VIEWS), *(one.path for one in PICTURES)]:
            path = re.sub(r"\{[^}]*\}", "1", pattern)
            answer = guarded.get(path)
            assert (answer.status_code, answer.headers["location"].partition("?")[0]) == (303, "/login"), path
            assert guarded.get("/now.json" if path == "/" else f"{path}.json").status_code == 401, path
        assert guarded.get("/api/v1/stores/x/runs").status_code == 303
        assert guarded.get("/api/openapi.json").status_code == 401

    def test_it_leads_back_to_where_one_wanted_to_go(self, guarded: TestClient) -> None:
        wanted = guarded.get("/audit?who=anna&sort=-at")
        assert wanted.headers["location"] == "/login?back=%2Faudit%3Fwho%3Danna%26sort%3D-at"
        fields = {"name": "anna", "password": PASSWORD, "back": "/audit?who=anna"}
        answer = guarded.post("/login", data={**fields, "form_token": form_token(guarded, "/login")})
        assert (answer.status_code, answer.headers["location"]) == (303, "/audit?who=anna")
        assert guarded.get("/audit").status_code == 200

    @pytest.mark.parametrize("back", ["https://evil.example/", "//evil.example", "/\\evil.example"])
    def test_it_leads_to_no_other_site(self, guarded: TestClient, back: str) -> None:
        assert "evil" not in guarded.get("/login", params={"back": back}).text
        fields = {"name": "anna", "password": PASSWORD, "back": back, "form_token": form_token(guarded, "/login")}
        assert guarded.post("/login", data=fields).headers["location"] == "/"

    @pytest.mark.parametrize(
        ("name", "password"), [("anna", "wrong"), ("nobody", PASSWORD), ("", ""), ("anna", "x" * 9999)]
    )
    def test_wrong_words_say_the_same_whatever_is_wrong(self, guarded: TestClient, name: str, password: str) -> None:
        assert log_in(guarded, name, password) == 401
        assert guarded.get("/audit").status_code == 303

    def test_guessing_is_slowed_down_even_with_the_right_password(self, guarded: TestClient) -> None:
        assert [log_in(guarded, "anna", "wrong") for _ in range(5)] == [401] * 5
        assert log_in(guarded) == 429
        assert log_in(guarded, "ben") == 303  # another's

    def test_each_login_has_a_token_of_its_own_whatever_cookie_came(self, guarded: TestClient) -> None:
        """A session that somebody planted isn't taken over."""
        fields = {"name": "anna", "password": PASSWORD, "form_token": form_token(guarded, "/login")}
        planted = {"Cookie": f"{SESSION}=planted; storebot_visit={guarded.cookies['storebot_visit']}"}
        answer = guarded.post("/login", data=fields, headers=planted)
        assert answer.status_code == 303
        assert "planted" not in str(answer.headers.get_list("set-cookie"))
        assert guarded.get("/audit", headers={"Cookie": f"{SESSION}=planted"}).status_code == 303

    def test_the_cookie_is_for_the_server_alone(self, guarded: TestClient) -> None:
        fields = {"name": "anna", "password": PASSWORD, "form_token": form_token(guarded, "/login")}
        set_cookie = guarded.post("/login", data=fields).headers.get_list("set-cookie")
        session = next(one for one in set_cookie if one.startswith(f"{SESSION}="))
        assert "; HttpOnly" in session
        assert "; SameSite=Lax" in session
        assert "; Path=/" in session

    def test_behind_tls_it_is_bound_to_the_host_and_to_tls(self, local_database: Database) -> None:
        with local_database.write() as conn:
            users.add(conn, "anna", Role.OPERATOR, HASH, by="root")
        site = Site(database=local_database, public_url="https://dash.example")
        with TestClient(create_app(site), base_url="https://dash.example", follow_redirects=False) as client:
            answer = client.get("/login")
            assert answer.headers["set-cookie"].startswith("__Host-storebot_visit=")
            assert "; Secure" in answer.headers["set-cookie"]
            assert answer.headers["strict-transport-security"].startswith("max-age=")

    def test_who_logs_out_is_out(self, guarded: TestClient) -> None:
        log_in(guarded)
        kept = guarded.cookies.get(SESSION)
        assert post(guarded, "/logout", {}).status_code == 303
        guarded.cookies.set(SESSION, kept or "")
        assert guarded.get("/audit").status_code == 303

    def test_a_user_who_is_removed_is_out_at_once(self, guarded: TestClient, local_database: Database) -> None:
        log_in(guarded)
        with local_database.write() as conn:
            users.remove(conn, "anna")
        assert guarded.get("/audit").status_code == 303


class TestTheApi:
    @pytest.fixture
    def with_token(self, local_database: Database) -> Iterator[TestClient]:
        app = create_app(Site(database=local_database, local_user="me"), ["t" * 24])
        with TestClient(app, base_url="https://dash.example", follow_redirects=False) as client:
            yield client

    def test_with_tokens_it_asks_for_one_of_them_and_for_no_login(self, with_token: TestClient) -> None:
        path = "/api/v1/stores/x/runs"
        assert with_token.get(path).status_code == 401
        assert with_token.get(path, headers={"Authorization": f"Bearer {'t' * 24}"}).status_code == 404  # no such store

    def test_without_tokens_it_is_for_whoever_is_logged_in(self, guarded: TestClient) -> None:
        log_in(guarded, "ben")
        assert guarded.get("/api/openapi.json").status_code == 200


class TestEveryAnswer:
    @pytest.mark.parametrize(
        "path", ["/audit", "/audit.json", "/login", "/static/style.css", "/nothing", "/audit?sort=x"]
    )
    def test_it_tells_the_browser_to_do_nothing_but_what_the_page_says(self, client: TestClient, path: str) -> None:
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"

    def test_no_template_has_script_or_style_of_its_own_or_asks_another_host(self) -> None:
        """The policy would keep it from working: better seen here than in a browser's console."""
        templates = sorted((FOLDER / "templates").rglob("*.html"))
        assert templates
        for template in templates:
            text = template.read_text(encoding="utf-8")
            assert not re.search(r"<script(?! src=\"/static/)|<style|\sstyle=|\son[a-z]+=\"|\|\s*safe\b", text), (
                template
            )
            assert not re.search(r"(?:src|href|srcset|action)=\"(?:https?:)?//", text), template

    def test_styles_and_scripts_ask_no_other_host(self) -> None:
        for path in (FOLDER / "static").iterdir():
            text = path.read_text(encoding="utf-8").replace('xmlns="http://www.w3.org/2000/svg"', "")
            assert not re.search(r"https?://|@import|url\(", text), path


def test_no_file_outside_of_the_static_folder_is_served(client: TestClient) -> None:
    for path in (
        "/static/../templates/base.html",
        "/static/%2e%2e/templates/base.html",
        "/static/..%2ftemplates%2fbase.html",
    ):
        assert client.get(path).status_code == 404


def test_what_is_unknown_is_said_in_words_and_as_json_where_that_is_asked_for(
    client: TestClient, tmp_path: Path
) -> None:
    answer = client.get("/audit?colour=red")
    assert answer.status_code == 400
    assert "colour: no such parameter here" in answer.text
    answer = client.get("/audit.json?after=x")
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["detail"] == "after: it isn't from a list of this order; begin again without it"
