-- What changed since a clock: each row stores the clock of its last change, and a removal leaves a tombstone.

-- Changes with a restore: numbers and clocks that clients saw before it now mean something else.
CREATE TABLE epoch (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  id TEXT NOT NULL
) STRICT;
INSERT INTO epoch (only, id) VALUES (1, lower(hex(randomblob(12))));

-- Removals up to this clock are forgotten.
ALTER TABLE account ADD COLUMN forgotten_clock INTEGER NOT NULL DEFAULT 0;
CREATE TABLE removed (
  account INTEGER NOT NULL REFERENCES account (key),
  clock INTEGER NOT NULL,
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  PRIMARY KEY (account, clock)
) STRICT, WITHOUT ROWID;

-- No index: every message changes it, and the narrow rows of an account are read quickly.
ALTER TABLE session ADD COLUMN clock INTEGER NOT NULL DEFAULT 0;
-- How far its messages got: to the machine, and to the agent.
ALTER TABLE session ADD COLUMN delivered_seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN read_seq INTEGER NOT NULL DEFAULT 0;

ALTER TABLE account_cells ADD COLUMN settings_clock INTEGER NOT NULL DEFAULT 0;
ALTER TABLE machine ADD COLUMN clock INTEGER NOT NULL DEFAULT 0;
CREATE INDEX machine_by_clock ON machine (account, clock);
ALTER TABLE artifact ADD COLUMN clock INTEGER NOT NULL DEFAULT 0;
CREATE INDEX artifact_by_clock ON artifact (account, clock);
ALTER TABLE kv ADD COLUMN clock INTEGER NOT NULL DEFAULT 0;
CREATE INDEX kv_by_clock ON kv (account, clock);
