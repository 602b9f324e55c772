-- What PostgreSQL 18 brought; needs no extension.
CREATE TABLE room (id int PRIMARY KEY, width int, length int, area int GENERATED ALWAYS AS (width * length) VIRTUAL);
CREATE TABLE stay (
  room int4range, during daterange NOT NULL, price numeric(3, -1),
  PRIMARY KEY (room, during WITHOUT OVERLAPS)
);
CREATE TABLE bill (
  id uuid PRIMARY KEY DEFAULT uuidv7(),
  room int4range, during daterange,
  room_id int CONSTRAINT bill_room REFERENCES room NOT ENFORCED,
  kind text CONSTRAINT bill_kind CHECK (kind IN ('a', 'b')) NOT ENFORCED,
  code text UNIQUE NULLS NOT DISTINCT,
  note text, sure text NOT NULL,
  CONSTRAINT bill_stay FOREIGN KEY (room, PERIOD during) REFERENCES stay (room, PERIOD during)
);
ALTER TABLE bill ADD CONSTRAINT bill_note NOT NULL note NOT VALID;
CREATE TABLE bill_line (
  bill_id uuid REFERENCES bill, line int, a int,
  PRIMARY KEY (bill_id, line)
);
CREATE TABLE discount (bill_id uuid, line int, FOREIGN KEY (bill_id, line) REFERENCES bill_line ON DELETE SET NULL (line));
CREATE VIEW grouped AS SELECT width, count(*) AS rooms FROM room GROUP BY width;
CREATE VIEW rooms AS SELECT id, area FROM room;
