-- Work that one instance at a time does, and until when it is whose.
CREATE TABLE work (
  name text COLLATE "C" PRIMARY KEY,
  holder text NOT NULL,
  ends_at bigint NOT NULL
);
