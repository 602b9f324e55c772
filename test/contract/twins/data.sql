INSERT INTO countries VALUES ('de', 'Germany'), ('fr', 'France'), ('se', 'Sweden');
INSERT INTO authors VALUES
  (1, 'Ann', 'ann@example.com', 'de', '2019-02-03'), (2, 'Åsa', NULL, 'se', '2020-12-31'),
  (3, 'ann', 'Ann@Example.com', NULL, NULL), (4, 'Bob_50%', 'bob@example.com', 'fr', '2024-02-29');
INSERT INTO categories VALUES
  (1, NULL, 'News', 2), (2, 1, 'Local', 1), (3, 1, 'World', 0), (4, NULL, 'Arts', 1), (5, 2, 'Streets', 3);
INSERT INTO articles VALUES
  (1, 'First', 'The first one', 'published', '2026-01-02 03:04:05', 10, 4.50, 1, 2, '{"a":[1,2]}'),
  (2, 'Second', NULL, 'published', '2026-02-28 23:59:59', 700, 3.00, 2, 3, NULL),
  (3, 'first', '', 'draft', NULL, 0, NULL, 1, NULL, '[1,2,3]'),
  (9007199254740993, 'Größer — "quoted" \\ and
two lines', 'Ünï 🎈 text', 'published', '2024-12-30 12:00:00', 5, 0.25, NULL, 4, '{"b":null}'),
  (5, '100% sure_thing', 'percent', 'archived', '2020-01-01 00:00:00', 42, 5.00, 4, 5, '"text"'),
  (6, 'Sixth', 'again the first', 'published', '2026-03-01 00:00:00', 10, 4.50, 3, 1, '{}');
INSERT INTO tags VALUES (1, 'red'), (2, 'green'), (3, 'blue');
INSERT INTO articles_tags VALUES (1, 1), (1, 3), (2, 2), (2, 1), (6, 3), (9007199254740993, 2);
INSERT INTO comments VALUES
  (1, 1, 'Reader', 'Nice', '2026-01-03 10:00:00'), (2, 1, 'reader', 'Not nice: \\ % _', '2026-01-03 11:00:00'),
  (3, 2, 'Ünal', '', '2026-03-01 00:00:00'), (4, 1, 'Zoe', 'third of the first', '2026-01-04 00:00:00'),
  (5, 9007199254740993, 'Reader', 'far', '2025-01-01 00:00:00'), (6, 3, 'Hidden', 'of a draft', '2026-01-01 00:00:00');
INSERT INTO headings VALUES (1, 'On top'), (2, 'Below');
INSERT INTO pictures VALUES (1, 'one.png'), (7, 'seven.png');
INSERT INTO sections VALUES
  (1, 1, 2, 'headings', '1'), (2, 1, 1, 'pictures', '7'), (3, 2, 1, 'headings', '2'), (4, 2, 2, 'pictures', 'none'),
  (5, 6, 1, 'nothing', '1');
INSERT INTO reviews VALUES ('ann', 1, 5), ('Ann', 1, 3), ('b,c', 2, 1), ('zoë', 6, 4);
INSERT INTO kinds (id, flag, small, large, exact, day, moment, happened, changed, short, words, body, document, token)
VALUES
  (1, TRUE, -32768, 9223372036854775807, 12345678.9012, '2026-02-28', '23:59:59.120000', '2026-01-02 03:04:05.123456',
   '2026-01-02 03:04:05.100000', 'abc', 'it''s "quoted" / <b>', 'line
break	tab', '{"deep":{"list":[1,"two",null,true]}}', '0f8fad5b-d9cb-469f-a165-70867728950e'),
  (2, FALSE, 0, 0, 0.0000, '1999-12-31', '00:00:00', '1999-12-31 23:59:59', '2000-01-01 00:00:00', 'xyz', '', '', '[]',
   'ffffffff-ffff-ffff-ffff-ffffffffffff'),
  (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  (4, TRUE, 32767, -9223372036854775808, -0.5000, '2024-02-29', '12:30:00.000001', '2024-02-29 12:30:00.500000',
   '2024-02-29 12:30:00.000001', 'ZZZ', 'Ω≈ç√ 🎈', 'ﬁn', '"text"', '00000000-0000-0000-0000-000000000001');
