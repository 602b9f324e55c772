/** Operations that change the model, and what they are sent. Source: API specification, section 12. */
import { anyObject, type JsonObject, objectOf, reference } from './json.ts';
import { failuresByStatus } from './responses.ts';
import { orNull } from './values.ts';

const failed = [
  ...(['Unauthorized', 'RequestsExceeded', 'InternalServerError', 'ServiceUnavailable', 'Forbidden'] as const),
  ...(['InvalidWrite', 'UnsupportedMediaType', 'Unprocessable'] as const),
] as const;

/** Writes at one place of the model. */
interface Written {
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  /** Name of the component that is sent; null for what is deleted. */
  readonly input: string | null;
  /** Name of the component that is answered. */
  readonly output: string;
  /** Number of items in request and response: one, several, or either. */
  readonly count: 'one' | 'many' | 'either';
  /** True if it may lose data, so that a request can allow that. */
  readonly loses: boolean;
}

/** The operations by path, method and what they are. `tag` is that of all. */
export function modelWrites(tag: string): Readonly<Record<string, JsonObject>> {
  const all: readonly (readonly [string, string, Omit<Written, 'tag'>])[] = [
    ['/collections', 'post', made('Collections', 'collections', 'Collection', 'either')],
    ['/collections', 'patch', changed('CollectionsMany', 'collections', 'Collection', 'many')],
    ['/collections/{name}', 'patch', changed('Collections', 'a collection', 'Collection', 'one')],
    ['/collections/{name}', 'delete', removed('Collections', 'a collection')],
    ['/fields/{collection}', 'post', made('Fields', 'fields', 'Field', 'either')],
    ['/fields/{collection}', 'patch', changed('FieldsMany', 'fields', 'Field', 'many')],
    ['/fields/{collection}/{field}', 'patch', changed('Fields', 'a field', 'Field', 'one')],
    ['/fields/{collection}/{field}', 'delete', removed('Fields', 'a field')],
    ['/relations', 'post', made('Relations', 'relations', 'Relation', 'either')],
    ['/relations/{collection}/{field}', 'patch', changed('Relations', 'a relation', 'Relation', 'one')],
    ['/relations/{collection}/{field}', 'delete', removed('Relations', 'a relation')],
  ];
  const byPath = Map.groupBy(all, ([path]) => path);
  return Object.fromEntries(
    [...byPath].map(([path, some]) => [
      path,
      objectOf(some.map(([, method, written]) => [method, operation({ ...written, tag })] as const)),
    ]),
  );
}

function made(name: string, words: string, noun: string, count: Written['count']): Omit<Written, 'tag'> {
  const [input, output] = [`Model${noun}Input`, `Model${noun}`];
  return { operationId: `model${name}Create`, summary: `Make ${words}`, input, output, count, loses: false };
}

function changed(name: string, words: string, noun: string, count: Written['count']): Omit<Written, 'tag'> {
  const [input, output] = [`Model${noun}Change`, `Model${noun}`];
  return {
    operationId: `model${name}Update`,
    summary: `Change ${words}`,
    input,
    output,
    count,
    loses: noun === 'Field',
  };
}

function removed(name: string, words: string): Omit<Written, 'tag'> {
  const more = { output: '', count: 'one', loses: name !== 'Relations' } as const;
  return { operationId: `model${name}Delete`, summary: `Drop ${words}`, input: null, ...more };
}

function operation({ operationId, tag, summary, input, output, count, loses }: Written): JsonObject {
  const description = 'The API is compiled again: the next request finds it changed.';
  const discard = {
    name: 'data',
    in: 'query',
    description: 'Says that items or values may be lost.',
    schema: { type: 'string', enum: ['discard'] },
  };
  return {
    operationId,
    tags: [tag],
    summary,
    description,
    ...(loses && { parameters: [discard] }),
    ...(input !== null && { requestBody: { required: true, content: json(several(input, count)) } }),
    responses: objectOf([
      input === null ? (['204', { description: 'It is gone.' }] as const) : (['200', told(output, count)] as const),
      ...failuresByStatus(failed),
    ]),
  };
}

function told(output: string, count: Written['count']): JsonObject {
  const schema = { type: 'object', properties: { data: several(output, count) }, required: ['data'] };
  return { description: 'As it is compiled now.', content: json(schema) };
}

function several(component: string, count: Written['count']): JsonObject {
  const single = reference('schemas', component);
  const many: JsonObject = { type: 'array', items: single, minItems: 1 };
  return count === 'one' ? single : count === 'many' ? many : { anyOf: [single, many] };
}

function json(schema: JsonObject): JsonObject {
  return { 'application/json': { schema } };
}

/** The components that only these operations use, by name. */
export function modelInputs(): readonly (readonly [string, JsonObject])[] {
  const text = { type: 'string' };
  const members = orNull(anyObject());
  const field = { collection: text, field: text, type: text, meta: members, schema: members };
  const collection = { collection: text, meta: members, schema: members };
  const related = { type: ['string', 'null'] };
  const relation = { collection: text, field: text, related_collection: related, meta: members, schema: members };
  const fields = { type: 'array', items: reference('schemas', 'ModelFieldInput'), minItems: 1 };
  return [
    ['ModelCollectionInput', closed({ ...collection, fields }, 'collection')],
    ['ModelCollectionChange', closed(collection)],
    ['ModelFieldInput', closed(field, 'field', 'type')],
    ['ModelFieldChange', closed(field)],
    ['ModelRelationInput', closed(relation, 'collection', 'field')],
    ['ModelRelationChange', closed(relation)],
  ];
}

function closed(properties: JsonObject, ...required: readonly string[]): JsonObject {
  const needed = required.length > 0 ? { required: [...required] } : {};
  return { type: 'object', properties, ...needed, additionalProperties: false };
}
