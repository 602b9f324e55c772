import { describe, expect, it } from 'vitest';
import { printColumnDefinition, readColumnDefinition, readTableDefinition } from './statements.ts';

describe('a column as the server prints it', () => {
  it.each([
    [
      "varchar(40) COLLATE utf8mb4_bin NOT NULL DEFAULT 'it''s (a' COMMENT 'x, \\'y'",
      'varchar(40) COLLATE utf8mb4_bin',
    ],
    ["enum('a b','c,d)') CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL DEFAULT 'a b'", undefined],
    ['decimal(8,2) unsigned zerofill NULL DEFAULT 9.50', 'decimal(8,2) unsigned zerofill'],
    ['timestamp(6) NULL DEFAULT current_timestamp(6) ON UPDATE current_timestamp(6)', 'timestamp(6)'],
    ['datetime NULL DEFAULT (now() + interval (1) day)', 'datetime'],
    ['int NOT NULL AUTO_INCREMENT', 'int'],
    [
      "longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL DEFAULT _utf8mb4'{}' CHECK (json_valid(`a) b`))",
      undefined,
    ],
    ["int GENERATED ALWAYS AS ((`a` * 2)) STORED NOT NULL COMMENT 'c'", 'int'],
    ["int(11) GENERATED ALWAYS AS (`a` * 2) VIRTUAL COMMENT 'c'", 'int(11)'],
    ["int NULL /*!80023 INVISIBLE */ COMMENT 'c'", 'int'],
  ])('is printed again as it is: %s', (text, type) => {
    const column = readColumnDefinition(text);
    if (type !== undefined) expect(column.type).toBe(type);
    expect(printColumnDefinition(column)).toBe(text);
  });

  it('tells what the database computes', () => {
    expect(readColumnDefinition('int GENERATED ALWAYS AS (`a` + 1) STORED').generated).toBe(true);
    expect(readColumnDefinition("varchar(9) DEFAULT 'AS'").generated).toBe(false);
  });
});

it('finds columns and indexes', () => {
  const printed =
    'CREATE TABLE `a` (\n  `id` int NOT NULL,\n  `odd``name` text,\n  PRIMARY KEY (`id`),\n  UNIQUE KEY `u` (`id`),\n  KEY `k` (`id`),\n  CONSTRAINT `f` FOREIGN KEY (`id`) REFERENCES `b` (`id`)\n) ENGINE=InnoDB';
  const { columns, indexes } = readTableDefinition(printed);
  expect([...columns.keys()]).toEqual(['id', 'odd`name']);
  expect([...indexes]).toEqual(['u', 'k']);
});
