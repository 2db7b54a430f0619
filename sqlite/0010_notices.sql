-- Notices for phones, and their results on each channel (a push token), kept for 30 days.

CREATE TABLE notice (
  key INTEGER PRIMARY KEY,
  account INTEGER NOT NULL REFERENCES account (key) ON DELETE CASCADE,
  id TEXT NOT NULL,
  kind TEXT NOT NULL,
  session TEXT,
  title TEXT NOT NULL,
  body TEXT NOT NULL,
  preview TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  settled_at INTEGER,
  UNIQUE (account, id)
) STRICT;
CREATE INDEX notice_open ON notice (account, session) WHERE settled_at IS NULL;
CREATE INDEX notice_by_time ON notice (created_at);

-- `due_at` is null once the outcome is final. During an attempt it is the time at which the next may begin, in case this
-- one never ends. `channel` is the id of a push token, which may have been removed since.
CREATE TABLE delivery (
  key INTEGER PRIMARY KEY,
  notice INTEGER NOT NULL REFERENCES notice (key) ON DELETE CASCADE,
  account INTEGER NOT NULL,
  channel TEXT NOT NULL,
  channel_kind TEXT NOT NULL,
  what TEXT NOT NULL,
  receipt TEXT NOT NULL UNIQUE,
  outcome TEXT NOT NULL DEFAULT 'waiting',
  reason TEXT,
  ticket TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  is_silent INTEGER NOT NULL,
  is_collected INTEGER NOT NULL,
  unless_watched INTEGER NOT NULL,
  due_at INTEGER,
  sent_at INTEGER,
  arrived_at INTEGER
) STRICT;
CREATE INDEX delivery_due ON delivery (channel_kind, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX delivery_by_notice ON delivery (notice);
CREATE INDEX delivery_by_account ON delivery (account, key);

CREATE UNIQUE INDEX push_token_by_id ON push_token (account, id);

-- When the device may be notified: JSON of the protocol's notificationSettings.
ALTER TABLE device ADD COLUMN notifications TEXT;
