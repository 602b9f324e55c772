/** Laws that documents keep for generators of clients, which know less of JSON Schema than validators do. */

/** Places that break a law, each with the law: `/components/schemas/Deep: …`. */
export function brokenLaws(document: object): readonly string[] {
  const found: Found[] = [];
  collectSchemas(found, document, { place: '', name: '', above: '' });
  return found.flatMap(({ schema, place }) =>
    laws.filter(({ isBroken }) => isBroken(schema, place)).map(({ law }) => `${place}: ${law}`),
  );
}

interface Found {
  readonly schema: Record<string, unknown>;
  readonly place: string;
}

interface Law {
  readonly law: string;
  readonly isBroken: (schema: Found['schema'], place: string) => boolean;
}

const laws: readonly Law[] = [
  {
    law: 'An array names one schema of all its items.',
    isBroken: (schema) => hasType(schema, 'array') && (!isObject(schema.items) || 'prefixItems' in schema),
  },
  {
    law: 'An object says what its members are, or that it may have any.',
    isBroken: (schema) =>
      hasType(schema, 'object') && !['properties', 'additionalProperties', 'allOf'].some((name) => name in schema),
  },
  {
    law: 'Members without a name of their own have no type that named members lack.',
    isBroken: ({ properties, additionalProperties }) =>
      isObject(properties) && Object.keys(properties).length > 0 && isObject(additionalProperties),
  },
  {
    law: 'Forms stand beside no members: generators would take the form of any value.',
    isBroken: (schema) => 'anyOf' in schema && ['properties', 'allOf'].some((name) => name in schema),
  },
  {
    law: 'A member of an object has no default: generators would ask for it.',
    isBroken: (schema, place) => 'default' in schema && place.includes('/properties/'),
  },
];

function hasType({ type }: Found['schema'], name: string): boolean {
  return type === name || (Array.isArray(type) && type.includes(name));
}

const maps = new Set(['properties', 'schemas', 'parameters', 'responses', 'headers']);

/** A place in a document, with the name of its member and of the one above. */
interface Spot {
  readonly place: string;
  readonly name: string;
  readonly above: string;
}

/** Finds every object of a document that can be a schema: examples and lists of texts are none. */
function collectSchemas(found: Found[], value: unknown, { place, name, above }: Spot): void {
  if (typeof value !== 'object' || value === null) return;
  const isMap = maps.has(name) && !(name === 'properties' && above === 'properties');
  if (isObject(value) && !isMap) found.push({ schema: value, place });
  for (const [inner, member] of Object.entries(value)) {
    if (inner === 'example' || inner === 'examples') continue;
    collectSchemas(found, member, { place: `${place}/${inner}`, name: inner, above: name });
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
