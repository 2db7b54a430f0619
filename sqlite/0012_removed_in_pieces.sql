-- What was removed and has rows left, which go a little at a time: accounts, sessions and machines, by the keys and ids they
-- had. As long as it is here, its key is given to no other. An account keeps its row until the last of the others is gone.
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

-- So that a session or a machine can be removed without a look at what the others of its account have.
CREATE INDEX notice_by_session ON notice (account, session) WHERE session IS NOT NULL;
CREATE INDEX access_key_by_machine ON access_key (account, machine);
