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
export function firstFlaw(value: unknown): string | null {
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

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
