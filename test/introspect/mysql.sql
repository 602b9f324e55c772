CREATE TABLE languages (
  code CHAR(2) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY COMMENT 'ISO 639',
  name VARCHAR(80) COLLATE utf8mb4_nopad_bin NOT NULL UNIQUE
) COMMENT 'What people speak';

CREATE TABLE everything (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  tiny TINYINT NULL,
  flag BOOLEAN NOT NULL DEFAULT TRUE,
  small SMALLINT UNSIGNED NULL,
  medium MEDIUMINT NULL,
  whole INT UNSIGNED ZEROFILL NULL,
  large BIGINT NULL,
  price DECIMAL(12,4) NOT NULL DEFAULT 0,
  ratio DOUBLE NULL,
  share FLOAT NULL,
  one_bit BIT(1) NULL,
  bits BIT(12) NULL,
  letters CHAR(3) NULL,
  words VARCHAR(40) NULL DEFAULT 'it''s',
  body MEDIUMTEXT NULL,
  state ENUM('new','it''s','(old)') NOT NULL DEFAULT 'new',
  marks SET('a','b','c') NULL,
  raw VARBINARY(16) NULL,
  picture LONGBLOB NULL,
  day DATE NULL,
  moment TIME(3) NULL,
  happened DATETIME(6) NULL,
  changed TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  born YEAR NULL,
  settings JSON NULL,
  token UUID NULL,
  address INET6 NULL,
  place POINT NULL,
  doubled DECIMAL(13,4) AS (price * 2) STORED,
  shown VARCHAR(50) AS (CONCAT(words, '!')) VIRTUAL,
  hidden INT NOT NULL INVISIBLE DEFAULT 7,
  `order` INT NULL COMMENT 'a word of SQL',
  `strange ``name"` INT NULL,
  language CHAR(2) CHARACTER SET ascii COLLATE ascii_bin NULL,
  CONSTRAINT positive CHECK (price >= 0),
  CONSTRAINT everything_language FOREIGN KEY (language) REFERENCES languages (code) ON DELETE SET NULL ON UPDATE CASCADE,
  UNIQUE KEY everything_words (words, tiny),
  UNIQUE KEY everything_start (body(10)),
  KEY everything_day (day, moment)
);

CREATE TABLE pairs (
  `left` INT NOT NULL, `right` INT NOT NULL, note TEXT, PRIMARY KEY (`right`, `left`)
) PARTITION BY HASH (`left`) PARTITIONS 2;

CREATE VIEW priced AS SELECT id, price FROM everything WHERE price > 0;
CREATE VIEW counted AS SELECT language, COUNT(*) AS number FROM everything GROUP BY language;
CREATE TRIGGER pairs_before BEFORE INSERT ON pairs FOR EACH ROW SET NEW.note = UPPER(NEW.note);
CREATE SEQUENCE numbers;
