/** A compiler that remembers makes what one makes that knows nothing, to the byte, whatever changed in between. */
import { readdirSync, readFileSync } from 'node:fs';
import { compile, createMemoCache, type GeneratedFile } from '@tablewright/compiler';
import { parseSchema } from '@tablewright/introspect';
import type { Schema } from '@tablewright/introspect/schema';
import { expect, test } from 'vitest';
import { drawnSeed } from '../support/drawn-seed.ts';

const repository = new URL('../../', import.meta.url);
const folder = new URL('templates/', repository);
const names = readdirSync(folder).filter((name) => name.endsWith('.hbs'));
const templates = new Map(names.map((name) => [name, readFileSync(new URL(name, folder), 'utf8')]));

/** Changes per schema; every one is compared. */
const steps = Number(process.env.INCREMENTAL_STEPS ?? 10);
const seed = drawnSeed('INCREMENTAL_SEED');

test.each(['access', 'callers', 'names', 'relations'])('%s', (name) => {
  const random = randomOf(seed);
  const memoCache = createMemoCache();
  const text = readFileSync(new URL(`test/golden/${name}/schema.json`, repository), 'utf8');
  let schema: unknown = JSON.parse(text);
  compile(parsed(JSON.stringify(schema)), { templates, memoCache });
  const done: string[] = [];
  let files = 0;
  for (let step = 0; step < steps; step += 1) {
    const next: unknown = structuredClone(schema);
    done.push(change(next, random));
    const warm = compile(parsed(JSON.stringify(next)), { templates, memoCache });
    const cold = compile(parsed(JSON.stringify(next)), { templates });
    expect(warm.diagnostics, `seed ${seed}: ${done.join(', ')}`).toEqual(cold.diagnostics);
    expect(textsOf(warm.files), `seed ${seed}: ${done.join(', ')}`).toEqual(textsOf(cold.files));
    files += cold.files.length;
    // What does not compile is forgotten, as a server forgets it.
    if (cold.files.length > 0) schema = next;
  }
  // Most changes must compile, or nothing is shown.
  expect(files).toBeGreaterThan(steps * 5);
});

function textsOf(files: readonly GeneratedFile[]): ReadonlyMap<string, string> {
  return new Map(files.map(({ path, contents }) => [path, contents]));
}

function parsed(text: string): Schema {
  const result = parseSchema(text);
  if ('schema' in result) return result.schema;
  throw new Error(result.diagnostic.message);
}

interface Place {
  readonly kind: string;
  readonly path: string;
  readonly alter: () => void;
}

/** Changes one thing somewhere in the schema, in place; returns what. */
function change(schema: unknown, random: () => number): string {
  const kinds = [...Map.groupBy(placesIn(schema, '', random), ({ kind }) => kind).values()];
  const places = kinds[Math.floor(random() * kinds.length)] ?? [];
  const place = places[Math.floor(random() * places.length)];
  if (place === undefined) throw new Error('There is nothing to change.');
  place.alter();
  return place.path;
}

const words = ['A note.', 'Names title and authors.', ''];
const flipped = new Set(['nullable', 'single', 'required', 'insert', 'update', 'delete', 'singleton', 'app', 'unique']);
const written = new Set(['note', 'comment', 'deprecated', 'description']);
const shortened = new Set(['fields', 'permissions', 'relations', 'roles', 'presets']);

function placesIn(value: unknown, path: string, random: () => number): readonly Place[] {
  if (Array.isArray(value)) return value.flatMap((one, at) => placesIn(one, `${path}[${at}]`, random));
  if (typeof value !== 'object' || value === null) return [];
  const own: readonly Place[] =
    'relations' in value
      ? [
          { kind: 'deprecated', path, alter: () => Reflect.set(value, 'deprecated', 'Old.') },
          { kind: 'key', path, alter: () => Reflect.set(value, 'key', []) },
        ]
      : [];
  const inner = Object.entries(value).flatMap(([key, item]): readonly Place[] => {
    const here = `${path}.${key}`;
    const set = (made: unknown): Place => ({ kind: key, path: here, alter: () => Reflect.set(value, key, made) });
    const inner = placesIn(item, here, random);
    if (flipped.has(key) && typeof item === 'boolean') return [...inner, set(!item)];
    if (written.has(key)) return [...inner, set(words[Math.floor(random() * words.length)])];
    if (key === 'where') return [...inner, set({ kind: random() < 0.5 ? 'and' : 'or', of: [] })];
    if (!shortened.has(key) || !Array.isArray(item) || item.length === 0) return inner;
    const left = Math.floor(random() * item.length);
    return [...inner, set(item.filter((_, at) => at !== left))];
  });
  return [...own, ...inner];
}

/** The same numbers for the same seed (mulberry32). */
function randomOf(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
