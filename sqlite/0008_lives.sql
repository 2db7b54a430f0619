-- After a restore, numbers go on above all that clients may have seen of the life before.

-- Numbers that the next message leaves out, and those left out so far.
ALTER TABLE session ADD COLUMN gap_ahead INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN gaps INTEGER NOT NULL DEFAULT 0;
