-- After a restore, numbers continue above all that clients may have seen before it.

-- How many numbers the next message skips, and how many were skipped so far.
ALTER TABLE session ADD COLUMN gap_ahead INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN gaps INTEGER NOT NULL DEFAULT 0;
