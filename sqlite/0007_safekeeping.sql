-- CRC-32 of what clients sealed, begun with the place the row belongs to. Most bits that flip on a disk leave the
-- structure of the database whole, so nothing else would notice. Null in rows stored before this step.
ALTER TABLE message ADD COLUMN crc INTEGER;
ALTER TABLE attachment_piece ADD COLUMN crc INTEGER;
ALTER TABLE session_cells ADD COLUMN crc INTEGER;
ALTER TABLE machine ADD COLUMN crc INTEGER;
ALTER TABLE account_cells ADD COLUMN crc INTEGER;
ALTER TABLE kv ADD COLUMN crc INTEGER;
ALTER TABLE artifact ADD COLUMN crc INTEGER;
ALTER TABLE access_key ADD COLUMN crc INTEGER;
