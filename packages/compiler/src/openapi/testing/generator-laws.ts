/** Laws that documents keep for generators of clients, which know less of JSON Schema than validators do. */

/** Places that break a law, each with the law: `/components/schemas/Deep: …`. */
export function brokenLaws(document: object): readonly string[] {
  return schemasIn(document, '').flatMap(({ schema, place }) =>
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
    law: 'A member of an object has no default: generators would ask for it.',
    isBroken: (schema, place) => 'default' in schema && place.includes('/properties/'),
  },
];

function hasType({ type }: Found['schema'], name: string): boolean {
  return type === name || (Array.isArray(type) && type.includes(name));
}

/** Every object of a document that can be a schema: examples and lists of texts are none. */
function schemasIn(value: unknown, place: string): readonly Found[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => schemasIn(item, `${place}/${index}`));
  if (!isObject(value)) return [];
  const inner = Object.entries(value).filter(([name]) => name !== 'example' && name !== 'examples');
  const isMap =
    /\/(properties|schemas|parameters|responses|headers)$/.test(place) && !/\/properties\/properties$/.test(place);
  return [
    ...(isMap ? [] : [{ schema: value, place }]),
    ...inner.flatMap(([name, one]) => schemasIn(one, `${place}/${name}`)),
  ];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
