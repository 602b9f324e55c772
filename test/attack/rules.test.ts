/** Row rules and cell rules against an oracle in SQL: what is counted, filtered, sorted and nested: A13, A16, A17, P6, P7. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { withClient } from '../support/database.ts';
import { type ServedProject, serveProject } from '../support/project.ts';
import { seededRandom } from '../support/swarm.ts';

/**
 * What the public may see, once more as views: the same rules written by hand. A hidden cell is null, a hidden row is
 * not there.
 */
const oracle = `
  CREATE SCHEMA o;
  CREATE VIEW o.shop AS SELECT id, name, CASE WHEN open THEN city END AS city FROM shop WHERE open OR name <> 'b';
  CREATE VIEW o.item AS
    SELECT id,
      CASE WHEN state = 'on' OR price > 5 THEN title END AS title,
      CASE WHEN state = 'on' THEN price END AS price,
      CASE WHEN state = 'on' OR EXISTS (SELECT FROM note n WHERE n.item_id = item.id AND n.loud) THEN stock END AS stock,
      CASE WHEN price > 5 THEN shop_id END AS shop_id
    FROM item
    WHERE state = 'on' OR price > 5 OR EXISTS (SELECT FROM note n WHERE n.item_id = item.id AND n.loud);
  CREATE VIEW o.note AS SELECT id, item_id, body FROM note WHERE EXISTS (SELECT FROM item i WHERE i.id = item_id AND i.state = 'on');`;

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({
    sql: `
      CREATE TABLE shop (id integer PRIMARY KEY, name text, city text, open boolean);
      CREATE TABLE item (id integer PRIMARY KEY, title text, price integer, stock integer, state text, shop_id integer REFERENCES shop);
      CREATE TABLE note (id integer PRIMARY KEY, item_id integer REFERENCES item, body text, loud boolean);
      SELECT setseed(0.42);
      INSERT INTO shop SELECT i, chr(96 + i % 4), CASE WHEN i % 5 > 0 THEN chr(97 + i % 3) END, CASE i % 3 WHEN 0 THEN true WHEN 1 THEN false END FROM generate_series(1, 12) i;
      INSERT INTO item SELECT i, CASE WHEN random() > 0.2 THEN chr(97 + (random() * 5)::integer) END, CASE WHEN random() > 0.2 THEN (random() * 10)::integer END,
        CASE WHEN random() > 0.2 THEN (random() * 3)::integer END, CASE WHEN random() > 0.5 THEN 'on' WHEN random() > 0.5 THEN 'off' END,
        CASE WHEN random() > 0.2 THEN 1 + (random() * 11)::integer END FROM generate_series(1, 60) i;
      INSERT INTO note SELECT i, CASE WHEN random() > 0.1 THEN 1 + (random() * 59)::integer END, chr(97 + (random() * 3)::integer),
        CASE WHEN random() > 0.4 THEN random() > 0.5 END FROM generate_series(1, 120) i;
      ${oracle}`,
    config: `{ database: { schemas: ['public'] } }`,
    permissions: `
permissions:
  public:
    shop:
      read:
        - { fields: [id, name], filter: { name: { _neq: b } } }
        - { fields: [id, name, city, item], filter: { open: { _eq: true } } }
        - { fields: [id, name, city, item], filter: { city: { _neq: $CURRENT_USER } } }
    item:
      read:
        - { fields: [id, title, price, stock, note], filter: { state: on } }
        - { fields: [id, title, shop_id, note], filter: { price: { _gt: 5 } } }
        - { fields: [id, stock, note], filter: { note: { loud: { _eq: true } } } }
        - { fields: [id, title, price, stock, shop_id], filter: { _or: [{ id: { _nin: [$CURRENT_USER] } }, { id: { _gt: 0 } }] } }
    note:
      read: { fields: [id, item_id, body], filter: { item_id: { state: { _eq: on } } } }`,
  });
});
afterAll(() => project?.close());

interface Asked {
  readonly filter: object;
  /** The same over the views, for the alias `i` of o.item. */
  readonly sql: string;
}

const texts = ['a', 'b', 'c', 'd'];

/** A condition and what it means, to a depth of its own. */
function condition(random: () => number, depth: number): Asked {
  const below = (): Asked => condition(random, depth - 1);
  const pick = <Value>(values: readonly Value[]): Value => {
    const value = values[Math.floor(random() * values.length)];
    if (value === undefined) throw new Error('nothing to pick from');
    return value;
  };
  const column = pick(['price', 'stock', 'id', 'shop_id']);
  const number = Math.floor(random() * 9);
  const text = pick(texts);
  const leaves: readonly (() => Asked)[] = [
    () => ({ filter: { [column]: { _lt: number } }, sql: `i.${column} < ${number}` }),
    () => ({ filter: { [column]: { _neq: number } }, sql: `i.${column} <> ${number}` }),
    () => ({ filter: { [column]: { _nin: [number, 1] } }, sql: `i.${column} NOT IN (${number}, 1)` }),
    () => ({ filter: { [column]: { _nbetween: [2, number] } }, sql: `i.${column} NOT BETWEEN 2 AND ${number}` }),
    () => ({ filter: { [column]: { _null: true } }, sql: `i.${column} IS NULL` }),
    () => ({ filter: { title: { _empty: true } }, sql: `(i.title IS NULL OR i.title = '')` }),
    () => ({ filter: { title: { _ncontains: text } }, sql: `position('${text}' IN i.title) = 0` }),
    () => ({ filter: { title: { _in: [text, 'e'] } }, sql: `i.title IN ('${text}', 'e')` }),
    () => ({ filter: { title: { _in: [] } }, sql: 'false' }),
    () => ({
      filter: { shop_id: { city: { _neq: text } } },
      sql: `EXISTS (SELECT FROM o.shop s WHERE s.id = i.shop_id AND s.city <> '${text}')`,
    }),
    () => ({
      filter: { shop_id: { name: text, city: { _null: true } } },
      sql: `EXISTS (SELECT FROM o.shop s WHERE s.id = i.shop_id AND s.name = '${text}' AND s.city IS NULL)`,
    }),
  ];
  // Without rights to the relation's cell, no quantifier holds; every rule but the last, which never holds, grants it.
  const many: readonly (() => Asked)[] = [
    () => ({
      filter: { note: { body: text } },
      sql: `EXISTS (SELECT FROM o.note n WHERE n.item_id = i.id AND n.body = '${text}')`,
    }),
    () => ({
      filter: { note: { _none: { body: { _neq: text } } } },
      sql: `NOT EXISTS (SELECT FROM o.note n WHERE n.item_id = i.id AND n.body <> '${text}')`,
    }),
    () => ({
      filter: { 'count(note)': { _gt: number % 4 } },
      sql: `(SELECT count(*) FROM o.note n WHERE n.item_id = i.id) > ${number % 4}`,
    }),
  ];
  if (depth === 0 || random() < 0.4) return pick([...leaves, ...many])();
  const [one, other] = [below(), below()];
  const either = random() < 0.5;
  return {
    filter: { [either ? '_or' : '_and']: [one.filter, other.filter] },
    sql: `(${one.sql} ${either ? 'OR' : 'AND'} ${other.sql})`,
  };
}

it('every filter finds, counts and orders what the oracle does', async () => {
  const random = seededRandom();
  const rounds = process.env.ATTACK_ALL === '1' ? 1_000 : 100;
  await withClient(project.database.url, async (client) => {
    for (let round = 0; round < rounds; round++) {
      const { filter, sql } = condition(random, 3);
      const by =
        ['title', 'price', 'stock', 'shop_id', 'shop_id.city', 'shop_id.name'][Math.floor(random() * 6)] ?? 'id';
      const down = random() < 0.5;
      const query = {
        fields: ['id', 'title', 'price', 'stock', 'shop_id'],
        filter,
        sort: [down ? `-${by}` : by],
        limit: -1,
        meta: '*',
      };
      const { status, json } = await project.ask('/items/item', { method: 'SEARCH', body: { query } });
      const order = by.startsWith('shop_id.')
        ? `(SELECT s.${by.slice(8)} FROM o.shop s WHERE s.id = i.shop_id)`
        : `i.${by}`;
      const { rows } = await client.query(
        `SELECT i.id, i.title, i.price, i.stock, i.shop_id FROM o.item i WHERE ${sql} ORDER BY ${order}${down ? ' DESC' : ''}, i.id`,
      );
      const total = await client.query('SELECT count(*)::integer AS count FROM o.item');
      const told = `${JSON.stringify(query)}\n${sql}`;
      expect([status, json.data], told).toEqual([200, rows]);
      expect(json.meta, told).toEqual({ total_count: total.rows[0].count, filter_count: rows.length });
    }
  });
}, 120_000);

it('nested rows and cells are those of the oracle', async () => {
  const { json } = await project.ask(
    '/items/item?fields=id,shop_id.id,shop_id.city,note.id,note.item_id.title&limit=-1',
  );
  const { rows } = await withClient(project.database.url, (client) =>
    client.query(`
      SELECT i.id,
        (SELECT jsonb_build_object('id', s.id, 'city', s.city) FROM o.shop s WHERE s.id = i.shop_id) AS shop_id,
        coalesce((SELECT jsonb_agg(jsonb_build_object('id', n.id, 'item_id', jsonb_build_object('title', i.title)) ORDER BY n.id)
          FROM o.note n WHERE n.item_id = i.id), '[]') AS note
      FROM o.item i ORDER BY i.id`),
  );
  expect(json.data).toEqual(rows);
});

it('nothing that a request says shows more rows than the rule', async () => {
  const all = await withClient(project.database.url, (client) => client.query('SELECT id FROM o.item ORDER BY id'));
  for (const query of [
    'filter[_or][0][id][_gte]=0',
    'filter[_or][0][_and][0][id][_nnull]=true',
    'offset=0',
    'filter={"_and":[]}',
  ]) {
    const { json } = await project.ask(`/items/item?fields=id&limit=-1&${query}`);
    expect(json.data).toEqual(all.rows);
  }
  expect((await project.ask('/items/item?limit=0&meta=*')).json.meta.total_count).toBe(all.rows.length);
});
