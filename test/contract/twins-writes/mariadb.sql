CREATE TABLE countries (code varchar(2) PRIMARY KEY, name varchar(30) UNIQUE);
CREATE TABLE authors (
  id integer AUTO_INCREMENT PRIMARY KEY, name varchar(20) NOT NULL, country varchar(2), joined_on date,
  CONSTRAINT authors_name UNIQUE (name), CONSTRAINT authors_country FOREIGN KEY (country) REFERENCES countries (code)
);
CREATE TABLE articles (
  id bigint AUTO_INCREMENT PRIMARY KEY, title varchar(50) NOT NULL, status varchar(20) NOT NULL DEFAULT 'draft',
  views integer NOT NULL DEFAULT 0, rating decimal(5,2), author_id integer, published_at timestamp(3) NULL,
  flag boolean DEFAULT true, settings json, owner varchar(20), CONSTRAINT articles_views CHECK (views >= 0),
  CONSTRAINT articles_author FOREIGN KEY (author_id) REFERENCES authors (id)
);
CREATE TABLE tags (id uuid PRIMARY KEY, name varchar(30) NOT NULL UNIQUE);
CREATE TABLE articles_tags (
  article_id bigint NOT NULL, tag_id uuid NOT NULL, sort integer, PRIMARY KEY (article_id, tag_id),
  FOREIGN KEY (article_id) REFERENCES articles (id), FOREIGN KEY (tag_id) REFERENCES tags (id)
);
CREATE TABLE comments (
  id integer AUTO_INCREMENT PRIMARY KEY, article_id bigint NOT NULL, body text NOT NULL, sort integer,
  FOREIGN KEY (article_id) REFERENCES articles (id)
);
CREATE TABLE notes (
  id integer PRIMARY KEY, article_id bigint, body varchar(30), FOREIGN KEY (article_id) REFERENCES articles (id)
);
CREATE TABLE headings (id integer PRIMARY KEY, text varchar(40) NOT NULL);
CREATE TABLE pictures (id bigint PRIMARY KEY, file varchar(40) NOT NULL);
CREATE TABLE sections (
  id integer AUTO_INCREMENT PRIMARY KEY, article_id bigint, sort integer, collection varchar(64), item varchar(64),
  FOREIGN KEY (article_id) REFERENCES articles (id)
);
CREATE TABLE categories (
  id integer PRIMARY KEY, parent_id integer, name varchar(30) NOT NULL, FOREIGN KEY (parent_id) REFERENCES categories (id)
);
CREATE TABLE reviews (
  reviewer varchar(20) NOT NULL, article_id bigint NOT NULL, stars smallint NOT NULL, PRIMARY KEY (reviewer, article_id),
  FOREIGN KEY (article_id) REFERENCES articles (id)
);
CREATE TABLE settings (id integer PRIMARY KEY DEFAULT 1, title varchar(50) NOT NULL DEFAULT 'Untitled', shown boolean DEFAULT true);
CREATE TABLE hens (id integer PRIMARY KEY, egg_id integer, name varchar(20));
CREATE TABLE eggs (id integer PRIMARY KEY, hen_id integer, name varchar(20), FOREIGN KEY (hen_id) REFERENCES hens (id));
ALTER TABLE hens ADD FOREIGN KEY (egg_id) REFERENCES eggs (id);
CREATE TABLE kinds (
  id integer PRIMARY KEY, flag boolean, small smallint, large bigint, exact decimal(12,4), approx double, day date,
  moment time(6), happened datetime(6), changed timestamp(6) NULL, words varchar(60), body text, document json,
  raw varbinary(20), token uuid
);
CREATE TABLE stamps (
  id uuid PRIMARY KEY DEFAULT (uuid()), name varchar(20), parent_id uuid, mark uuid DEFAULT (uuid()),
  FOREIGN KEY (parent_id) REFERENCES stamps (id)
);
CREATE TABLE prints (code varbinary(8) PRIMARY KEY, name varchar(20), seal varbinary(8));
CREATE TABLE print_notes (id integer PRIMARY KEY, print varbinary(8), FOREIGN KEY (print) REFERENCES prints (code));
CREATE TABLE seats (
  hall varchar(10), free boolean, day date, opens datetime, price decimal(6,2), mark varbinary(4), number integer,
  title varchar(20), PRIMARY KEY (hall, free, day, opens, price, mark, number)
);
CREATE TABLE numbered (site integer, id integer AUTO_INCREMENT, title varchar(20), PRIMARY KEY (site, id), KEY (id));
