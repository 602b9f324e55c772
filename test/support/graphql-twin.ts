/**
 * Asks by GraphQL what a test has asked over REST: the request is read as the server reads it, written as a document, and
 * the answer taken back to the form of REST, where it has to be the same.
 */

import { getNamedType, isObjectType, isUnionType } from 'graphql';
import { expect } from 'vitest';
import { buildSchemas, type ScopeSchema } from '../../packages/runtime/src/graphql/documents/schemas.ts';
import { isObject } from '../../packages/runtime/src/language/conditions/filter-syntax.ts';
import {
  type CollectionDescriptor,
  type CompiledApi,
  type Condition,
  graphqlFunctionsName,
  graphqlItemFilterName,
  graphqlName,
  indexGraphql,
  type JsonValue,
} from '../../packages/runtime/src/language/index.ts';
import { graphqlServiceRoots } from '../../packages/runtime/src/language/operations/index.ts';
import { parseExactly, withNumberTexts } from '../../packages/runtime/src/language/values/parse-text.ts';
import { resolveFields } from '../../packages/runtime/src/query/authorise/fields.ts';
import { readFilter } from '../../packages/runtime/src/query/authorise/filter.ts';
import { type NestedRead, readNested } from '../../packages/runtime/src/query/authorise/nested.ts';
import type { Selected, Selection } from '../../packages/runtime/src/query/authorise/selection.ts';
import { parseQueryString, type QueryTree } from '../../packages/runtime/src/query/parse/parse-query-string.ts';
import {
  defaultReadLimits as limits,
  parseKeyRequest,
  parseListRequest,
  readBodyQuery,
} from '../../packages/runtime/src/query/parse/parse-read.ts';
import type { ReadRequest } from '../../packages/runtime/src/query/parse/request.ts';
import {
  buildOpenScope,
  buildScope,
  type CollectionScope,
  type FieldScope,
  keyFields,
  type Scope,
} from '../../packages/runtime/src/sql/scope.ts';
import { loadApi } from './in-process.ts';
import { type Answer, type Ask, adminToken, type Platform } from './platform.ts';

/** How many reads had a document that says the same, and why the others had none. */
export interface TwinCount {
  readonly asked: number;
  readonly without: ReadonlyMap<string, number>;
}

/** Asks the twins of reads. */
export interface GraphqlTwin {
  /** Asks by GraphQL what `path` answered, and compares the items. */
  check(path: string, options: Ask, answer: Answer): Promise<void>;
  count(): TwinCount;
}

/** Environment of a server that takes documents of any size. */
export const unlimitedDocuments = {
  GRAPHQL_MAX_COST: '10000000',
  GRAPHQL_MAX_ALIASES: '100000',
  GRAPHQL_QUERY_TOKEN_LIMIT: '1000000',
  GRAPHQL_MAX_DEPTH: '60',
};

/** Bytes of answers worth asking for again. */
const largestAnswer = 1_000_000;

/** What a request asks for that no document does: `without` counts its message. */
export class Unsaid extends Error {}

/** What a role may say, and how it is called. */
export interface Role {
  readonly api: CompiledApi;
  readonly scope: Scope;
  readonly schema: ScopeSchema;
}

/** A document under construction. */
export interface Writing extends Role {
  readonly variables: Map<string, { readonly type: string; readonly value: unknown }>;
  names: number;
}

/** A piece of a document, and how what it answers is said over REST. */
export interface Piece {
  readonly text: string;
  readonly take: (value: unknown) => unknown;
}

/** Makes the twin of a served project; `server` is the one that is asked. */
export function createGraphqlTwin(folder: string, server: () => Promise<Platform>): GraphqlTwin {
  const roles = new Map<string, Promise<Role | null>>();
  const without = new Map<string, number>();
  let asked = 0;

  return {
    async check(path, options, answer) {
      const name = roleOf(options);
      if (name === null || answer.status !== 200 || answer.json?.data === undefined) return;
      if (answer.bytes.length > largestAnswer) return;
      const role = roles.get(name) ?? readRole(folder, name);
      roles.set(name, role);
      const known = await role;
      if (known === null) return;
      const writing: Writing = { ...known, variables: new Map(), names: 0 };
      let piece: Piece;
      try {
        piece = writeRequest(writing, path, options);
      } catch (error) {
        if (!(error instanceof Unsaid)) throw error;
        without.set(error.message, (without.get(error.message) ?? 0) + 1);
        return;
      }
      const { query, variables } = writeDocument(writing, 'query', piece);
      const twin = await (await server()).ask('/graphql', {
        method: 'POST',
        body: { query, variables },
        ...(options.token !== undefined && { token: options.token }),
      });
      // A list of mere keys, with which wildcards end, is none over REST, but a list of items here, and these must not
      // multiply beyond a bound.
      if (path.includes('*') && /rows of one nested list/.test(twin.text)) {
        without.set('bound of rows', (without.get('bound of rows') ?? 0) + 1);
        return;
      }
      asked += 1;
      const said = `${options.method ?? 'GET'} ${path} as ${query} ${JSON.stringify(variables)}`;
      expect([twin.status, twin.json.errors], said).toEqual([200, undefined]);
      expect(piece.take(twin.json.data.root), said).toEqual(answer.json.data);
    },
    count: () => ({ asked, without }),
  };
}

/** The role that asks; null for a caller of whom nothing is known here. */
export function roleOf({ token }: Ask): string | null {
  return token === adminToken ? 'admin' : token === undefined ? 'public' : null;
}

/** What a role of a compiled project may say; null where the project has no GraphQL, or no such role. */
export async function readRole(folder: string, name: string): Promise<Role | null> {
  const api = await loadApi(folder);
  const access = api.access.find((candidate) => candidate.roles.includes(name));
  if (access === undefined || api.graphql === undefined) return null;
  const text = await api.graphql(access.name);
  return { api, scope: buildScope(api, access, buildOpenScope(api)), schema: buildSchemas(access.name, text).items };
}

/** The document with `piece` as its only root field, `root`. */
export function writeDocument(
  { variables }: Writing,
  kind: 'query' | 'mutation',
  { text }: Piece,
): { readonly query: string; readonly variables: Readonly<Record<string, unknown>> } {
  const types = [...variables].map(([variable, { type }]) => `$${variable}: ${type}`);
  return {
    query: `${kind}${types.length === 0 ? '' : ` (${types.join(', ')})`} { root: ${text} }`,
    variables: Object.fromEntries([...variables].map(([variable, { value }]) => [variable, value])),
  };
}

function writeRequest(to: Writing, path: string, { method = 'GET', body }: Ask): Piece {
  const [, name = '', key, raw = ''] = /^\/items\/([^/?]+)(?:\/([^?]*))?(?:\?(.*))?$/.exec(path) ?? [];
  const collection = to.scope.collections.get(decodeURIComponent(name));
  if (collection === undefined) throw new Unsaid('no collection');
  const tree = treeOf(method, raw, body);
  for (const parameter of ['cursor', 'export', 'having']) if (tree.has(parameter)) throw new Unsaid(parameter);
  const request = key === undefined ? parseListRequest(tree, limits) : parseKeyRequest(tree, limits);
  const names = indexGraphql(to.api.collections, graphqlServiceRoots).roots.items.query;
  const operation = request.aggregate
    ? 'aggregate'
    : key !== undefined
      ? 'byKey'
      : collection.descriptor.singleton
        ? 'singleton'
        : 'list';
  const root = [...names].find(([, one]) => {
    return one.operation === operation && one.collection === collection.descriptor;
  })?.[0];
  if (root === undefined || to.schema.schema.getQueryType()?.getFields()[root] === undefined) {
    throw new Unsaid('no root field');
  }
  if (operation === 'aggregate') return writeAggregate(to, collection, root, request, tree);
  const reads = readNested(to.scope, { collection, aliases: request.alias }, request.deep, limits);
  const of = { scope: to.scope, collection, aliases: request.alias, reads, limits };
  const item = writeSelection(to, resolveFields(of, request.fields).selection);
  if (operation === 'list') {
    return list(`${root}${argumentsOf(to, collection, request, tree)} { ${item.text} }`, item);
  }
  if (tree.has('filter')) throw new Unsaid('filter of one item');
  if (tree.has('archived')) throw new Unsaid('one archived item');
  if (operation === 'singleton') return { ...item, text: `${root} { ${item.text} }` };
  const id = keyFields(collection.descriptor).length > 1 ? key : decodeURIComponent(key ?? '');
  return { ...item, text: `${root}(id: ${JSON.stringify(id)}) { ${item.text} }` };
}

function treeOf(method: string, raw: string, body: unknown): QueryTree {
  if (/(?:^|&)access_token=/.test(raw)) throw new Unsaid('token in the address');
  if (method !== 'SEARCH') return parseQueryString(raw, limits);
  const parts: JsonValue = withNumberTexts(
    parseExactly(typeof body === 'string' ? body || '{}' : JSON.stringify(body ?? {})),
  );
  if (!isObject(parts) || parts.keys !== undefined) throw new Unsaid('keys');
  return readBodyQuery(parts.query ?? {});
}

/** The same piece for every item of a list. */
export function list(text: string, item: Piece): Piece {
  return { text, take: (value) => (Array.isArray(value) ? value.map(item.take) : value) };
}

/** Filter, sort and bounds of a list in parentheses, or nothing. */
export function argumentsOf(to: Writing, collection: CollectionScope, request: ReadRequest, tree: QueryTree): string {
  const filter = readFilter(to.scope, collection.descriptor.name, request.filter, limits).condition;
  const given = [
    ...(tree.has('filter')
      ? [`filter: ${writeFilter(to, collection, filter, `${graphqlName(collection.descriptor.name)}_filter`)}`]
      : []),
    ...(tree.has('search') && request.search !== undefined ? [`search: ${JSON.stringify(request.search)}`] : []),
    ...(tree.has('limit') ? [`limit: ${request.limit}`] : []),
    ...(request.offset > 0 ? [`offset: ${request.offset}`] : []),
    ...(request.archived ? [`archived: ${JSON.stringify(request.archived)}`] : []),
    ...sortOf(request.aggregate?.sort.map(({ name, descending }) => ({ path: [name], descending })) ?? request.sort),
  ];
  if (tree.has('page') && !tree.has('limit')) throw new Unsaid('page without limit');
  return given.length === 0 ? '' : `(${given.join(', ')})`;
}

function sortOf(sort: ReadRequest['sort']): readonly string[] {
  if (sort.length === 0) return [];
  return [`sort: ${JSON.stringify(sort.map(({ path, descending }) => (descending ? '-' : '') + path.join('.')))}`];
}

function nestedArguments(to: Writing, read: NestedRead | undefined, link: boolean): string {
  if (read?.collection === undefined) return '';
  const { request, filter, collection } = read;
  const type = `${graphqlName(collection.descriptor.name)}${link ? '_link_filter' : '_filter'}`;
  const given = [
    ...(request.filter === undefined ? [] : [`filter: ${writeFilter(to, collection, filter.condition, type)}`]),
    ...(request.search === undefined ? [] : [`search: ${JSON.stringify(request.search)}`]),
    ...(request.limit === limits.defaultLimit ? [] : [`limit: ${request.limit}`]),
    ...(request.offset > 0 ? [`offset: ${request.offset}`] : []),
    ...(request.archived ? [`archived: ${JSON.stringify(request.archived)}`] : []),
    ...sortOf(request.sort),
  ];
  return given.length === 0 ? '' : `(${given.join(', ')})`;
}

function alias(to: Writing): string {
  to.names += 1;
  return `f${to.names}`;
}

/** The fields of a request within braces. */
export function writeSelection(to: Writing, { collection, parts }: Selection): Piece {
  const pieces = parts.map((part) => ({ key: part.key, name: alias(to), piece: writePart(to, collection, part) }));
  return {
    text: ['__typename', ...pieces.map(({ name, piece }) => `${name}: ${piece.text}`)].join(' '),
    take(value) {
      if (value === null || typeof value !== 'object') return value;
      const found = new Map(Object.entries(value));
      return Object.fromEntries(pieces.map(({ key, name, piece }) => [key, piece.take(found.get(name))]));
    },
  };
}

function writePart(to: Writing, collection: CollectionScope, part: Selected): Piece {
  switch (part.kind) {
    case 'field':
      return writeField(to, collection, part.field);
    case 'call': {
      const { call } = part;
      const [name, of] =
        call.kind === 'field'
          ? [call.function, call.field.descriptor.name]
          : call.kind === 'distance'
            ? (['distance', call.field.descriptor.name] as const)
            : (['count', call.relation.descriptor.name] as const);
      return { text: `${graphqlFunctionsName(of)} { x: ${name} }`, take: (value) => memberOf(value, 'x') };
    }
    case 'keys': {
      const target = to.scope.collections.get(part.relation.descriptor.target);
      if (target === undefined || part.relation.descriptor.kind === 'm2o') throw new Unsaid('key of several fields');
      const keys = target.descriptor.key.map((name) => {
        const field = target.fields.get(name);
        if (field === undefined) throw new Unsaid('hidden key');
        return { name: alias(to), piece: writeField(to, target, field) };
      });
      const given = nestedArguments(to, part.read, part.relation.descriptor.kind === 'm2a');
      const text = keys.map(({ name, piece }) => `${name}: ${piece.text}`).join(' ');
      return list(`${graphqlName(part.relation.descriptor.name)}${given} { ${text} }`, {
        text: '',
        take(value) {
          const values = keys.map(({ name, piece }) => piece.take(memberOf(value, name)));
          if (values.length === 1) return values[0];
          // A key of which one part is hidden is none.
          return values.includes(null) ? null : values.map((one) => encodeURIComponent(String(one))).join(',');
        },
      });
    }
    case 'nested': {
      const { descriptor } = part.relation;
      const of = writeSelection(to, part.of);
      if (descriptor.kind !== 'm2o') {
        const given = nestedArguments(to, part.read, descriptor.kind === 'm2a');
        return list(`${graphqlName(descriptor.name)}${given} { ${of.text} }`, of);
      }
      if (part.read !== undefined) throw new Unsaid('filter of one item');
      return { ...of, text: `${graphqlName(descriptor.name)} { ${of.text} }` };
    }
    case 'item': {
      if (part.own !== undefined || part.items.some(({ read }) => read !== undefined)) throw new Unsaid('item itself');
      const items = part.items.map(({ of }) => {
        return [graphqlName(of.collection.descriptor.name), writeSelection(to, of)] as const;
      });
      const fragments = items.map(([type, { text }]) => `... on ${type} { ${text} }`);
      return {
        text: `${graphqlName(part.link.itemField)} { __typename ${fragments.join(' ')} }`,
        take: (value) => items.find(([type]) => type === memberOf(value, '__typename'))?.[1].take(value) ?? null,
      };
    }
    default:
      throw new Unsaid('aggregated relation');
  }
}

function memberOf(value: unknown, name: string): unknown {
  if (value === null || typeof value !== 'object') return null;
  return new Map(Object.entries(value)).get(name) ?? null;
}

/** A field, or the key under which a many-to-one field holds an item. */
function writeField(to: Writing, { descriptor, relations }: CollectionScope, { descriptor: field }: FieldScope): Piece {
  const name = graphqlName(field.name);
  const type = to.schema.schema.getType(graphqlName(descriptor.name));
  const declared = isObjectType(type) ? type.getFields()[name] : undefined;
  if (declared === undefined) throw new Error(`"${descriptor.name}.${field.name}" is not in the schema.`);
  const inner = getNamedType(declared.type);
  if (isUnionType(inner)) throw new Unsaid('item itself');
  if (!isObjectType(inner)) return { text: name, take: (value) => value };
  const relation = relations.get(field.name)?.descriptor;
  const target = relation && to.scope.collections.get(relation.target);
  const [pair] = relation !== undefined && 'on' in relation ? relation.on : [];
  const key = target?.descriptor.fields.find(({ column }) => column === pair?.to)?.name;
  const read = target?.fields.get(key ?? '');
  // The key of an item that cannot be read is told over REST only.
  if (target === undefined || read === undefined || read.grant !== null || !readsAll(target)) {
    throw new Unsaid('key of an item that may be hidden');
  }
  const of = writeField(to, target, read);
  return { text: `${name} { x: ${of.text} }`, take: (value) => of.take(memberOf(value, 'x')) };
}

function readsAll({ rows }: CollectionScope): boolean {
  return rows.some((row) => row.kind === 'and' && row.of.length === 0);
}

function writeFilter(to: Writing, collection: CollectionScope, condition: Condition, type: string): string {
  const name = `v${to.variables.size}`;
  to.variables.set(name, { type, value: filterValue(to, collection, condition) });
  return `$${name}`;
}

function filterValue(to: Writing, collection: CollectionScope, condition: Condition): unknown {
  if (condition.kind === 'and' || condition.kind === 'or') {
    return { [`_${condition.kind}`]: condition.of.map((part) => filterValue(to, collection, part)) };
  }
  if (condition.kind === 'related') {
    const target = to.scope.collections.get(
      condition.item ?? collection.relations.get(condition.relation)?.descriptor.target ?? '',
    );
    if (target === undefined) throw new Unsaid('hidden relation');
    const relation = collection.relations.get(condition.relation)?.descriptor;
    const single = condition.item !== undefined || relation?.kind === 'm2o';
    const where =
      single && condition.quantifier === 'none' ? nowhereOf(target) : filterValue(to, target, condition.where);
    if (condition.item !== undefined) return { [graphqlItemFilterName(condition.item)]: where };
    const name = graphqlName(condition.relation);
    return { [name]: single ? where : { [condition.quantifier === 'none' ? '_none' : '_some']: where } };
  }
  if (condition.operand.kind !== 'literal') throw new Unsaid('dynamic value');
  if (condition.path !== undefined) throw new Unsaid('value within JSON');
  const { field, operator } = condition;
  const type = collection.fields.get(field)?.descriptor.type;
  const compared = { [operator]: operandValue(type, operator, condition.operand.value) };
  if (condition.function !== undefined) return { [graphqlFunctionsName(field)]: { [condition.function]: compared } };
  return { [graphqlName(field)]: compared };
}

/** A relation to one item that leads nowhere has no key there. */
function nowhereOf({ descriptor: { key }, fields }: CollectionScope): unknown {
  const name = key.find((one) => fields.has(one));
  if (name === undefined) throw new Unsaid('key that cannot be read');
  return { [graphqlName(name)]: { _null: true } };
}

function operandValue(
  type: CollectionDescriptor['fields'][number]['type'] | undefined,
  operator: string,
  value: unknown,
): unknown {
  // A list of words is compared as its text.
  if (type === 'csv' && Array.isArray(value)) {
    return operator.endsWith('in') ? value.map((one) => (Array.isArray(one) ? one.join(',') : one)) : value.join(',');
  }
  if (type !== 'boolean') return value;
  return value === 'true' || value === '1' ? true : value === 'false' || value === '0' ? false : Boolean(value);
}

function writeAggregate(
  to: Writing,
  collection: CollectionScope,
  root: string,
  request: ReadRequest,
  tree: QueryTree,
): Piece {
  const { groups = [], values = [] } = request.aggregate ?? {};
  if (['fields', 'deep', 'alias'].some((name) => tree.has(name))) throw new Unsaid('fields beside an aggregate');
  const functions = [...Map.groupBy(values, (value) => value.function)].map(([name, of]) => {
    const fields = of.map(({ field }) => field);
    const [first] = fields;
    const counted = first === null || first === undefined;
    const parts = fields.map((field) => ({ field: field ?? '', name: alias(to) }));
    const inner = parts.map((part) => `${part.name}: ${graphqlName(part.field)}`).join(' ');
    return { name, counted, parts, alias: alias(to), text: counted ? 'countAll' : `${name} { ${inner} }` };
  });
  const given = argumentsOf(to, collection, request, tree).replace(/^\(|\)$/g, '');
  const all = [...(groups.length > 0 ? [`groupBy: ${JSON.stringify(groups)}`] : []), ...(given === '' ? [] : [given])];
  const text = functions.map((one) => `${one.alias}: ${one.text}`).join(' ');
  return list(`${root}${all.length === 0 ? '' : `(${all.join(', ')})`} { group ${text} }`, {
    text: '',
    take(row) {
      const group = memberOf(row, 'group');
      const said = functions.map(({ name, alias: from, counted, parts }) => {
        const value = memberOf(row, from);
        if (counted) return [name, value] as const;
        return [name, Object.fromEntries(parts.map((part) => [part.field, memberOf(value, part.name)]))] as const;
      });
      return { ...(typeof group === 'object' ? group : {}), ...Object.fromEntries(said) };
    },
  });
}
