-- What an asker is given, sealed for it, so that one that lost the reply is given the same again until its request ends.
ALTER TABLE pairing_request ADD COLUMN sealed_token TEXT;
ALTER TABLE pairing_request ADD COLUMN token_ends_at INTEGER;
ALTER TABLE pairing_request ADD COLUMN device INTEGER REFERENCES device (key) ON DELETE SET NULL;
CREATE INDEX pairing_request_for_device ON pairing_request (device) WHERE device IS NOT NULL;
