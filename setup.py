# scrapyd-deploy calls this file, and writes one that leaves the package data out where there is none; pyproject.toml says it all.
__import__("setuptools").setup()
