-- The tables of the magazine that are measured, as MariaDB and MySQL have them.
CREATE TABLE authors (
  id int AUTO_INCREMENT PRIMARY KEY,
  name varchar(200) NOT NULL,
  email varchar(320) UNIQUE,
  bio text,
  joined_on date
);

CREATE TABLE categories (
  id int AUTO_INCREMENT PRIMARY KEY,
  parent_id int REFERENCES categories (id) ON DELETE SET NULL,
  name varchar(100) NOT NULL,
  slug varchar(100) UNIQUE,
  sort int
);

CREATE TABLE tags (
  id int AUTO_INCREMENT PRIMARY KEY,
  name varchar(100) NOT NULL UNIQUE
);

CREATE TABLE articles (
  id bigint AUTO_INCREMENT PRIMARY KEY,
  title varchar(255) NOT NULL,
  slug varchar(255) NOT NULL UNIQUE,
  body text,
  status enum('draft', 'published', 'archived') NOT NULL DEFAULT 'draft',
  published_at timestamp(6) NULL,
  views int NOT NULL DEFAULT 0,
  author_id int REFERENCES authors (id) ON DELETE SET NULL,
  category_id int REFERENCES categories (id) ON DELETE SET NULL,
  created_at timestamp(6) NOT NULL DEFAULT current_timestamp(6),
  INDEX articles_status_published_at_idx (status, published_at)
);

CREATE TABLE articles_tags (
  article_id bigint NOT NULL,
  tag_id int NOT NULL,
  PRIMARY KEY (article_id, tag_id),
  FOREIGN KEY (article_id) REFERENCES articles (id) ON DELETE CASCADE,
  FOREIGN KEY (tag_id) REFERENCES tags (id) ON DELETE CASCADE
);

CREATE TABLE comments (
  id bigint AUTO_INCREMENT PRIMARY KEY,
  article_id bigint NOT NULL,
  author_name varchar(200) NOT NULL,
  body text NOT NULL,
  created_at timestamp(6) NOT NULL DEFAULT current_timestamp(6),
  INDEX comments_article_id_idx (article_id, created_at),
  FOREIGN KEY (article_id) REFERENCES articles (id) ON DELETE CASCADE
);
