/**
 * Shows examples in the document of an access class: recorded requests and responses, where both match the document.
 */
import type { JsonValue } from '@tablewright/runtime/language';
import type { Example, OperationExamples } from '../../examples.ts';
import { isText } from '../../print/only-text.ts';
import { isJsonObject, type JsonObject, objectOf } from '../json.ts';
import { createFits, type Fits, follow } from './fits.ts';

/** The document with its examples, by `operationId`. Those that do not fit it any more are left out. */
export function withExamples(document: JsonObject, examples: OperationExamples): JsonObject {
  return Object.keys(examples).length === 0 ? document : insert(document, examples, () => true);
}

/** The same for examples of what no collection has: paths of collections may be known by their texts only. */
export function withFixedExamples(document: JsonObject, examples: OperationExamples): JsonObject {
  return insert(document, examples, (item) => !isJsonObject(item) || !isText(item));
}

function insert(
  document: JsonObject,
  examples: OperationExamples,
  isLookedAt: (item: JsonValue) => boolean,
): JsonObject {
  const fits = createFits(document);
  const paths = mapMembers(document.paths, (item) =>
    isLookedAt(item)
      ? mapMembers(item, (operation) => {
          const id = isJsonObject(operation) ? operation.operationId : undefined;
          const recorded = typeof id === 'string' && Object.hasOwn(examples, id) ? (examples[id] ?? []) : [];
          return isJsonObject(operation) && recorded.length > 0
            ? exemplify(document, operation, recorded, fits)
            : operation;
        })
      : item,
  );
  return { ...document, paths };
}

/** An operation with those of its examples that fit. Components get none, because other operations share them. */
function exemplify(document: JsonObject, shared: JsonObject, examples: readonly Example[], fits: Fits): JsonObject {
  const operation = {
    ...shared,
    ...(shared.requestBody !== undefined && { requestBody: whole(document, shared.requestBody) }),
    responses: mapMembers(shared.responses, (response) => whole(document, response)),
  };
  const fitting = examples.filter((example) => isFitting(operation, example, fits));
  if (fitting.length === 0) return shared;
  const { requestBody: body, responses } = operation;
  const sent = fitting.flatMap((example) =>
    example.body === undefined ? [] : [{ summary: example.request, value: example.body }],
  );
  const plain = isJsonObject(shared.responses) ? shared.responses : {};
  return {
    ...shared,
    ...(isJsonObject(body) && sent.length > 0 && { requestBody: show(body, sent) }),
    responses: mapMembers(responses, (response, status) => {
      const answered = fitting.filter((example) => String(example.status) === status);
      const shown = answered.flatMap(({ request, answer: result }) =>
        result === undefined ? [] : [{ summary: request, value: result }],
      );
      return isJsonObject(response) && shown.length > 0 ? show(response, shown) : (plain[status] ?? null);
    }),
  };
}

/** The part itself, or what it refers to. */
function whole(document: JsonObject, part: JsonValue): JsonValue {
  return isJsonObject(part) && typeof part.$ref === 'string' ? follow(document, part.$ref) : part;
}

function isFitting({ requestBody, responses }: JsonObject, example: Example, fits: Fits): boolean {
  const response = isJsonObject(responses) ? responses[String(example.status)] : undefined;
  if (response === undefined) return false;
  return isDescribed(requestBody, example.body, fits) && isDescribed(response, example.answer, fits);
}

/** True if the described body allows the JSON, or its absence. */
function isDescribed(described: JsonValue | undefined, value: JsonValue | undefined, fits: Fits): boolean {
  const schema = mediaOf(described)?.[1].schema;
  return value === undefined ? true : schema !== undefined && fits(schema, value);
}

/** The JSON among the media types of a body, with its description. */
function mediaOf(described: JsonValue | undefined): readonly [string, JsonObject] | undefined {
  const content = isJsonObject(described) ? described.content : undefined;
  const media = isJsonObject(content) ? Object.entries(content) : [];
  const found = media.find(([type]) => /[/+]json$/.test(type));
  return found !== undefined && isJsonObject(found[1]) ? [found[0], found[1]] : undefined;
}

function show(described: JsonObject, examples: readonly JsonObject[]): JsonObject {
  const media = mediaOf(described);
  if (media === undefined || examples.length === 0) return described;
  const [type, schema] = media;
  const named = objectOf(examples.map((example, index) => [`example${index + 1}`, example]));
  const content = isJsonObject(described.content) ? described.content : {};
  return { ...described, content: { ...content, [type]: { ...schema, examples: named } } };
}

/** Where nothing changes it is the object itself, so that texts stay texts. */
function mapMembers(value: JsonValue | undefined, change: (inner: JsonValue, name: string) => JsonValue): JsonObject {
  if (!isJsonObject(value)) return {};
  const members = Object.entries(value).map(([name, inner]) => [name, change(inner, name)] as const);
  return members.every(([name, inner]) => inner === value[name]) ? value : objectOf(members);
}
