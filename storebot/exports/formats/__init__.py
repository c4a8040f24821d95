"""One module a format. `storebot.exports.format` finds them: a new one needs no line elsewhere."""
