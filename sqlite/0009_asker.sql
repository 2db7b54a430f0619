-- What the asker says of itself, sealed with the secret of its link: this server cannot read it.
ALTER TABLE pairing_request ADD COLUMN about TEXT;
