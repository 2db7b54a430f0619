-- Rows reference each other by `key`, a small number that never leaves the store; `id` is the public one.
-- Columns that change with every message are in narrow rows; sealed text, which changes rarely, has its own tables.

CREATE TABLE migration (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  applied_at INTEGER NOT NULL
) STRICT;

-- One row, written at every start: the settings of a connection are read back after a write.
CREATE TABLE last_start (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  at INTEGER NOT NULL
) STRICT;
INSERT INTO last_start (only, at) VALUES (1, 0);

-- A key is never reused: the remains of a removed account must not become another's.
CREATE TABLE account (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  public_key TEXT NOT NULL UNIQUE,
  clock INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE account_cells (
  account INTEGER PRIMARY KEY REFERENCES account (key),
  settings TEXT,
  settings_version INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Kept forever: a login with a forgotten challenge could be replayed.
CREATE TABLE used_challenge (
  hash BLOB PRIMARY KEY CHECK (length(hash) = 32)
) STRICT, WITHOUT ROWID;

CREATE TABLE token (
  key INTEGER PRIMARY KEY,
  account INTEGER NOT NULL REFERENCES account (key),
  id TEXT NOT NULL UNIQUE,
  hash TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  label TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL
) STRICT;
CREATE INDEX token_by_account ON token (account);

-- `response` is wiped when the request ends; `answer_hash` still recognizes a repeated answer.
CREATE TABLE pairing (
  kind TEXT NOT NULL,
  public_key TEXT NOT NULL,
  supports_v2 INTEGER NOT NULL,
  asked_from TEXT NOT NULL,
  account INTEGER REFERENCES account (key),
  response TEXT,
  answer_hash BLOB,
  delivered INTEGER NOT NULL DEFAULT 0,
  ends_at INTEGER NOT NULL,
  PRIMARY KEY (kind, public_key)
) STRICT, WITHOUT ROWID;

CREATE TABLE session (
  key INTEGER PRIMARY KEY,
  account INTEGER NOT NULL REFERENCES account (key),
  id TEXT NOT NULL,
  tag TEXT NOT NULL,
  last_seq INTEGER NOT NULL DEFAULT 0,
  active INTEGER NOT NULL,
  active_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (account, id),
  UNIQUE (account, tag)
) STRICT;
CREATE INDEX session_active ON session (active_at) WHERE active = 1;

CREATE TABLE session_cells (
  session INTEGER PRIMARY KEY REFERENCES session (key),
  account INTEGER NOT NULL REFERENCES account (key),
  data_key TEXT,
  metadata TEXT,
  metadata_version INTEGER NOT NULL,
  agent_state TEXT,
  agent_state_version INTEGER NOT NULL
) STRICT;

-- A table with rowids grows at its end whichever session writes, so consecutive inserts share pages.
CREATE TABLE message (
  account INTEGER NOT NULL,
  session INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  local_id TEXT,
  created_at INTEGER NOT NULL,
  sealed TEXT NOT NULL,
  PRIMARY KEY (account, session, seq)
) STRICT;
CREATE UNIQUE INDEX message_by_local_id ON message (account, session, local_id) WHERE local_id IS NOT NULL;

CREATE TABLE machine (
  key INTEGER PRIMARY KEY,
  account INTEGER NOT NULL REFERENCES account (key),
  id TEXT NOT NULL,
  data_key TEXT,
  metadata TEXT,
  metadata_version INTEGER NOT NULL,
  daemon_state TEXT,
  daemon_state_version INTEGER NOT NULL,
  active INTEGER NOT NULL,
  active_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (account, id)
) STRICT;
CREATE INDEX machine_active ON machine (active_at) WHERE active = 1;

CREATE TABLE push_token (
  account INTEGER NOT NULL REFERENCES account (key),
  token TEXT NOT NULL,
  id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (account, token)
) STRICT, WITHOUT ROWID;
