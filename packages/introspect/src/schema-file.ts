import { dialects } from '@tablewright/runtime/language';
import type { Diagnostic } from './diagnostic.ts';
import type { Schema } from './schema.ts';

const fileName = 'platform.schema.json';

/** Prints a schema for `platform.schema.json`: keys in alphabetical order, two spaces, a newline at the end. */
export function printSchema(schema: Schema): string {
  return printSchemaChunks(schema).join('');
}

/** The same text in chunks, for files: those of tables and collections are kept, and of a thousand the whole is long. */
export function printSchemaChunks(schema: Schema): readonly string[] {
  const members = Object.entries(schema).filter(([, value]) => value !== undefined);
  const sorted = members.sort(([a], [b]) => (a < b ? -1 : 1));
  const lines = sorted.flatMap(([key, value], index) => [
    `${index > 0 ? ',' : '{'}\n  "${key}": `,
    ...printMember(value),
  ]);
  return [...lines, '\n}\n'];
}

/** Prints a member in a list, which is taken away again, for its lines to stand as far from the margin. */
function printMember(value: unknown): readonly string[] {
  if (Array.isArray(value) && value.every(isObject)) {
    if (value.length === 0) return ['[]'];
    return [...value.flatMap((item, index) => [index > 0 ? ',\n    ' : '[\n    ', printItem(item)]), '\n  ]'];
  }
  return [JSON.stringify([sortKeys(value)], null, 2).slice('[\n  '.length, -'\n]'.length)];
}

const printed = new WeakMap<object, string>();

/** A table or a collection, in two lists. It never changes, so printing again has its text already. */
function printItem(item: object): string {
  const text =
    printed.get(item) ?? JSON.stringify([[sortKeys(item)]], null, 2).slice('[\n  [\n    '.length, -'\n  ]\n]'.length);
  printed.set(item, text);
  return text;
}

/** Reads what `printSchema` printed. A text of another kind or version is a diagnostic that says what to do. */
export function parseSchema(text: string): { readonly schema: Schema } | { readonly diagnostic: Diagnostic } {
  const value = parseJson(text);
  if (value === undefined) return refuse('The file is not JSON.');
  if (!isObject(value)) return refuse('The file does not hold a schema.');
  if (value.version !== 1) return refuse(`The file has version ${JSON.stringify(value.version) ?? 'none'}, not 1.`);
  if (!isDialect(value.dialect)) return refuse(`The file is of a dialect that is none of ${dialects.join(', ')}.`);
  if (isSchema(value)) return { schema: value };
  return refuse(`The file does not hold a whole schema: "${firstFlaw(value)}" is not as it was written.`);
}

/** A value that is in order already, as most of such a file, stays the same object. */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return sortItems(value);
  return isObject(value) ? sortMembers(value) : value;
}

function sortItems(items: readonly unknown[]): readonly unknown[] {
  let sorted: unknown[] | null = null;
  for (let index = 0; index < items.length; index += 1) {
    const item = sortKeys(items[index]);
    if (item === items[index]) continue;
    sorted ??= [...items];
    sorted[index] = item;
  }
  return sorted ?? items;
}

/** Entries become own properties under any name. */
function sortMembers(value: Readonly<Record<string, unknown>>): unknown {
  const keys = Object.keys(value);
  const isSame = isSorted(keys);
  if (!isSame) keys.sort();
  const items = keys.map((key) => sortKeys(value[key]));
  if (isSame && keys.every((key, index) => items[index] === value[key])) return value;
  return Object.fromEntries(keys.map((key, index) => [key, items[index]]));
}

function isSorted(keys: readonly string[]): boolean {
  for (let index = 1; index < keys.length; index += 1) if ((keys[index - 1] ?? '') > (keys[index] ?? '')) return false;
  return true;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isDialect(value: unknown): boolean {
  return dialects.some((dialect) => dialect === value);
}

/** `firstFlaw` has looked; parts that it does not check are only written by this package. */
function isSchema(value: object): value is Schema {
  return firstFlaw(value) === null;
}

function refuse(message: string): { readonly diagnostic: Diagnostic } {
  const hint = 'Run `platform introspect` with the database at hand to write it anew.';
  return { diagnostic: { code: 'schema-file', severity: 'error', place: fileName, message, hint } };
}

/** Kind of value that a key of the file must have; a trailing `?` admits null. */
type Kind = 'string' | 'boolean' | 'object' | 'array' | 'string?' | 'object?' | Shape | readonly [Shape | 'string'];

interface Shape {
  readonly [key: string]: Kind;
}

const key: Shape = { name: 'string', columns: ['string'] };

const column: Shape = {
  name: 'string',
  nativeType: 'string',
  type: 'object',
  nullable: 'boolean',
  fill: 'object',
  comment: 'string?',
  source: 'object?',
  updatable: 'boolean',
};

const foreignKey: Shape = { name: 'string', columns: ['string'], target: 'string', targetColumns: ['string'] };

const table: Shape = {
  id: 'string',
  schema: 'string',
  name: 'string',
  kind: 'string',
  comment: 'string?',
  rowSecurity: { enabled: 'boolean', forced: 'boolean' },
  writable: { insert: 'boolean', update: 'boolean', delete: 'boolean' },
  columns: [column],
  primaryKey: 'object?',
  uniques: [key],
  foreignKeys: [foreignKey],
  checks: 'array',
  indexes: 'array',
};

const schema: Shape = {
  dialect: 'string',
  tables: [table],
  enums: [{ schema: 'string', name: 'string', labels: ['string'] }],
  collections: 'array',
  roles: 'array',
  permissions: 'array',
};

/**
 * Path of the first part of a parsed file that cannot be a schema's (`tables[3].columns`), or null.
 *
 * Looks at what `resolveSchema` relies on; the file is written by this package, so this finds cut and edited files.
 */
function firstFlaw(value: unknown): string | null {
  return fits(value, schema) ? null : flawIn(value, schema, '');
}

/** True if there is no flaw, which takes no paths to see. */
function fits(value: unknown, kind: Kind): boolean {
  if (typeof kind === 'string') return isOfKind(value, kind);
  if (isList(kind)) return Array.isArray(value) && value.every((item) => fits(item, kind[0]));
  if (!isObject(value)) return false;
  for (const name in kind) if (!fits(value[name], kind[name] ?? 'object')) return false;
  return true;
}

function flawIn(value: unknown, kind: Kind, path: string): string | null {
  if (typeof kind === 'string') return isOfKind(value, kind) ? null : path;
  if (isList(kind)) return flawInList(value, kind[0], path);
  if (!isObject(value)) return path;
  for (const [name, inner] of Object.entries(kind)) {
    const flaw = flawIn(value[name], inner, path === '' ? name : `${path}.${name}`);
    if (flaw !== null) return flaw;
  }
  return null;
}

function flawInList(value: unknown, kind: Kind, path: string): string | null {
  if (!Array.isArray(value)) return path;
  const items: readonly unknown[] = value;
  for (const [index, item] of items.entries()) {
    const flaw = flawIn(item, kind, `${path}[${index}]`);
    if (flaw !== null) return flaw;
  }
  return null;
}

function isOfKind(value: unknown, kind: Kind & string): boolean {
  if (kind === 'string' || kind === 'boolean') return typeof value === kind;
  if (kind === 'array') return Array.isArray(value);
  if (kind === 'object') return isObject(value);
  return value === null || isOfKind(value, kind === 'string?' ? 'string' : 'object');
}

function isList(kind: Shape | readonly [Shape | 'string']): kind is readonly [Shape | 'string'] {
  return Array.isArray(kind);
}
