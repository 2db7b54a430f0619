-- Sealed files of sessions, in pieces. `session` is 0 once the session is removed: its files are deleted later, one at a time.
-- `ends_at` is null once the file is complete; until then only the uploader sees it.
CREATE TABLE attachment (
  key INTEGER PRIMARY KEY,
  account INTEGER NOT NULL REFERENCES account (key),
  session INTEGER NOT NULL,
  id TEXT NOT NULL,
  size INTEGER NOT NULL,
  received INTEGER NOT NULL DEFAULT 0,
  attempt INTEGER NOT NULL DEFAULT 0,
  sha256 TEXT,
  created_at INTEGER NOT NULL,
  ends_at INTEGER,
  UNIQUE (account, session, id)
) STRICT;
CREATE INDEX attachment_ending ON attachment (ends_at) WHERE ends_at IS NOT NULL;

-- `at` is the offset at which a piece begins; each begins where the previous one ends.
CREATE TABLE attachment_piece (
  account INTEGER NOT NULL,
  attachment INTEGER NOT NULL,
  at INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (account, attachment, at)
) STRICT;

ALTER TABLE account ADD COLUMN attachment_bytes INTEGER NOT NULL DEFAULT 0;
