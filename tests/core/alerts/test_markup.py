"""Signs of names are shown as they are by every service."""

from __future__ import annotations

import pytest

from storebot.core.alerts.markup import escaped

TEXT = "# USB_C hub [2*4] `x`\n> at https://s.example/p/usb_c?x_y=1*2"


@pytest.mark.parametrize("service", ["mailtos", "tgram", "slack", "json", "xmpp"])
def test_a_service_that_apprise_escapes_for_or_that_knows_no_markup_gets_the_text_itself(service: str) -> None:
    assert escaped(TEXT, service) == TEXT


@pytest.mark.parametrize("service", ["discord", "mmosts"])
def test_a_service_that_reads_markdown_gets_its_signs_escaped_and_addresses_whole(service: str) -> None:
    assert escaped(TEXT, service) == r"\# USB\_C hub [2\*4] \`x\`" + "\n" + r"\> at https://s.example/p/usb_c?x_y=1*2"
