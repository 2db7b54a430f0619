-- Who may create an account: the owner, people with an invitation, and people waiting for approval.
ALTER TABLE account ADD COLUMN role TEXT NOT NULL DEFAULT 'member';

-- `state` is waiting, approved or rejected. A row is useless once `ends_at` has passed.
CREATE TABLE signup (
  public_key TEXT PRIMARY KEY,
  fingerprint TEXT NOT NULL UNIQUE,
  state TEXT NOT NULL,
  client TEXT NOT NULL,
  address TEXT NOT NULL,
  asked_at INTEGER NOT NULL,
  ends_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX signup_by_end ON signup (ends_at);

-- `hash` is that of the code in the link. Until `open_until` one new key from the network `open_for` is accepted without it.
CREATE TABLE invite (
  id TEXT PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  label TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  ends_at INTEGER NOT NULL,
  open_until INTEGER,
  open_for TEXT,
  used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX invite_by_end ON invite (ends_at);
CREATE INDEX invite_by_time ON invite (created_at, id);
CREATE INDEX invite_open ON invite (open_for, open_until) WHERE used_at IS NULL AND open_for IS NOT NULL;

-- The storage used by an account and each of its sessions, updated with the counters that every message changes anyway.
ALTER TABLE account ADD COLUMN messages INTEGER NOT NULL DEFAULT 0;
ALTER TABLE account ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE account ADD COLUMN artifact_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;

-- Keys of removed accounts that still have messages or pieces of attachments.
CREATE TABLE leftover (
  account INTEGER PRIMARY KEY
) STRICT;

-- With these an account can be removed without reading the rows of others.
CREATE INDEX session_cells_by_account ON session_cells (account);
CREATE INDEX pairing_by_account ON pairing (account) WHERE account IS NOT NULL;
CREATE INDEX pairing_waiting ON pairing (ends_at) WHERE account IS NULL AND delivered = 0;
