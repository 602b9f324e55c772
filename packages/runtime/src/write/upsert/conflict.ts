/**
 * `on_conflict`: the fields by which an item of a POST is one that there is. Source: `docs/decisions/writes.md`; API
 * specification, sections 8.4 and 9.
 */
import { forbidden, invalidQuery } from '../../errors.ts';
import type { ConstraintDescriptor } from '../../language/index.ts';
import { readNames } from '../../query/parse/parse-json.ts';
import { parseQueryString } from '../../query/parse/parse-query-string.ts';
import type { ReadLimits } from '../../query/parse/request.ts';
import type { CollectionScope, FieldScope } from '../../sql/scope.ts';
import type { Granted } from '../access/scope.ts';
import { type Preset, presetsOf } from '../checks/presets.ts';
import type { WriteContext } from '../write-plan.ts';

/** A unique key by which items are looked for. */
export interface Conflict {
  /** The collection as the caller reads it. */
  readonly readable: CollectionScope;
  readonly fields: readonly ConflictField[];
  /** Names of the constraints that keep it unique. */
  readonly constraints: ReadonlySet<string>;
}

/** One field of the key. */
export interface ConflictField {
  readonly field: FieldScope;
  /** True if the caller may give it to a new item; otherwise only rules do. */
  readonly writable: boolean;
  /** Preset for a new item that leaves it out; undefined when rules set nothing. */
  readonly preset: Preset | undefined;
}

const parameter = 'on_conflict';
const parameters: ReadonlySet<string> = new Set([parameter]);

/** True if a query may hold the parameter, so that it has to be parsed. */
export function mayHaveConflict(query: string): boolean {
  return query.includes(parameter) || query.includes('%');
}

/** The names of the parameter, each once; null when it is absent. Throws INVALID_QUERY for none and for another form. */
export function parseConflict(query: string, limits: ReadLimits): readonly string[] | null {
  const value = parseQueryString(query, limits, parameters).get(parameter);
  if (value === undefined) return null;
  const names = [...new Set(readNames(value, parameter))];
  if (names.length === 0) throw invalidQuery(`"${parameter}" names no field.`);
  if (names.length > limits.arrayLimit) throw invalidQuery(`"${parameter}" has too many elements.`);
  return names;
}

/**
 * Finds the unique key. Throws FORBIDDEN for a name that the caller cannot both read and give to a new item, INVALID_QUERY
 * for fields that no constraint keeps unique.
 */
export function resolveConflict(context: WriteContext, granted: Granted, names: readonly string[]): Conflict {
  const { descriptor } = granted.writable.collection;
  const readable = context.scope.read.collections.get(descriptor.name);
  if (readable === undefined) throw forbidden();
  const presets = presetsOf({ written: { ...granted, action: 'create' } });
  const fields = names.map((name): ConflictField => {
    const field = readable.fields.get(name);
    const preset = presets.find((candidate) => candidate.field.name === name);
    const writable = granted.grant.fields.has(name);
    if (field === undefined || field.secret || !(writable || preset !== undefined)) throw forbidden();
    return { field, writable, preset };
  });
  const constraints = descriptor.constraints?.filter((constraint) => isKey(constraint, names)) ?? [];
  if (constraints.length === 0) throw invalidQuery(`"${parameter}" must name the fields of a unique key.`);
  return { readable, fields, constraints: new Set(constraints.map(({ name }) => name)) };
}

function isKey({ type, fields, incomplete }: ConstraintDescriptor, names: readonly string[]): boolean {
  if (type !== 'unique' || incomplete === true) return false;
  return fields.length === names.length && names.every((name) => fields.includes(name));
}
