"""What an answer is that isn't a page: a PDF, an image, an archive, whatever its header calls it."""

from __future__ import annotations

# How files begin: https://mimesniff.spec.whatwg.org/#matching-an-image-type-pattern and the sections after it.
_MAGIC = (
    (b"%PDF-", "a PDF document"),
    (b"\x89PNG\r\n\x1a\n", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"GIF8", "an image"),
    (b"RIFF", "an image, a sound or a film"),
    (b"\0\0\x01\0", "an image"),
    (b"PK\x03\x04", "an archive, or an office document"),
    (b"\x1f\x8b", "an archive"),
    (b"7z\xbc\xaf\x27\x1c", "an archive"),
    (b"Rar!\x1a\x07", "an archive"),
    (b"BZh", "an archive"),
    (b"\x28\xb5\x2f\xfd", "an archive"),
    (b"\xd0\xcf\x11\xe0", "an office document"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90", "a program"),
    (b"wOF", "a font"),
    (b"OggS", "a sound or a film"),
    (b"ID3", "a sound"),
    (b"\x1aE\xdf\xa3", "a film"),
)
_BOMS = (b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")
_PAGES = ("", "text/html", "application/xhtml+xml", "application/xml", "text/xml", "text/plain", "image/svg+xml")
_SNIFFED = 1_024


def not_a_page(body: bytes, content_type: str) -> str:
    """Return in words what an answer is that no product can be read from; "" for text with markup, and for nothing.

    The bytes are believed before the header: a page may come as anything, and a PDF as text/html.
    """
    start = body[:_SNIFFED]
    kind = content_type.partition(";")[0].strip().lower()
    named = f" ({kind})" if kind not in _PAGES else ""
    for magic, what in _MAGIC:
        if start.startswith(magic):
            return what + named
    if start[4:8] == b"ftyp":
        return f"a film or an image{named}"
    if not start or start.lstrip()[:1] == b"<" or start.startswith(_BOMS):
        return ""
    if b"\0" in start and start.count(b"\0") * 3 > len(start.strip(b"\0")):
        return f"binary data{named}"
    return kind if named else ""
