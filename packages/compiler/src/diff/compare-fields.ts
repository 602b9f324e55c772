/** Fields as one role reads them. */
import { isDeepStrictEqual } from 'node:util';
import type { ApiField } from '../api.ts';
import { sentType } from '../client/values.ts';
import { functionGroup } from '../graphql/functions.ts';
import { valueType } from '../graphql/values.ts';
import { valueSchema } from '../openapi/values.ts';
import type { ViewCollection, ViewField } from '../openapi/view.ts';
import type { CollectionPair } from './compare-collections.ts';
import { pairs, quoted } from './pair.ts';
import { type Found, operationsIn } from './side.ts';

/** Compares the fields that can be read on both sides. */
export function compareFields(pair: CollectionPair): readonly Found[] {
  const { before, after, was, is, renamed } = pair;
  const [old, fresh] = [operationsIn(before, was.name, 'read'), operationsIn(after, is.name, 'read')];
  return pairs(was.fields, is.fields, renamed).flatMap((one): readonly Found[] => {
    const subject = `${is.name}.${one.name}`;
    if (one.was === undefined) return [added(pair, one.name, subject, fresh)];
    if (one.is === undefined) return [removed(pair, one.name, subject, old)];
    return compareField(pair, one.was, one.is).map((found) => ({ subject, operations: old, ...found }));
  });
}

function added(
  { before, after, was }: CollectionPair,
  name: string,
  subject: string,
  operations: readonly string[],
): Found {
  const existed = hasField(before.version.collections.get(was.name)?.fields, name);
  const rights = after.access.admin ? {} : { rights: 'widening' as const };
  return existed
    ? { rule: 'field-shown', subject, message: `"${name}" can be read.`, operations, ...rights }
    : { rule: 'field-added', subject, message: `"${name}" is new.`, operations, ...rights };
}

function removed(
  { after, is, renamed }: CollectionPair,
  name: string,
  subject: string,
  operations: readonly string[],
): Found {
  const stays = hasField(after.version.collections.get(is.name)?.fields, renamed.get(name) ?? name);
  const rights = after.access.admin ? {} : { rights: 'narrowing' as const };
  return stays
    ? { rule: 'field-hidden', subject, message: `"${name}" can no longer be read.`, operations, ...rights }
    : { rule: 'field-removed', subject, message: `"${name}" is gone.`, operations, ...rights };
}

function hasField(fields: readonly ApiField[] = [], name: string): boolean {
  return fields.some(({ descriptor }) => descriptor.name === name);
}

/** What is told of a field. */
export type FieldChange = Pick<Found, 'rule' | 'message' | 'verdicts'>;

type Told = FieldChange;

/** Compares one field. */
export function compareField(pair: CollectionPair, was: ViewField, is: ViewField): readonly FieldChange[] {
  const name = is.name;
  const singles: readonly (Told | null)[] = [
    was.name === name ? null : { rule: 'field-renamed', message: `"${was.name}" is "${name}" now.` },
    typeChange(pair, was, is),
    leadChange(pair, was, is),
    was.nullable === is.nullable
      ? null
      : is.nullable
        ? { rule: 'field-now-nullable', message: `"${name}" can be null.` }
        : { rule: 'field-never-null', message: `"${name}" is never null.` },
    ...valuesChanges(was, is),
    ...sizeChanges(was, is),
    defaultChange(pair, was, is),
    collationChange(pair, was, is),
    was.note === is.note ? null : { rule: 'field-note', message: `The note of "${name}" has changed.` },
    deprecationChange(was, is),
  ];
  return singles.filter((one) => one !== null);
}

function typeChange({ was: before, is: after }: CollectionPair, was: ViewField, is: ViewField): Told | null {
  const [old, fresh] = [was.descriptor, is.descriptor];
  if (old.type === fresh.type && old.element === fresh.element && old.native === fresh.native) return null;
  const message = `"${is.name}" is ${typeText(is)}, it was ${typeText(was)}.`;
  // Lists, lengths and digits have rules of their own.
  const schema = ({ descriptor }: ViewField) => {
    const { maxLength: _, precision: __, scale: ___, ...rest } = descriptor;
    return valueSchema(rest, null);
  };
  const isSame =
    isDeepStrictEqual(schema(was), schema(is)) &&
    graphqlType(before, was) === graphqlType(after, is) &&
    isDeepStrictEqual(sentType(old, null), sentType(fresh, null)) &&
    functionGroup(old.type) === functionGroup(fresh.type) &&
    old.wire.kind === fresh.wire.kind;
  if (!isSame) return { rule: 'field-type-changed', message };
  return old.type === fresh.type && old.native === fresh.native ? null : { rule: 'field-type-kept', message };
}

function graphqlType({ key }: ViewCollection, { descriptor, filtered }: ViewField): string {
  if (filtered !== null) return filtered.collection;
  return valueType(descriptor, key.length === 1 && key[0]?.name === descriptor.name);
}

function typeText({ descriptor: { type, element, native } }: ViewField): string {
  const name = type === 'array' ? `array of ${element ?? 'unknown'}` : type;
  return `${name} (${native.replaceAll('"', '')})`;
}

function leadChange({ collections }: CollectionPair, was: ViewField, is: ViewField): Told | null {
  const [old, fresh] = [was.filtered?.collection ?? null, is.filtered?.collection ?? null];
  if (old === fresh || (old !== null && collections.get(old) === fresh)) return null;
  if (old === null) return { rule: 'field-leads', message: `"${is.name}" leads to "${fresh}".` };
  if (fresh === null) return { rule: 'field-leads-no-more', message: `"${is.name}" leads no longer to "${old}".` };
  return { rule: 'relation-target-changed', message: `"${is.name}" leads to "${fresh}" in place of "${old}".` };
}

function valuesChanges(was: ViewField, is: ViewField): readonly (Told | null)[] {
  const [old, fresh] = [was.values, is.values];
  if (old === null && fresh === null) return [];
  if (old === null) return [{ rule: 'values-listed', message: `"${is.name}" is one of ${quoted(fresh ?? [])}.` }];
  if (fresh === null) return [{ rule: 'values-unlisted', message: `"${is.name}" can have any value.` }];
  const lost = old.filter((value) => !fresh.includes(value));
  const won = fresh.filter((value) => !old.includes(value));
  const kept = (one: readonly string[], other: readonly string[]) => one.filter((value) => other.includes(value));
  const order = is.descriptor.type === 'enum' && !isDeepStrictEqual(kept(old, fresh), kept(fresh, old));
  return [
    lost.length > 0 ? { rule: 'values-removed', message: `"${is.name}" is no longer ${quoted(lost)}.` } : null,
    won.length > 0 ? { rule: 'values-added', message: `"${is.name}" can be ${quoted(won)}.` } : null,
    order ? { rule: 'values-reordered', message: `The values of "${is.name}" have another order.` } : null,
  ];
}

function sizeChanges(was: ViewField, is: ViewField): readonly (Told | null)[] {
  const [old, fresh] = [was.descriptor, is.descriptor];
  if (old.type === 'array' || old.type !== fresh.type) {
    // Between string and text the length is all that changes.
    if (!isText(old.type) || !isText(fresh.type)) return [];
  }
  const digits = (one: typeof old): number => (one.precision ?? 1000) - (one.scale ?? 0);
  const less = digits(fresh) < digits(old) || (fresh.scale ?? 1000) < (old.scale ?? 1000);
  const moreDigits = digits(fresh) > digits(old) || (fresh.scale ?? 1000) > (old.scale ?? 1000);
  return [
    sizeChange('length', is.name, old.maxLength, fresh.maxLength),
    old.type === 'decimal' && less ? { rule: 'precision-reduced', message: `"${is.name}" has fewer digits.` } : null,
    old.type === 'decimal' && !less && moreDigits
      ? { rule: 'precision-raised', message: `"${is.name}" has more digits.` }
      : null,
  ];
}

function isText(type: string): boolean {
  return type === 'string' || type === 'text';
}

function sizeChange(what: 'length', name: string, was: number | undefined, is: number | undefined): Told | null {
  if (was === is) return null;
  const reduced = (is ?? Number.POSITIVE_INFINITY) < (was ?? Number.POSITIVE_INFINITY);
  const text = `The ${what} of "${name}" is ${is ?? 'unlimited'}, it was ${was ?? 'unlimited'}.`;
  return { rule: reduced ? 'length-reduced' : 'length-raised', message: text };
}

function apiField(
  { version, name }: { version: CollectionPair['before']['version']; name: string },
  field: string,
): ApiField | undefined {
  return version.collections.get(name)?.fields.find(({ descriptor }) => descriptor.name === field);
}

function defaultChange(
  { before, after, was: one, is: other }: CollectionPair,
  was: ViewField,
  is: ViewField,
): Told | null {
  const old = apiField({ version: before.version, name: one.name }, was.name);
  const fresh = apiField({ version: after.version, name: other.name }, is.name);
  const text = (field: ApiField | undefined): string => field?.defaultText ?? 'none';
  if (text(old) === text(fresh)) return null;
  return { rule: 'default-changed', message: `The default of "${is.name}" is ${text(fresh)}, it was ${text(old)}.` };
}

function collationChange(
  { before, after, was: one, is: other }: CollectionPair,
  was: ViewField,
  is: ViewField,
): Told | null {
  const of = (side: CollectionPair['before'], collection: string, field: string): string | null => {
    const { tables, collections } = side.version.schema;
    const found = collections.find(({ name }) => name === collection);
    const column = found?.fields.find(({ name }) => name === field)?.column;
    return tables.find(({ id }) => id === found?.table)?.columns.find(({ name }) => name === column)?.collation ?? null;
  };
  const [old, fresh] = [of(before, one.name, was.name), of(after, other.name, is.name)];
  if (old === fresh) return null;
  return { rule: 'collation-changed', message: `The collation of "${is.name}" is ${fresh ?? 'the usual one'}.` };
}

function deprecationChange(was: ViewField, is: ViewField): Told | null {
  if (was.deprecated === is.deprecated) return null;
  if (is.deprecated === null) return { rule: 'field-undeprecated', message: `"${is.name}" is no longer deprecated.` };
  return { rule: 'field-deprecated', message: `"${is.name}" is deprecated.` };
}
