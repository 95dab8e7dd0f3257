"""Monthly totals from a database: what takes the time is SQLite's, and it is little."""

import sqlite3

with sqlite3.connect(":memory:") as base:
    base.execute("create table sale (month integer, cents integer)")
    base.executemany("insert into sale values (?, ?)", ((i % 12, i * 37 % 10_000) for i in range(60_000)))
    for month, total in base.execute("select month, sum(cents) from sale group by month order by 2 desc limit 3"):
        print(month, total)
