-- CRC-32 of the sealed text, begun with the place the message belongs to. Most bits that flip on a disk leave the
-- structure of the database whole, so nothing else would notice. Null in messages stored before this step.
ALTER TABLE message ADD COLUMN crc INTEGER;
