/** Reading only what changed gives what reading everything gives, whatever is changed. */
import { readFile } from 'node:fs/promises';
import {
  type CatalogStamps,
  changedRelations,
  type PlatformConfig,
  parsePermissions,
  type Reading,
  type RunStatement,
  readStamps,
  readTables,
  rereadTables,
  resolveSchema,
  type SchemaFacts,
} from '@tablewright/introspect';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { randomStatement } from '../support/random-ddl.ts';
import { seededRandom } from '../support/swarm.ts';
import { fixture, runOn } from './facts.ts';

let database: TestDatabase;
let client: pg.Client;
let run: RunStatement;
beforeAll(async () => {
  database = await createDatabase(await readFile(fixture('everything.sql'), 'utf8'));
  client = new pg.Client(database.url);
  await client.connect();
  run = runOn(client);
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

/** What was read last. */
interface Known {
  readonly marks: CatalogStamps;
  readonly reading: Reading;
}

async function know(): Promise<Known> {
  return { marks: await readStamps('postgres', run), reading: await readTables('postgres', run) };
}

/** What is read of the changes since; `part` says whether it was a part, and null that no mark changed. */
async function knowAgain({ marks, reading }: Known): Promise<Known & { readonly part: boolean | null }> {
  const after = await readStamps('postgres', run);
  const changed = changedRelations(marks, after);
  if (changed === null) return { marks, reading, part: null };
  const reread = await rereadTables(run, reading, changed);
  return { marks: after, reading: reread ?? (await readTables('postgres', run)), part: reread !== null };
}

/** Makes the change; expects what is read of it to be what reading everything gives, and gives that. */
async function change(known: Known, sql: string): Promise<Awaited<ReturnType<typeof knowAgain>>> {
  await client.query(sql);
  const again = await knowAgain(known);
  const { facts } = await readTables('postgres', run);
  expect(textOf(again.reading.facts), sql).toEqual(textOf(facts));
  // Tables that stayed the same objects are resolved as those that were read.
  expect(resolved(again.reading.facts), sql).toEqual(resolved(facts));
  return again;
}

const { document } = parsePermissions('', 'permissions.yaml');
const configs: readonly PlatformConfig[] = [
  {},
  {
    collections: {
      people: { fields: { email: { hidden: true } } },
      accounts: { name: 'holders' },
      secrets: { hidden: true },
    },
  },
];

function resolved(facts: SchemaFacts): readonly string[] {
  return configs.flatMap((config) => {
    const { schema, diagnostics } = resolveSchema(facts, config, document);
    return [...schema.collections, ...diagnostics].map((one) => JSON.stringify(one));
  });
}

/** A table, an enum, a diagnostic a line, so that a difference can be read. */
function textOf({ tables, enums, diagnostics }: SchemaFacts): readonly string[] {
  return [...tables, ...enums, ...diagnostics].map((one) => JSON.stringify(one));
}

/** In this order; a part is read of the first ones, everything of the others. */
const parts = [
  "COMMENT ON COLUMN shop.people.nick IS 'How friends call them'",
  'ALTER TABLE shop.people RENAME COLUMN tax_number TO tax_id',
  'ALTER TABLE shop.people RENAME TO persons',
  'ALTER TABLE shop.fills RENAME serial_id TO serial_key',
  'ALTER SEQUENCE shop.fills_serial_id_seq RENAME TO fills_sequence',
  "CREATE TABLE shop.late (id int DEFAULT nextval('shop.fills_sequence'), row_of shop.persons[])",
  'ALTER SEQUENCE shop.fills_sequence RENAME TO filling',
  'ALTER TABLE shop.persons RENAME TO people',
  'DROP TABLE shop.late',
  'ALTER TABLE shop.checks DROP c_int CASCADE, ADD CHECK (c_big > 0)',
  "ALTER VIEW shop.v_simple ALTER nick SET DEFAULT 'none'",
  'CREATE OR REPLACE VIEW shop.v_of_view AS SELECT "E-Mail" AS mail, id AS ":id", nick FROM shop.v_simple',
  'CREATE VIEW shop.v_new AS SELECT v.*, s.word FROM shop.v_of_view AS v CROSS JOIN hidden.secrets AS s',
  'ALTER TABLE hidden.secrets RENAME word TO phrase',
  'ALTER TABLE shop.people ALTER email DROP NOT NULL',
  'DROP VIEW shop.v_new',
  'CREATE TRIGGER on_notes BEFORE DELETE ON shop.outside FOR EACH ROW EXECUTE FUNCTION shop.insert_person()',
  'ALTER TABLE shop.outside RENAME TO inside',
  'DROP TRIGGER on_notes ON shop.inside',
  'CREATE POLICY nobody ON shop.checks USING (false)',
  'CREATE UNIQUE INDEX secret_words ON hidden.secrets (phrase)',
  'ALTER INDEX hidden.secret_words RENAME TO words',
  'ALTER TABLE shop.accounts RENAME CONSTRAINT accounts_person TO person',
  'ALTER TABLE shop.accounts DROP CONSTRAINT person',
  'REVOKE ALL ON shop.checks FROM PUBLIC',
  'CREATE TABLE shop.made (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, person_id int REFERENCES shop.people)',
  'ALTER TABLE shop.made SET SCHEMA hidden',
  'DROP TABLE hidden.made',
  'ALTER TABLE shop.events RENAME TO happenings',
  'ALTER TABLE shop.events_2020 RENAME TO first_events',
  'ALTER TABLE shop.cars RENAME TO autos',
  'ALTER TABLE shop.vehicles RENAME wheels TO tires',
  'ALTER TABLE shop.vehicles RENAME TO movers',
];
const wholes = [
  'ALTER SEQUENCE shop.free_sequence RENAME TO own_sequence',
  "ALTER TYPE shop.status ADD VALUE 'gone'",
  'ALTER TYPE shop.address RENAME TO place',
  'ALTER TYPE shop.place ADD ATTRIBUTE district text',
  'ALTER TYPE shop.place RENAME ATTRIBUTE district TO quarter',
  'ALTER TYPE shop.place DROP ATTRIBUTE quarter',
  'ALTER DOMAIN shop.size ADD CONSTRAINT no_digits CHECK (VALUE <> 1::text)',
  "COMMENT ON TYPE shop.status IS 'What becomes of it'",
  'CREATE TABLE shop.events_2030 PARTITION OF shop.happenings DEFAULT',
  'ALTER SCHEMA shop RENAME TO store',
];

test('after a change of a relation, what follows from it is read', async () => {
  let known = await know();
  for (const sql of parts) {
    const again = await change(known, sql);
    expect(again.part, sql).toBe(true);
    known = again;
  }
  for (const sql of wholes) {
    const again = await change(known, sql);
    expect(again.part, sql).toBe(false);
    known = again;
  }
});

test('tables that did not change stay the same objects', async () => {
  const known = await know();
  const again = await change(known, 'ALTER TABLE store.accounts ADD c int');
  const before = new Set(known.reading.facts.tables);
  const others = again.reading.facts.tables.filter((table) => !before.has(table)).map(({ id }) => id);
  expect(others).toContain('store.accounts');
  // Views of it and what they read, and who has a foreign key to it.
  expect(others.length).toBeLessThan(known.reading.facts.tables.length / 2);
});

test('random changes are read as everything is read', async () => {
  const random = seededRandom();
  // What has no code cannot be asked whether a view of it can be written.
  await client.query('DROP SERVER nowhere CASCADE');
  let known = await know();
  let count = 0;
  for (let step = 0; step < steps; step += 1) {
    const sql = randomStatement(known.reading.facts, random);
    const isPossible = await client.query(sql).then(
      () => true,
      () => false,
    );
    if (!isPossible) continue;
    const again = await change(known, 'SELECT 1');
    if (again.part === true) count += 1;
    known = again;
  }
  expect(count).toBeGreaterThan(steps / 10);
});

/** Statements that are tried; many are impossible. */
const steps = Number(process.env.REREAD_STEPS ?? 150);
