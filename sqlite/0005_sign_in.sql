-- Sign-ins that expire, have scopes and belong to a device; and sign-ins with nonces of the server.

-- `public_key` is the key with which the device renews its tokens; null for one that signed in as existing clients do.
CREATE TABLE device (
  key INTEGER PRIMARY KEY,
  account INTEGER NOT NULL REFERENCES account (key),
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  public_key TEXT,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL,
  last_used_from TEXT NOT NULL,
  UNIQUE (account, public_key)
) STRICT;
CREATE INDEX device_by_use ON device (last_used_at) WHERE public_key IS NOT NULL;

-- `scopes` are words separated by spaces. A token with `idle_ms` expires that long after its last use.
ALTER TABLE token ADD COLUMN device INTEGER REFERENCES device (key) ON DELETE CASCADE;
ALTER TABLE token ADD COLUMN scopes TEXT NOT NULL DEFAULT '';
ALTER TABLE token ADD COLUMN last_used_from TEXT NOT NULL DEFAULT '';
ALTER TABLE token ADD COLUMN expires_at INTEGER;
ALTER TABLE token ADD COLUMN idle_ms INTEGER;
CREATE INDEX token_by_device ON token (device);
CREATE INDEX token_by_end ON token (expires_at) WHERE expires_at IS NOT NULL;

-- Tokens that ended, kept for a day: for instances that may have missed the announcement.
CREATE TABLE revocation (
  token TEXT PRIMARY KEY,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX revocation_by_time ON revocation (at);

ALTER TABLE push_token ADD COLUMN device INTEGER REFERENCES device (key) ON DELETE CASCADE;
CREATE INDEX push_token_by_device ON push_token (device);
ALTER TABLE pairing ADD COLUMN answered_by INTEGER REFERENCES device (key) ON DELETE SET NULL;
-- Whether a delivered answer was requested again; its account is notified of that once.
ALTER TABLE pairing ADD COLUMN asked_again INTEGER NOT NULL DEFAULT 0;
CREATE INDEX pairing_by_device ON pairing (answered_by) WHERE answered_by IS NOT NULL;

-- Whether existing clients may sign in to the account with challenges they choose: on, once or off; and how often they did.
ALTER TABLE account ADD COLUMN legacy_login TEXT NOT NULL DEFAULT 'on';
ALTER TABLE account ADD COLUMN legacy_logins INTEGER NOT NULL DEFAULT 0;

-- Until when challenges chosen by clients are rejected: after a backup was restored, those used since then are unknown.
CREATE TABLE legacy_hold (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  until INTEGER NOT NULL
) STRICT;
INSERT INTO legacy_hold (only, until) VALUES (1, 0);

-- Secrets that all instances of the server share.
CREATE TABLE server_secret (
  name TEXT PRIMARY KEY,
  value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Nonces of the server expire, so unlike challenges they are kept for only a day.
CREATE TABLE used_nonce (
  hash BLOB PRIMARY KEY CHECK (length(hash) = 32),
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX used_nonce_by_time ON used_nonce (at);

-- Pairing requests with a check code, kept until a day after they ended. `response` is wiped when they end.
CREATE TABLE pairing_request (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  public_key TEXT NOT NULL,
  device_key TEXT NOT NULL,
  poll_hash TEXT NOT NULL,
  asked_from TEXT NOT NULL,
  account INTEGER REFERENCES account (key),
  answered_by INTEGER REFERENCES device (key) ON DELETE SET NULL,
  response TEXT,
  answer_hash BLOB,
  state TEXT NOT NULL DEFAULT 'waiting',
  asked_again INTEGER NOT NULL DEFAULT 0,
  ends_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX pairing_request_by_end ON pairing_request (ends_at);
CREATE INDEX pairing_request_waiting ON pairing_request (asked_from) WHERE state = 'waiting';
CREATE INDEX pairing_request_by_account ON pairing_request (account) WHERE account IS NOT NULL;
CREATE INDEX pairing_request_by_device ON pairing_request (answered_by) WHERE answered_by IS NOT NULL;
