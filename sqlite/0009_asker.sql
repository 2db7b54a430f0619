-- The asker's description of itself, sealed with the secret of its link: the server cannot read it.
ALTER TABLE pairing_request ADD COLUMN about TEXT;
