# scrapyd-deploy calls this file, and writes one without the package data where there is none; pyproject.toml says all.
__import__("setuptools").setup()
