/** What the tests of introspection share: reading the facts of a test database. */
import { fileURLToPath } from 'node:url';
import type { Catalog, Column, ReadOptions, RunStatement, SchemaFacts, Table } from '@tablewright/introspect';
import { buildTables, readCatalog } from '@tablewright/introspect';
import type pg from 'pg';
import { withClient } from '../support/database.ts';

/** Path of a file beside the tests. */
export function fixture(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}

/** Reads the catalog of a database over one connection, prepared by `settings`. */
export function catalogOf(url: string, options: ReadOptions = {}, settings = 'SELECT 1'): Promise<Catalog> {
  return withClient(url, async (client) => {
    await client.query(settings);
    return readCatalog(runOn(client), options);
  });
}

/** Reads and builds the facts of a database. */
export async function factsOf(url: string, options: ReadOptions = {}): Promise<SchemaFacts> {
  return buildTables(await catalogOf(url, options));
}

/** Runs statements on a client; introspection selects nothing but texts. */
export function runOn(client: pg.Client): RunStatement {
  return async (text, parameters) => {
    const query: pg.QueryArrayConfig = { text, values: [...parameters], rowMode: 'array' };
    return (await client.query<(string | null)[]>(query)).rows;
  };
}

/** The table of this id, which must exist. */
export function tableOf(facts: SchemaFacts, id: string): Table {
  const table = facts.tables.find((candidate) => candidate.id === id);
  if (!table) throw new Error(`no table ${id} among ${facts.tables.map((candidate) => candidate.id).join(', ')}`);
  return table;
}

/** The column of this name, which must exist. */
export function columnOf(facts: SchemaFacts, id: string, name: string): Column {
  const column = tableOf(facts, id).columns.find((candidate) => candidate.name === name);
  if (!column) throw new Error(`no column ${name} in ${id}`);
  return column;
}

/** Codes and places of the diagnostics, each as `code place`. */
export function codesOf(facts: SchemaFacts): string[] {
  return facts.diagnostics.map((diagnostic) => `${diagnostic.code} ${diagnostic.place}`);
}

/** The catalog with every kind of row in another order; the same seed gives the same order. */
export function shuffled(catalog: Catalog, seed: number): Catalog {
  const random = randomOf(seed);
  return {
    version: catalog.version,
    selection: catalog.selection,
    namespaces: shuffle(catalog.namespaces, random),
    relations: shuffle(catalog.relations, random),
    columns: shuffle(catalog.columns, random),
    constraints: shuffle(catalog.constraints, random),
    indexes: shuffle(catalog.indexes, random),
    inherits: shuffle(catalog.inherits, random),
    rules: shuffle(catalog.rules, random),
    types: shuffle(catalog.types, random),
    objects: shuffle(catalog.objects, random),
  };
}

function shuffle<T>(rows: readonly T[], random: () => number): T[] {
  return rows
    .map((row) => ({ row, place: random() }))
    .sort((left, right) => left.place - right.place)
    .map(({ row }) => row);
}

/** A linear congruential generator (Numerical Recipes). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
