"""Who starts the browsers that the tier `attached` attaches to, each behind the interface of `vendor`."""
