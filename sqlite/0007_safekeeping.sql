-- CRC-32 of sealed data, starting with the row's position. Most bit flips on a disk leave the structure of the database
-- intact, so nothing else would notice them. Null in rows stored before this step.
ALTER TABLE message ADD COLUMN crc INTEGER;
ALTER TABLE attachment_piece ADD COLUMN crc INTEGER;
ALTER TABLE session_cells ADD COLUMN crc INTEGER;
ALTER TABLE machine ADD COLUMN crc INTEGER;
ALTER TABLE account_cells ADD COLUMN crc INTEGER;
ALTER TABLE kv ADD COLUMN crc INTEGER;
ALTER TABLE artifact ADD COLUMN crc INTEGER;
ALTER TABLE access_key ADD COLUMN crc INTEGER;
