/** The values of relations to many, in their two forms. */
import { isObject } from '../model/conditions.ts';
import { type Json, type JsonObject, type Relation, relationOf, type Table, tableOf } from '../model/world.ts';
import type { Form, Reading } from './reading.ts';

interface Members {
  readonly complete: boolean;
  readonly elements: readonly { readonly value: Json; readonly form: Form }[];
  readonly removed: readonly Json[];
}

/** Reads a value; undefined for what is none of the two forms. */
export function readMembers(value: Json): Members | undefined {
  if (value === null) return { complete: true, elements: [], removed: [] };
  if (Array.isArray(value)) {
    const elements = value.map((one: Json) => ({ value: one, form: 'either' as const }));
    return value.some((one: Json) => one === null || Array.isArray(one))
      ? undefined
      : { complete: true, elements, removed: [] };
  }
  return isObject(value) ? readChanges(value) : undefined;
}

function readChanges({
  create = [],
  update = [],
  upsert = [],
  delete: removed = [],
  ...others
}: JsonObject): Members | undefined {
  const lists = [create, update, upsert, removed].map((list) => (Array.isArray(list) ? list : undefined));
  const [made, changed, either, gone] = lists;
  if (made === undefined || changed === undefined || either === undefined || gone === undefined) return undefined;
  const elements = [
    ...made.map((value: Json) => ({ value, form: 'create' as const })),
    ...changed.map((value: Json) => ({ value, form: 'update' as const })),
    ...either.map((value: Json) => ({ value, form: 'either' as const })),
  ];
  const malformed = elements.some(({ value }) => !isObject(value)) || gone.includes(null);
  return malformed || Object.keys(others).length > 0 ? undefined : { complete: false, elements, removed: gone };
}

/** Whether an object says something, at any depth, that is none of the forms. */
export function isMalformed(reading: Reading, table: Table, payload: JsonObject): boolean {
  return Object.entries(payload).some(([name, value]) => {
    const relation = relationOf(table, name);
    if (relation === undefined) return false;
    const target = tableOf(reading.world, relation.target);
    if (relation.kind === 'm2o') return isObject(value) && isMalformed(reading, target, value);
    const members = readMembers(value);
    return (
      members === undefined ||
      members.elements.some((element) => isElementMalformed(reading, target, relation, element))
    );
  });
}

function isElementMalformed(
  reading: Reading,
  table: Table,
  relation: Relation,
  { value, form }: Members['elements'][number],
): boolean {
  if (!isObject(value)) return false;
  if (form === 'update' && table.key.some((name) => value[name] === undefined)) return true;
  if (relation.kind === 'm2a' && (value.collection !== undefined || value.item !== undefined)) {
    const { collection, item } = value;
    if (typeof collection !== 'string' || !relation.allowed.includes(collection) || item === undefined) return true;
    if (isObject(item) && isMalformed(reading, tableOf(reading.world, collection), item)) return true;
  }
  return isMalformed(reading, table, value);
}
