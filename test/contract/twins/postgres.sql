CREATE TABLE countries (code varchar(2) PRIMARY KEY, name varchar(100) NOT NULL UNIQUE);
CREATE TABLE authors (
  id integer PRIMARY KEY, name varchar(200) NOT NULL, email varchar(320), country varchar(2) REFERENCES countries (code),
  joined_on date
);
CREATE TABLE categories (
  id integer PRIMARY KEY, parent_id integer REFERENCES categories (id), name varchar(100) NOT NULL, sort integer NOT NULL
);
CREATE TABLE articles (
  id bigint PRIMARY KEY, title varchar(255) NOT NULL, body text, status varchar(20) NOT NULL, published_at timestamptz,
  views integer NOT NULL, rating numeric(3,2), author_id integer REFERENCES authors (id),
  category_id integer REFERENCES categories (id), settings json
);
CREATE TABLE tags (id integer PRIMARY KEY, name varchar(100) NOT NULL);
CREATE TABLE articles_tags (
  article_id bigint NOT NULL REFERENCES articles (id), tag_id integer NOT NULL REFERENCES tags (id),
  PRIMARY KEY (article_id, tag_id)
);
CREATE TABLE comments (
  id bigint PRIMARY KEY, article_id bigint NOT NULL REFERENCES articles (id), author_name varchar(200) NOT NULL,
  body text NOT NULL, created_at timestamptz NOT NULL
);
CREATE TABLE headings (id integer PRIMARY KEY, text varchar(200) NOT NULL);
CREATE TABLE pictures (id integer PRIMARY KEY, file varchar(200) NOT NULL);
CREATE TABLE sections (
  id integer PRIMARY KEY, article_id bigint NOT NULL REFERENCES articles (id), sort integer NOT NULL,
  collection varchar(64) NOT NULL, item varchar(64) NOT NULL
);
CREATE TABLE reviews (
  reviewer varchar(20) NOT NULL, article_id bigint NOT NULL REFERENCES articles (id), stars smallint NOT NULL,
  PRIMARY KEY (reviewer, article_id)
);
CREATE TABLE settings (id integer PRIMARY KEY, title varchar(50) NOT NULL DEFAULT 'Untitled', shown boolean DEFAULT true);
CREATE TABLE kinds (
  id integer PRIMARY KEY, flag boolean, small smallint, large bigint, exact numeric(12,4), day date, moment time(6),
  happened timestamp(6), changed timestamptz(6), short char(3), words varchar(60), body text, document json, raw bytea,
  token uuid
);
CREATE TABLE notes (id integer PRIMARY KEY, data json);
