/** The components that describe what a payload takes. Source: API specification, section 6 ("Input"). */
import { createFactsOfTwo } from '../../cache/facts.ts';
import { keepText } from '../../print/kept-text.ts';
import type { NestedWrite, RoleInput, RoleKeyField, RolePayload, RoleUpsert } from '../../role-view/role-view.ts';
import { about, type JsonObject, objectOf } from '../json.ts';
import { memberObjects, nestedWriteSchema } from './nested-writes.ts';
import { orNull, scalarInput, type Valued } from './values.ts';

/** Describes a payload: exactly these names. `without` need not be there, though they are required. */
export function inputSchema(
  { fields, required, nestedWrites }: RolePayload,
  description: string,
  without: readonly string[] = [],
): JsonObject {
  const settable = new Set([
    ...without,
    ...nestedWrites.flatMap((nested) => (nested.kind === 'one' ? nested.holders : [])),
  ]);
  const needed = required.filter((name) => !settable.has(name));
  return {
    type: 'object',
    description,
    properties: propertiesOf(fields, nestedWrites, () => keepText(inputProperties(fields, nestedWrites))),
    ...(needed.length > 0 && { required: needed }),
    additionalProperties: false,
  };
}

/** Creating and updating mostly take the same, by the same lists. */
const propertiesOf = createFactsOfTwo<readonly RoleInput[], readonly NestedWrite[], JsonObject>();

function inputProperties(fields: readonly RoleInput[], nestedWrites: readonly NestedWrite[]): JsonObject {
  return objectOf([
    ...fields.map((field) => [field.name, fieldSchema(field)] as const),
    ...nestedWrites.map((nested) => [nested.name, nestedWriteSchema(nested)] as const),
  ]);
}

/** A payload with the key of the item that it is for. */
export function keyed(key: readonly RoleKeyField[], { fields, required, nestedWrites }: RolePayload): RolePayload {
  const names = key.map(({ name }) => name);
  const parts = key.map((part): RoleInput => ({ ...part, nullable: false, member: null }));
  const others = fields.filter(({ name }) => !names.includes(name));
  const needed = required.filter((name) => !names.includes(name));
  return { fields: [...parts, ...others], required: [...names, ...needed], nestedWrites };
}

/** Describes a payload that makes an item, or changes the one that has the same values in one of the unique keys. */
export function upsertSchema(upsert: RoleUpsert): JsonObject {
  const schema = inputSchema(upsert, 'A new item, or changes of the one that has the same values in the unique key.');
  const { needed } = upsert;
  if (needed.some((key) => key.length === 0)) return schema;
  const [only, ...more] = needed.map((required) => ({ required }));
  return more.length === 0 ? { ...schema, ...only } : { ...schema, anyOf: [...(only ? [only] : []), ...more] };
}

/** Describes a field of a payload; a many-to-one also takes an item in the place of its key. */
export function fieldSchema({ descriptor, values, nullable, note, member }: RoleInput): JsonObject {
  const taken = takenSchema(descriptor, values);
  const schema = member === null ? taken : { anyOf: [taken, ...memberObjects(member)] };
  return about(nullable ? orNull(schema) : schema, note, null);
}

function takenSchema(field: Valued, values: readonly string[] | null): JsonObject {
  if (field.type !== 'array') return scalarInput(field, values);
  const { wire, native, element = 'unknown' } = field;
  const item: Valued = { type: element, native: native.replace(/\[\]$/, ''), wire: { kind: wire.kind } };
  return { type: 'array', items: orNull(scalarInput(item, values)) };
}
