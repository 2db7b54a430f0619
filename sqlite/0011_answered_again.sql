-- The token for the asker, sealed for it: if it lost the reply, it gets the same one again until its request ends.
ALTER TABLE pairing_request ADD COLUMN sealed_token TEXT;
ALTER TABLE pairing_request ADD COLUMN token_ends_at INTEGER;
ALTER TABLE pairing_request ADD COLUMN device INTEGER REFERENCES device (key) ON DELETE SET NULL;
CREATE INDEX pairing_request_for_device ON pairing_request (device) WHERE device IS NOT NULL;
