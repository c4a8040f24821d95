"""A stock django-oscar shop with 300 products. Its modules run in processes of their own, never in the tests'."""
