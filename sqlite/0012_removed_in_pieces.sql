-- Removed accounts, sessions and machines with rows left, which are deleted a few at a time, by the keys and ids they had.
-- While a key is here, it is not reused. An account keeps its row until all its other rows are gone.
CREATE TABLE left_over (
  kind TEXT NOT NULL,
  key INTEGER NOT NULL,
  account INTEGER NOT NULL,
  id TEXT NOT NULL,
  PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;
INSERT INTO left_over (kind, key, account, id) SELECT 'account', account, account, '' FROM leftover;
DROP TABLE leftover;
ALTER TABLE left_over RENAME TO leftover;
CREATE INDEX leftover_by_id ON leftover (account, id);

-- With these a session or a machine can be removed without reading the rows of the others of its account.
CREATE INDEX notice_by_session ON notice (account, session) WHERE session IS NOT NULL;
CREATE INDEX access_key_by_machine ON access_key (account, machine);
