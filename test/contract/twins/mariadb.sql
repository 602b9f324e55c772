CREATE TABLE countries (code varchar(2) PRIMARY KEY, name varchar(100) NOT NULL UNIQUE);
CREATE TABLE authors (
  id integer PRIMARY KEY, name varchar(200) NOT NULL, email varchar(320), country varchar(2), joined_on date,
  FOREIGN KEY (country) REFERENCES countries (code)
);
CREATE TABLE categories (
  id integer PRIMARY KEY, parent_id integer, name varchar(100) NOT NULL, sort integer NOT NULL,
  FOREIGN KEY (parent_id) REFERENCES categories (id)
);
CREATE TABLE articles (
  id bigint PRIMARY KEY, title varchar(255) NOT NULL, body text, status varchar(20) NOT NULL, published_at timestamp NULL,
  views integer NOT NULL, rating decimal(3,2), author_id integer, category_id integer, settings json,
  FOREIGN KEY (author_id) REFERENCES authors (id), FOREIGN KEY (category_id) REFERENCES categories (id)
);
CREATE TABLE tags (id integer PRIMARY KEY, name varchar(100) NOT NULL);
CREATE TABLE articles_tags (
  article_id bigint NOT NULL, tag_id integer NOT NULL, PRIMARY KEY (article_id, tag_id),
  FOREIGN KEY (article_id) REFERENCES articles (id), FOREIGN KEY (tag_id) REFERENCES tags (id)
);
CREATE TABLE comments (
  id bigint PRIMARY KEY, article_id bigint NOT NULL, author_name varchar(200) NOT NULL, body text NOT NULL,
  created_at timestamp NOT NULL, FOREIGN KEY (article_id) REFERENCES articles (id)
);
CREATE TABLE headings (id integer PRIMARY KEY, text varchar(200) NOT NULL);
CREATE TABLE pictures (id integer PRIMARY KEY, file varchar(200) NOT NULL);
CREATE TABLE sections (
  id integer PRIMARY KEY, article_id bigint NOT NULL, sort integer NOT NULL, collection varchar(64) NOT NULL,
  item varchar(64) NOT NULL, FOREIGN KEY (article_id) REFERENCES articles (id)
);
CREATE TABLE reviews (
  reviewer varchar(20) NOT NULL, article_id bigint NOT NULL, stars smallint NOT NULL, PRIMARY KEY (reviewer, article_id),
  FOREIGN KEY (article_id) REFERENCES articles (id)
);
CREATE TABLE settings (id integer PRIMARY KEY, title varchar(50) NOT NULL DEFAULT 'Untitled', shown boolean DEFAULT true);
CREATE TABLE kinds (
  id integer PRIMARY KEY, flag boolean, small smallint, large bigint, exact decimal(12,4), day date, moment time(6),
  happened datetime(6), changed timestamp(6) NULL, short char(3), words varchar(60), body text, document json,
  raw varbinary(20), token uuid
);
CREATE TABLE wide (id int unsigned PRIMARY KEY, large bigint unsigned);
CREATE TABLE notes (id integer PRIMARY KEY, data json);
