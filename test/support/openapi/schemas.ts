/**
 * The schemas of one document, compiled by ajv in its strict mode when they are first needed.
 *
 * Three ways to read them: as they are; for answers also closed, so that a member that nobody described is found; and for
 * texts of an address, whose types are those of the schema.
 */
import { Ajv2020, type Options, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { isObject, type Json, type JsonObject } from './json.ts';

/** How a value is compared with a schema. */
export type Reading = 'open' | 'closed' | 'text';

/** Judges values by the schema at a place of the document, such as `['components', 'schemas', 'Meta']`. */
export type Judge = (reading: Reading, place: readonly string[], value: Json) => readonly string[];

/** Makes the judge of a document. */
export function createJudge(document: JsonObject): Judge {
  const validators = new Map<string, ValidateFunction>();
  const readers = {
    open: once(() => reader(document, {})),
    closed: once(() => reader({ ...document, ...closed(document) }, {})),
    text: once(() => reader(document, { coerceTypes: 'array' })),
  };
  return function judge(reading, place, value) {
    const pointer = `document#/${place.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`;
    const name = `${reading} ${pointer}`;
    const validate = validators.get(name) ?? readers[reading]().compile({ $ref: pointer });
    validators.set(name, validate);
    // What is coerced is written where it was found.
    const holder = reading === 'text' ? structuredClone(value) : value;
    if (validate(holder)) return [];
    return (validate.errors ?? []).slice(0, most).map((error) => {
      const detail = error.keyword === 'additionalProperties' ? ` ${JSON.stringify(error.params)}` : '';
      return `${error.instancePath || '/'} ${error.message ?? error.keyword}${detail} (${error.schemaPath})`;
    });
  };
}

/** Of more mistakes than these nobody reads. */
const most = 5;

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function reader(document: JsonObject, options: Options): Ajv2020 {
  const ajv = new Ajv2020({
    strict: true,
    // Nullable values have two types, and what a form needs is said beside what it has.
    allowUnionTypes: true,
    strictRequired: false,
    validateSchema: false,
    // Otherwise the code of what has thousands of members nests as deeply.
    allErrors: true,
    // Fields may have the names of what every object inherits.
    ownProperties: true,
    logger: false,
    code: { optimize: false },
    ...options,
  });
  formats.default(ajv);
  ajv.addVocabulary(['openapi', 'info', 'servers', 'security', 'tags', 'paths', 'components']);
  ajv.addSchema({ ...document, $id: 'document' });
  return ajv;
}

/** Every object that lists its members has no others. What is put together of several schemas stays as it is. */
function closed(value: JsonObject): JsonObject {
  const entries = Object.entries(value).map(([name, inner]) => [name, closedValue(inner)] as const);
  const { type, properties } = value;
  // ajv leaves a member of the name `__proto__` out.
  const odd = isObject(properties) && Object.hasOwn(properties, '__proto__');
  const open = type !== 'object' || !isObject(properties) || odd || 'allOf' in value;
  const said = 'additionalProperties' in value || 'unevaluatedProperties' in value;
  return { ...Object.fromEntries(entries), ...(!open && !said && { additionalProperties: false }) };
}

function closedValue(value: Json): Json {
  if (Array.isArray(value)) return value.map(closedValue);
  return isObject(value) ? closed(value) : value;
}
