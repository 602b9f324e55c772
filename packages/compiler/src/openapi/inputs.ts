/** The components that describe what a payload takes. Source: API specification, section 6 ("Input"). */
import type { JsonValue } from '@platform/runtime/contract';
import { described, type JsonObject, objectOf } from './json.ts';
import { orNull, type Valued, valueSchema } from './values.ts';
import type { ViewInput, ViewUpsert } from './view.ts';

/** Describes a payload: exactly these names. */
export function inputSchema(fields: readonly ViewInput[], description: string): JsonObject {
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  return {
    type: 'object',
    description,
    properties: objectOf(fields.map((field) => [field.name, fieldSchema(field)] as const)),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/** Describes a payload that makes an item, or changes the one that has the same values in one of the unique keys. */
export function upsertSchema({ needed, inputs }: ViewUpsert): JsonObject {
  const schema = inputSchema(inputs, 'A new item, or changes of the one that has the same values in the unique key.');
  if (needed.some((key) => key.length === 0)) return schema;
  const [only, ...more] = needed.map((required) => ({ required }));
  return more.length === 0 ? { ...schema, ...only } : { ...schema, anyOf: [...(only ? [only] : []), ...more] };
}

function fieldSchema({ descriptor, values, nullable, note }: ViewInput): JsonObject {
  const schema = takenSchema(descriptor, values);
  return { ...(nullable ? orNull(schema) : schema), ...described(note) };
}

function takenSchema(field: Valued, values: readonly string[] | null): JsonObject {
  if (field.type !== 'array') return scalarSchema(field, values);
  const { wire, native, element = 'unknown' } = field;
  const item: Valued = { type: element, native: native.replace(/\[\]$/, ''), wire: { kind: wire.kind } };
  return { type: 'array', items: orNull(scalarSchema(item, values)) };
}

/** What is sent out is taken back; some types take more. */
function scalarSchema(field: Valued, values: readonly string[] | null): JsonObject {
  switch (field.type) {
    case 'hash':
    case 'secret':
    case 'token':
      return { type: 'string', writeOnly: true };
    case 'bigInteger':
      return { type: ['string', 'integer'] };
    case 'decimal':
      return { type: ['string', 'number'] };
    case 'csv':
      return { anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'string' }] };
    case 'date':
    case 'time':
    case 'dateTime':
    case 'timestamp':
    case 'interval':
      return { type: 'string', description: timeForms[field.type] };
    default:
      return valueSchema(field, values);
  }
}

const timeForms: Readonly<Record<'date' | 'time' | 'dateTime' | 'timestamp' | 'interval', JsonValue>> = {
  date: 'YYYY-MM-DD',
  time: 'HH:MM:SS',
  dateTime: 'A date, or a date and time without a zone.',
  timestamp: 'A date, or a date and time with an offset, Z, or none, which means UTC.',
  interval: 'An ISO 8601 duration.',
};
