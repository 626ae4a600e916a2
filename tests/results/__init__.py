"""The result table, its files, and what people do with it next."""
