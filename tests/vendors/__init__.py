"""Stand-ins for what others sell, on this machine: proxies, a scraping API, local APIs of anti-detect browsers.

They speak the documented protocols over real sockets; the Chromium behind a profile is a real one.
"""
