-- `value` is null once the key is removed; the row stays, so that its version never decreases.
CREATE TABLE kv (
  account INTEGER NOT NULL REFERENCES account (key),
  name TEXT NOT NULL,
  version INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  value TEXT,
  PRIMARY KEY (account, name)
) STRICT;

-- The body is the last column: a list reads everything before it, and none of it.
CREATE TABLE artifact (
  key INTEGER PRIMARY KEY,
  account INTEGER NOT NULL REFERENCES account (key),
  id TEXT NOT NULL,
  seq INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  data_key TEXT NOT NULL,
  bytes INTEGER NOT NULL DEFAULT 0,
  header_version INTEGER NOT NULL,
  body_version INTEGER NOT NULL,
  header TEXT NOT NULL,
  body TEXT NOT NULL,
  UNIQUE (account, id)
) STRICT;
CREATE INDEX artifact_by_change ON artifact (account, updated_at);

CREATE TABLE access_key (
  account INTEGER NOT NULL REFERENCES account (key),
  session INTEGER NOT NULL,
  machine INTEGER NOT NULL,
  data TEXT NOT NULL,
  data_version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (account, session, machine)
) STRICT;

-- `session` is 0 in a report without a session: with null every such report would count as a new one.
CREATE TABLE usage_report (
  account INTEGER NOT NULL REFERENCES account (key),
  session INTEGER NOT NULL,
  name TEXT NOT NULL,
  id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  tokens TEXT NOT NULL,
  cost TEXT NOT NULL,
  PRIMARY KEY (account, session, name)
) STRICT;
CREATE INDEX usage_report_by_time ON usage_report (account, created_at);
