/**
 * Writes by GraphQL what a test is about to write over REST, puts everything back, and compares what both have left in the
 * database and what both have answered.
 */
import {
  type GraphQLInputFieldMap,
  type GraphQLInputType,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
  isObjectType,
  isRequiredInputField,
} from 'graphql';
import { expect } from 'vitest';
import { PlatformError } from '../../packages/runtime/src/errors.ts';
import { type FilterObject, isObject } from '../../packages/runtime/src/language/conditions/filter-syntax.ts';
import {
  type CollectionDescriptor,
  type GraphqlOperation,
  graphqlChangesName,
  graphqlName,
  indexGraphql,
  type JsonValue,
  type RelationDescriptor,
} from '../../packages/runtime/src/language/index.ts';
import { graphqlServiceRoots } from '../../packages/runtime/src/language/operations/index.ts';
import { type ParsedText, parseText } from '../../packages/runtime/src/language/values/parse-text.ts';
import { resolveFields } from '../../packages/runtime/src/query/authorise/fields.ts';
import { readNested } from '../../packages/runtime/src/query/authorise/nested.ts';
import { printPathValue } from '../../packages/runtime/src/query/parse/keys.ts';
import { parseQueryString } from '../../packages/runtime/src/query/parse/parse-query-string.ts';
import {
  defaultReadLimits as limits,
  parseKeyRequest,
  parseListRequest,
} from '../../packages/runtime/src/query/parse/parse-read.ts';
import { keyFields } from '../../packages/runtime/src/sql/scope.ts';
import { changeBetween, keepState, type StateChange, type StateKeeper, type StoredKey } from './database-state.ts';
import {
  argumentsOf,
  list,
  type Piece,
  type Role,
  readRole,
  roleOf,
  type TwinCount,
  Unsaid,
  type Writing,
  writeDocument,
  writeSelection,
} from './graphql-twin.ts';
import type { Answer, Ask, Platform } from './platform.ts';

/** Where writes are done twice. */
export interface WriteTwinParts {
  readonly folder: string;
  /** The database itself, for a superuser. */
  readonly databaseUrl: string;
  /** The server that is asked by GraphQL. */
  readonly server: () => Promise<Platform>;
}

/** Writes twice. Only one write at a time can be: see `lanes.ts`. */
export interface WriteTwin {
  /**
   * Writes by GraphQL what the request writes, and puts everything back. Resolves to what compares the answer of REST with
   * it; null where no document says the same.
   */
  attempt(path: string, options: Ask): Promise<((answer: Answer) => Promise<void>) | null>;
  count(): TwinCount;
  /** Counts a write without a document. */
  skip(reason: string): void;
  close(): Promise<void>;
}

const noRoot = 'no root field';

/** Characters of bodies worth writing twice. */
const largestBody = 100_000;

/** Makes the twin of a served project. */
export function createWriteTwin({ folder, databaseUrl, server }: WriteTwinParts): WriteTwin {
  const roles = new Map<string, Promise<Role | null>>();
  const without = new Map<string, number>();
  let keeper: Promise<StateKeeper> | undefined;
  let asked = 0;

  function skip(reason: string): null {
    without.set(reason, (without.get(reason) ?? 0) + 1);
    return null;
  }

  async function roleAsking(name: string): Promise<Role | null> {
    const role = roles.get(name) ?? readRole(folder, name);
    roles.set(name, role);
    return role;
  }

  return {
    async attempt(path, options) {
      const name = roleOf(options);
      if (name === null) return skip('another caller');
      const role = await roleAsking(name);
      if (role === null) return skip('no schema');
      const writing: Writing = { ...role, variables: new Map(), names: 0 };
      const way: Way = { linked: [], reordered: false };
      let piece: Piece;
      try {
        piece = writeMutation(writing, path, options, way);
      } catch (error) {
        if (error instanceof Unsaid && error.message === noRoot) {
          // What the schema has no field for, nobody may write.
          return async ({ status }) => {
            skip(noRoot);
            expect(status, `${options.method} ${path}, which GraphQL cannot say`).toBeGreaterThanOrEqual(400);
          };
        }
        if (error instanceof Unsaid) return skip(error.message);
        if (error instanceof PlatformError) return skip('wrong request');
        throw error;
      }
      if (JSON.stringify([options.body]).length > largestBody) return skip('large body');
      const document = writeDocument(writing, 'mutation', piece);
      keeper ??= keepState(databaseUrl);
      const state = await keeper;
      for (const key of way.linked) if (!(await state.holds(key))) return skip('key of no item');
      const before = await state.read();
      const twin = await (await server()).ask('/graphql', {
        method: 'POST',
        body: document,
        ...(options.token !== undefined && { token: options.token }),
        ...(options.headers && { headers: options.headers }),
      });
      const after = await state.read();
      await state.restore(before, after);
      const said = `${options.method} ${path} as ${document.query} ${JSON.stringify(document.variables)}`;
      return async (answer) => {
        // An object with the key of a hidden item is refused as a new one, for which fields may be missing.
        const isNew = way.linked.length > 0 && codeOf(answer) === 'FORBIDDEN' && codeOf(twin) === 'FAILED_VALIDATION';
        const unsaid = isNew ? 'key of a hidden item' : compareAnswers(said, piece, answer, twin);
        if (unsaid !== null) {
          skip(unsaid);
          return;
        }
        asked += 1;
        const [one, other] = [changeBetween(before, after), changeBetween(before, await state.read())];
        const named = withoutAccidents(JSON.stringify(one), JSON.stringify(other));
        const plain = (row: string): string =>
          way.reordered ? named(row).replace(/(?<=[(,"])\d+(?=[,)"])/g, '#') : named(row);
        const sorted = ({ removed, added }: StateChange): StateChange => ({
          removed: removed.map(plain).toSorted(),
          added: added.map(plain).toSorted(),
        });
        expect(sorted(one), `${said} leaves`).toEqual(sorted(other));
      };
    },
    count: () => ({ asked, without }),
    skip: (reason) => void skip(reason),
    async close() {
      await (await keeper)?.close();
    },
  };
}

/** Gives why nothing was to be compared: both have refused it, GraphQL because of its types. */
function compareAnswers(said: string, piece: Piece, rest: Answer, twin: Answer): string | null {
  const code = codeOf(twin);
  if (rest.status >= 400) {
    if (code === 'INVALID_QUERY' && twin.json.data === undefined) return 'no such type';
    expect([twin.json.data ?? null, code], said).toEqual([null, codeOf(rest)]);
    return null;
  }
  // REST takes texts for numbers and numbers for texts; built-in scalars take their own kind alone.
  // A list of a type is no list of lists.
  const another = /\b(Int|Float|String|Boolean|ID) cannot represent|A value of this type must be a string/;
  if (code === 'INVALID_QUERY' && another.test(twin.text)) return 'another kind';
  expect([twin.status, twin.json.errors], said).toEqual([200, undefined]);
  const told = piece.take(twin.json.data.root);
  if (rest.json?.data === undefined || told === unselected || (Array.isArray(told) && told.includes(unselected)))
    return null;
  const answers = [told, rest.json.data].map((answer) => JSON.stringify(answer));
  const plain = withoutAccidents(answers[0] ?? '', answers[1] ?? '');
  const [one, other] = answers.map((answer): unknown => JSON.parse(plain(answer)));
  expect(one, said).toEqual(other);
  return null;
}

function codeOf({ json }: Answer): unknown {
  return json?.errors?.[0]?.extensions?.code;
}

const uuid = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;
const moment = /\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d\.\d+(?:Z|[+-]\d\d(?::\d\d)?)?/g;
const hash = /\$argon2[\w$=,+/-]*/g;

/** Takes from a text what differs from one write to the next: new identifiers that nobody chose, the time, salted hashes. */
function withoutAccidents(one: string, other: string): (text: string) => string {
  const known = new Set(
    [uuid, moment].flatMap((pattern) => {
      const there = new Set(other.match(pattern));
      return (one.match(pattern) ?? []).filter((found) => there.has(found));
    }),
  );
  return (text) =>
    text
      .replace(uuid, (found) => (known.has(found) ? found : 'new uuid'))
      .replace(moment, (found) => (known.has(found) ? found : 'some time'))
      .replace(hash, 'hash');
}

/** A body, read, and the operation that it asks for. */
interface Said {
  readonly operation: GraphqlOperation;
  readonly arguments: Readonly<Record<string, JsonValue>>;
}

function writeMutation(to: Writing, path: string, options: Ask, way: Way): Piece {
  const [, name = '', key, raw = ''] = /^\/items\/([^/?]+)(?:\/([^?]*))?(?:\?(.*))?$/.exec(path) ?? [];
  for (const header of Object.keys(options.headers ?? {})) {
    if (/^(if-match|idempotency-key|content-|accept$)/i.test(header)) throw new Unsaid(header.toLowerCase());
  }
  const [, unsaid] = /(?:^|&)(on_conflict|access_token|archived|purge)\b/.exec(raw.replaceAll('%5F', '_')) ?? [];
  if (unsaid !== undefined) throw new Unsaid(unsaid);
  const descriptor = to.api.collections.find((one) => one.name === decodeURIComponent(name));
  if (descriptor === undefined) throw new Unsaid('no collection');
  const said = readSaid(descriptor, key, options);
  const names = indexGraphql(to.api.collections, graphqlServiceRoots).roots.items.mutation;
  const root = [...names].find(
    ([, one]) => 'collection' in one && one.operation === said.operation && one.collection === descriptor,
  )?.[0];
  const declared = root === undefined ? undefined : to.schema.schema.getMutationType()?.getFields()[root];
  if (root === undefined || declared === undefined) throw new Unsaid(noRoot);
  const given = declared.args.flatMap(({ name: argument, type }) => {
    const value = said.arguments[argument];
    if (value === undefined) return [];
    if (argument === 'data' && isList(value) && !value.every(isObject)) throw new Unsaid('list of no payloads');
    const variable = `v${to.variables.size}`;
    to.variables.set(variable, { type: String(type), value: inputOf(to, type, { descriptor, way }, value) });
    return [`${argument}: $${variable}`];
  });
  const text = (more: string): string => `${root}(${[...given, ...(more === '' ? [] : [more])].join(', ')})`;
  if (said.operation === 'deleteOne') return { text: `${text('')} { id }`, take: (value) => value };
  if (said.operation === 'deleteMany') return { text: `${text('')} { ids }`, take: (value) => value };
  const answered = getNamedType(declared.type);
  const collection = to.scope.collections.get(descriptor.name);
  if (!isObjectType(answered) || collection === undefined) {
    if (raw !== '') throw new Unsaid('what nobody reads');
    return { text: text(''), take: (value) => value };
  }
  const tree = parseQueryString(raw, limits);
  for (const parameter of ['export', 'aggregate']) if (tree.has(parameter)) throw new Unsaid(parameter);
  const many = ['createMany', 'updateMany', 'updateBatch'].includes(said.operation);
  const request = many ? parseListRequest(tree, limits) : parseKeyRequest(tree, limits);
  if (!many && (tree.has('filter') || tree.has('search'))) throw new Unsaid('filter of one item');
  const reads = readNested(to.scope, { collection, aliases: request.alias }, request.deep, limits);
  const of = { scope: to.scope, collection, aliases: request.alias, reads, limits };
  const item = selectionOf(() => writeSelection(to, resolveFields(of, request.fields).selection));
  if (!many) return { ...item, text: `${text('')} { ${item.text} }` };
  const bounds = argumentsOf(to, collection, request, tree).replace(/^\(|\)$/g, '');
  return list(`${text(bounds)} { ${item.text} }`, item);
}

/** What cannot be selected leaves the write to be compared, without its answer. */
function selectionOf(write: () => Piece): Piece {
  try {
    return write();
  } catch (error) {
    if (error instanceof Unsaid) return { text: '__typename', take: () => unselected };
    throw error;
  }
}

const unselected = Symbol('an answer that no document selects');

function readSaid(descriptor: CollectionDescriptor, key: string | undefined, { method, body }: Ask): Said {
  const parsed = method === 'DELETE' && key !== undefined ? null : readBody(body);
  const { data, keys, query, ...others } = isObject(parsed) ? parsed : {};
  const id = key === undefined || descriptor.key.length > 1 ? key : decodeURIComponent(key);
  const ids = (value: JsonValue | undefined): JsonValue => {
    if (!isList(value) || !value.every((one) => typeof one === 'string' || Number.isInteger(one))) {
      throw new Unsaid('keys of another form');
    }
    const [field] = keyFields(descriptor);
    return descriptor.key.length > 1 || field === undefined ? value : value.map((one) => printPathValue(field, one));
  };
  switch (method) {
    case 'POST':
      if (isList(parsed)) return { operation: 'createMany', arguments: { data: parsed } };
      if (isObject(parsed)) return { operation: 'createOne', arguments: { data: parsed } };
      break;
    case 'PATCH':
      if (isList(parsed) && id === undefined) return { operation: 'updateBatch', arguments: { data: parsed } };
      if (!isObject(parsed)) break;
      if (id !== undefined) return { operation: 'updateOne', arguments: { id, data: parsed } };
      if (descriptor.singleton) return { operation: 'updateSingleton', arguments: { data: parsed } };
      if (query !== undefined) throw new Unsaid('query');
      if (data === undefined || Object.keys(others).length > 0) break;
      return { operation: 'updateMany', arguments: { ids: ids(keys), data } };
    case 'DELETE':
      if (id !== undefined) return { operation: 'deleteOne', arguments: { id } };
      if (query !== undefined) throw new Unsaid('query');
      if (isObject(parsed) && (data !== undefined || Object.keys(others).length > 0)) break;
      return { operation: 'deleteMany', arguments: { ids: ids(isList(parsed) ? parsed : keys) } };
  }
  throw new Unsaid('body of another form');
}

function readBody(body: unknown): JsonValue {
  let parsed: ParsedText;
  try {
    parsed = parseText(typeof body === 'string' ? body : JSON.stringify(body ?? ''));
  } catch {
    throw new Unsaid('no JSON');
  }
  if (parsed.repeated !== null) throw new Unsaid('a key twice');
  return parsed.value;
}

/** Where a value of a payload stands: below a relation, in the collection that this leads to. */
interface Place {
  readonly descriptor: CollectionDescriptor | undefined;
  readonly relation?: RelationDescriptor | undefined;
  readonly way: Way;
}

/** What was said in another way than over REST. */
interface Way {
  /** Items by objects with nothing but the key: where there is no such item, these make one, and a key does not. */
  readonly linked: StoredKey[];
  /** Members in another order than the schema's, in which keys of sequences are then given. */
  reordered: boolean;
}

/** A value of a payload as its input type takes it: what is a key over REST is an object with nothing but the key. */
function inputOf(to: Writing, type: GraphQLInputType, at: Place, value: JsonValue): JsonValue {
  const nullable = getNullableType(type);
  if (value === null) return value;
  if (isListType(nullable)) {
    if (!isList(value)) throw new Unsaid('list of one that is none');
    return value.map((one) => inputOf(to, nullable.ofType, at, one));
  }
  // Texts of numbers are numbers over REST, too.
  if (String(nullable) === 'Int' && typeof value === 'string' && /^-?\d+$/.test(value)) return Number(value);
  if (String(nullable) === 'Float' && typeof value === 'string') {
    return Number.isFinite(Number(value)) ? Number(value) : value;
  }
  if (!isInputObjectType(nullable) || isList(value)) return value;
  const fields = nullable.getFields();
  if (!isObject(value) || JSON.isRawJSON(value)) return linkOf(to, fields, at, value);
  if (at.relation?.kind === 'm2a' && value.collection === undefined) throw new Unsaid('link row without collection');
  const absent = Object.values(fields).filter(
    (field) => isRequiredInputField(field) && !Object.hasOwn(value, field.name),
  );
  if (absent.length > 0) throw new Unsaid('without what is required');
  const order = Object.keys(fields).filter((name) => Object.hasOwn(value, name));
  if (order.some((name, place) => Object.keys(value)[place] !== name)) at.way.reordered = true;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]): [string, JsonValue] => {
      const relation = at.descriptor?.relations.find((other) => other.name === name);
      const descriptor = to.api.collections.find((other) => other.name === relation?.target);
      const below = { descriptor, relation, way: at.way };
      if (relation !== undefined && at.relation?.kind === 'o2m' && relation.name === at.relation.inverse) {
        throw new Unsaid('key of the item above');
      }
      if (relation !== undefined && relation.kind !== 'm2o' && isObject(one)) {
        return [graphqlChangesName(name), changesOf(to, fields[graphqlChangesName(name)]?.type, below, one)];
      }
      const declared = fields[graphqlName(name)];
      return [graphqlName(name), declared === undefined ? one : inputOf(to, declared.type, below, one)];
    }),
  );
}

function changesOf(to: Writing, type: GraphQLInputType | undefined, at: Place, value: FilterObject): JsonValue {
  const fields = isInputObjectType(type) ? type.getFields() : {};
  return Object.fromEntries(
    Object.entries(value).map(([kind, items]): [string, JsonValue] => {
      const declared = fields[kind];
      if (kind === 'upsert') throw new Unsaid('upsert');
      if (items === null) throw new Unsaid('null for no list');
      if (kind !== 'delete' && isList(items) && !items.every(isObject)) throw new Unsaid('key in the place of an item');
      return [kind, declared === undefined ? items : inputOf(to, declared.type, at, items)];
    }),
  );
}

function linkOf(
  to: Writing,
  fields: GraphQLInputFieldMap,
  { descriptor, relation, way }: Place,
  value: JsonValue,
): JsonValue {
  const [key, ...more] = descriptor?.key ?? [];
  if (key === undefined || more.length > 0) throw new Unsaid('key of several fields');
  const column = descriptor?.fields.find(({ name }) => name === key)?.column;
  if (relation?.kind === 'm2a') throw new Unsaid('link row without collection');
  if (relation?.kind === 'm2o' && relation.on.some((pair) => pair.to !== column))
    throw new Unsaid('link by another field');
  if (descriptor !== undefined && column !== undefined) {
    way.linked.push({ table: descriptor.table, column, value: JSON.isRawJSON(value) ? value.rawJSON : String(value) });
  }
  const type = fields[graphqlName(key)]?.type;
  return { [graphqlName(key)]: type === undefined ? value : inputOf(to, type, { descriptor: undefined, way }, value) };
}

function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}
