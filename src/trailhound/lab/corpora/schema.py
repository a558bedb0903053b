"""The tables of a corpus file, and how a file says what it is.

A corpus is one SQLite database. The application id in its header tells it from other databases,
the user version is the version of this format. Pages are numbered 0, 1, 2 … in the order in which
they were added; every other table refers to them by that number.
"""

from __future__ import annotations

# "THCo" in ASCII: stored at byte 68 of the file, where tools such as `file` look for it.
APPLICATION_ID = 0x5448436F
FORMAT_VERSION = 1
RECOMMENDED_SUFFIX = ".thc"

# SQLite's file header: a fixed first line, page size at byte 16, number of pages at byte 28.
HEADER_BYTES = 100
SQLITE_MAGIC = b"SQLite format 3\x00"

# `records` and `sources` hold one compressed blob per page and stay apart from `pages`, so that
# reading all addresses touches a few kilobytes and not the whole file.
TABLES = f"""
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {FORMAT_VERSION};
CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE pages (
    id INTEGER PRIMARY KEY, url TEXT NOT NULL, status INTEGER NOT NULL, content_type TEXT NOT NULL
);
CREATE TABLE records (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE sources (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE others (
    url TEXT PRIMARY KEY, status INTEGER NOT NULL, target TEXT, content_type TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE labels (label TEXT, page INTEGER, PRIMARY KEY (label, page)) WITHOUT ROWID;
CREATE TABLE groups (page INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE duplicates (url TEXT PRIMARY KEY, original TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE trails (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE sessions (id INTEGER PRIMARY KEY, topic TEXT NOT NULL, data BLOB NOT NULL);
"""

# Keys of `meta`. The description is JSON, the arrays of the link graph are compressed int32.
META_INFO = "info"
META_INDPTR = "link_graph.indptr"
META_INDICES = "link_graph.indices"
