/** Links by key that lead nowhere, told to who may know what there is. Source: API specification, section 7.1. */
import type { FilterObject } from '../../language/conditions/filter-syntax.ts';
import type { ConstraintDescriptor, JsonValue } from '../../language/index.ts';
import type { Batch } from '../decode/batch.ts';

/** Returns the keys that a request gives to fields: the parts for each item that has them all. */
export type FindKeys = (fields: readonly string[]) => readonly (readonly string[])[];

/** Keys that are told; more say no more. */
const maxKeys = 5;
const longestKey = 64;

/**
 * A sentence without its subject. It names keys of the request only, all of whose parts the caller has sent: `values` of the
 * database, in its own form, choose among them.
 */
export function missingParent(
  { target, fields }: ConstraintDescriptor,
  keysOf: FindKeys | undefined,
  values: string | undefined,
): string {
  if (target === undefined) return 'names an item that does not exist';
  const keys = new Map((keysOf?.(fields) ?? []).map((parts) => [parts.join(', '), parts.join(',')]));
  const meant = values === undefined ? undefined : keys.get(values);
  const texts = (meant === undefined ? [...keys.values()] : [meant]).map(shortened);
  const [only] = texts;
  if (only === undefined || texts.length > maxKeys) return `names ${target} that do not exist`;
  if (texts.length === 1) return `cannot be linked: there is no ${target} with the key ${only}`;
  return `cannot be linked: there is no ${target} with one of the keys ${texts.join(', ')}`;
}

function shortened(key: string): string {
  return JSON.stringify(key.length <= longestKey ? key : `${key.slice(0, longestKey).toWellFormed()}…`);
}

/** The keys in payloads. */
export function keysInPayloads(payloads: readonly FilterObject[]): FindKeys {
  return (fields) => payloads.flatMap((payload) => complete(fields.map((name) => scalarText(payload, name))));
}

/** The keys in a batch that came with the request. */
export function keysInBatch({ columns, count }: Batch): FindKeys {
  return function givenKeys(fields) {
    const parts = fields.map((name) => columns.find(({ field, linked }) => !linked && field.descriptor.name === name));
    return Array.from({ length: count }, (_, item) => parts.map((column) => column?.values[item] ?? null)).flatMap(
      complete,
    );
  };
}

function complete(parts: readonly (string | null)[]): readonly (readonly string[])[] {
  const texts = parts.filter((part) => part !== null);
  return texts.length === parts.length ? [texts] : [];
}

function scalarText(payload: FilterObject, name: string): string | null {
  const value: JsonValue = (Object.hasOwn(payload, name) ? payload[name] : null) ?? null;
  if (JSON.isRawJSON(value)) return value.rawJSON;
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
}
