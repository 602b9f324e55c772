import { describe, expect, test } from 'vitest';
import type { Column, Table } from '../schema.ts';
import { facts, type TableSketch, table } from '../testing/facts.ts';
import { compareFacts } from './compare-facts.ts';

const sketch: TableSketch = { columns: ['id!:integer', 'title!', 'author_id:integer'], key: ['id'] };
const books = table('books', sketch);

function differences(was: Table, is: Table): readonly string[] {
  const of = (one: Table) => ({ tables: [one], enums: [] });
  return compareFacts(of(was), of(is)).map(({ object, change, message }) => `${change} ${object}: ${message}`);
}

function withTitle(more: Partial<Column>): Table {
  return { ...books, columns: books.columns.map((one) => (one.name === 'title' ? { ...one, ...more } : one)) };
}

test('says nothing about the same tables, whoever owns them', () => {
  expect(differences(books, { ...books, owner: 'somebody else' })).toEqual([]);
});

test('says nothing about a list of a check that was dumped and restored', () => {
  const listed = (list: string): Table => {
    const expression = `((title)::text = ANY (${list}))`;
    return { ...books, checks: [{ name: 'titles', expression, columns: ['title'], allowed: null }] };
  };
  const before = listed("(ARRAY['it''s, a'::character varying, 'b'::character varying])::text[]");
  const after = listed("ARRAY[('it''s, a'::character varying)::text, ('b'::character varying)::text]");
  expect(differences(before, after)).toEqual([]);
  const shorter = listed("ARRAY[('b'::character varying)::text]");
  expect(differences(before, shorter)).toEqual([expect.stringContaining('check titles')]);
});

test('tells checks apart whose brackets are no pairs, as quotes after backslashes hide some', () => {
  const checked = (column: string): Table => {
    const expression = `(\`${column}\` <> _utf8mb4\\'it\\\\\\'s )) ((\\')`;
    return { ...books, checks: [{ name: 'titles', expression, columns: ['title'], allowed: null }] };
  };
  expect(differences(checked('title'), checked('name'))).toEqual([expect.stringContaining('check titles')]);
});

describe('names what differs', () => {
  test.each<readonly [what: string, is: Table, expected: readonly string[]]>([
    [
      'a type',
      withTitle({ nativeType: 'varchar(80)' }),
      ['column public.books.title: Its type was text and is varchar(80).'],
    ],
    ['null', withTitle({ nullable: true }), ['column public.books.title: It can now be null.']],
    [
      'a default',
      withTitle({ fill: { kind: 'default', expression: "'a'::text" } }),
      ["column public.books.title: Its default was none and is 'a'::text."],
    ],
    ['a comment', withTitle({ comment: 'Words' }), ['column public.books.title: Its comment was none and is Words.']],
    [
      'a domain that became stricter',
      {
        ...books,
        columns: books.columns.map((one) =>
          one.name === 'title' ? { ...one, type: { ...one.type, maxLength: 3 } } : one,
        ),
      },
      ['column public.books.title: The meaning of its type has changed.'],
    ],
    [
      'a key',
      table('books', { ...sketch, key: ['title'] }),
      ['table public.books: Its primary key was (id) and is (title).'],
    ],
    [
      'rows',
      table('books', { ...sketch, rowSecurity: true }),
      ['table public.books: Its row-level security was off and is on.'],
    ],
  ])('%s', (_, is, expected) => {
    expect(differences(books, is)).toEqual(expected.map((one) => `changed ${one}`));
  });

  test('what is new and what is gone', () => {
    const is = table('books', { columns: ['id!:integer', 'name!', 'author_id:integer'], uniques: [['name']] });
    expect(differences(books, { ...is, primaryKey: books.primaryKey })).toEqual([
      'added column public.books.name: It is new.',
      'removed column public.books.title: It is gone.',
      'added unique key books_name_key of public.books: It is new.',
    ]);
  });

  test('columns in another order', () => {
    const is = { ...books, columns: books.columns.toReversed() };
    expect(differences(books, is)).toEqual([
      'changed table public.books: Its columns were id, title, author_id and are author_id, title, id.',
    ]);
  });

  test('what a foreign key does', () => {
    const was = table('books', { ...sketch, foreignKeys: ['author_id > authors.id'] });
    const is = { ...was, foreignKeys: was.foreignKeys.map((key) => ({ ...key, onDelete: 'cascade' as const })) };
    expect(differences(was, is)).toEqual([
      'changed foreign key books_author_id_authors of public.books: Its definition was ' +
        '(author_id) to public.authors (id) and is (author_id) to public.authors (id) on delete cascade.',
    ]);
  });

  test('tables and types', () => {
    const one = { schema: 'public', name: 'mood', labels: ['good', 'bad'], comment: null };
    const was = { ...facts({ books: sketch, authors: sketch }), enums: [one] };
    const is = { ...facts({ books: sketch, shelves: sketch }), enums: [{ ...one, labels: ['good', 'bad', 'so-so'] }] };
    expect(compareFacts(was, is).map(({ object, message }) => `${object}: ${message}`)).toEqual([
      'table public.shelves: It is new.',
      'table public.authors: It is gone.',
      'type public.mood: Its labels were "good", "bad" and are "good", "bad", "so-so".',
    ]);
  });
});
