/**
 * Api → OpenAPI 3.1 document of the REST API, for one access class or for everyone.
 *
 * Pure: the same Api gives the same document. `role-view/` decides what is visible; this folder prints it.
 */
import type { AccessClass, JsonValue } from '@tablewright/runtime/language';
import { resources } from '@tablewright/runtime/operations';
import type { Api, OperationExamples } from '../api.ts';
import type { Lookup } from '../cache/memo-cache.ts';
import { createFacts } from '../cache/same.ts';
import { type DocumentPart, jsonParts } from '../print/class-document.ts';
import { productVersion } from '../print/libraries.ts';
import { roleViewOf } from '../role-view/build-role-view.ts';
import { changesModel, hasUsers } from '../role-view/callable.ts';
import { hasType, type RoleCollection, type RoleView } from '../role-view/role-view.ts';
import { aggregateSchemas, commonSchema, partValues } from './components/aggregation.ts';
import { conditionSchemas, filterSchemas, partConditions, relatedConditions } from './components/conditions.ts';
import { itemSchema, rowsSchema } from './components/items.ts';
import { nestedWriteSchemas, payloadSchemas } from './components/payloads.ts';
import { valueSchemas } from './components/values.ts';
import { withExamples, withFixedExamples } from './examples/insert.ts';
import { ownExamples } from './examples/own-examples.ts';
import { createPartsCache, described, type JsonObject, layoutAt, objectOf, type Parts } from './json.ts';
import { keySchemas, namingBodies } from './keys.ts';
import { parameterComponents, parameterSchemas, searchSchema } from './parameters.ts';
import { type Addressed, addressed } from './paths/addressed.ts';
import { customPaths, customTag, functionPaths, functionTag } from './paths/call-paths.ts';
import { assetParameters, assetResponses, filePaths } from './paths/file-paths.ts';
import { graphqlPaths, graphqlResponses, graphqlSchemas, graphqlTag } from './paths/graphql-paths.ts';
import { operationPaths, operationSchemas } from './paths/operations.ts';
import { addressedParts, addressedTexts, factsText } from './paths/path-texts.ts';
import { ownUserPaths, ownUserTag, sharedParameters, sharedResponses } from './paths/paths.ts';
import { failureResponses, failureSchemas, headerComponents } from './responses.ts';

/**
 * Describes what an access class may read and write; with null, everything.
 *
 * `view` is what it sees. The document has no name of a collection, field or relation that the class may neither read
 * nor write. It does not depend on them in any other way.
 */
export function emitOpenApi(
  api: Api,
  access: AccessClass | null,
  view: RoleView = roleViewOf(api, access),
): JsonObject {
  return withExamples(describeOpenApi(api, access, view), { ...ownExamples, ...recordedFor(api, access) });
}

/** The same as text in parts, which documents share where their classes see the same. */
export function openApiParts(api: Api, access: AccessClass, view: RoleView): readonly DocumentPart[] {
  // Examples are put into what is described, so then there must be more of it than its text.
  const isPlain = Object.keys(recordedFor(api, access)).length === 0;
  const document = isPlain
    ? withFixedExamples(describeOpenApi(api, access, view, { asText: true }), ownExamples)
    : emitOpenApi(api, access, view);
  // A document with examples has no texts of several members.
  return jsonParts(document, { layoutAt, opened, split: Object.keys(api.examples ?? {}).length > 0 });
}

const opened = [
  '/paths',
  '/components',
  ...['schemas', 'responses', 'parameters', 'requestBodies', 'headers', 'securitySchemes'].map(
    (name) => `/components/${name}`,
  ),
];

/** Everything is what administrators see, too. */
function recordedFor({ examples }: Api, access: AccessClass | null): OperationExamples {
  return examples?.[access?.name ?? 'admin'] ?? noExamples;
}

const noExamples: OperationExamples = {};

interface DescribeOptions {
  /** Collections without what is made of them alone. Default: none. */
  readonly except?: ReadonlySet<RoleCollection>;
  /** True if the parts of collections are texts. Default: they are objects. */
  readonly asText?: boolean;
}

/** The document without examples. */
export function describeOpenApi(
  api: Api,
  access: AccessClass | null,
  view: RoleView,
  { except, asText = false }: DescribeOptions = {},
): JsonObject {
  const collections = view.collections.filter((collection) => except?.has(collection) !== true);
  const custom = api.customRoutes.filter((route) => access === null || route.access.includes(access.name));
  const parts: Described = { api, access, view, collections, custom, model: modelOf(api, access), asText };
  const others = otherPaths(parts);
  return {
    openapi: '3.1.0',
    info: { title: 'Tablewright', description: guide, version: productVersion },
    servers: [{ url: '/' }],
    security: securityOf(view),
    tags: tagsOf(parts),
    paths: objectOf([...pathsOf(collections, asText), ...others]),
    components: {
      schemas: objectOf(allSchemas(parts)),
      responses: objectOf([
        ...sharedResponses(),
        ...assetResponses(view),
        ...(api.graphql ? graphqlResponses() : []),
        ...failureResponses(others, view.collections),
      ]),
      parameters: objectOf([
        ...parametersOf(collections, asText),
        ...keyParametersOf(collections, asText),
        ...parameterComponents(),
        ...assetParameters(view),
      ]),
      requestBodies: objectOf(bodiesOf(collections, asText)),
      headers: objectOf(headerComponents()),
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        accessToken: { type: 'apiKey', in: 'query', name: 'access_token' },
      },
    },
  };
}

interface Described {
  readonly api: Api;
  readonly access: AccessClass | null;
  readonly view: RoleView;
  readonly collections: readonly RoleCollection[];
  readonly custom: Api['customRoutes'];
  readonly model: ReturnType<typeof modelOf>;
  readonly asText: boolean;
}

/** Operations on the model, with its changes for those who may make them. */
function modelOf(api: Api, access: AccessClass | null) {
  const { model, modelChanges } = resources;
  return (access === null || access.admin) && changesModel(api)
    ? { ...model, operations: { ...model.operations, ...modelChanges.operations } }
    : model;
}

function otherPaths({ api, access, view, custom, model }: Described): Parts {
  const users = hasUsers(api);
  const pathsOfEach = (...each: readonly Parameters<typeof operationPaths>[0][]) =>
    each.flatMap((resource) => operationPaths(resource, api, access, view));
  return [
    ...functionPaths(view.functions),
    ...customPaths(custom),
    ...pathsOfEach(resources.server),
    ...(api.graphql ? graphqlPaths() : []),
    ...pathsOfEach(resources.utils, resources.explain, model),
    ...(users ? pathsOfEach(resources.comments, resources.files) : []),
    ...filePaths(view),
    ...(users ? pathsOfEach(resources.transfers) : []),
    ...(users ? ownUserPaths(view) : []),
    ...(users
      ? pathsOfEach(resources.ownUser, resources.auth, resources.sso, resources.passwords, resources.users)
      : []),
  ];
}

function allSchemas({ api, view, collections, model, asText }: Described): readonly (readonly [string, JsonValue])[] {
  const repeated = repeatedSchemas(view);
  const names = [...repeated.map(([name]) => name), ...listedConditions(view)];
  const shared = new Map(names.map((name) => [name, true]));
  return [
    ...collections.flatMap((collection) =>
      componentsOf(collection, [shared], asText, (watch) => collectionSchemas(collection, watch(shared))),
    ),
    ...repeated,
    ...keysOf(collections, asText),
    ...sharedSchemas(view, asText),
    ...operationSchemas(model, view.administrator),
    ...operationSchemas(resources.explain, view.administrator),
    ...(api.graphql ? graphqlSchemas() : []),
    ...(hasUsers(api) ? operationSchemas(resources.auth, view.administrator) : []),
  ];
}

const componentsOf = createPartsCache(6, true);
const pathsOf = addressedPartsOf('paths');
const parametersOf = addressedPartsOf('parameters');
const keysOf = sharedPartsOf(keySchemas);
const bodiesOf = sharedPartsOf(namingBodies);
const keyParametersOf = sharedPartsOf(sharedParameters);

type PartsOf = (collections: readonly RoleCollection[], asText: boolean) => Parts;

/** Makes the function that gives parts of collections which differ in names only, where they differ in no fact. */
function addressedPartsOf(kind: keyof typeof addressedParts): PartsOf {
  const { indent, create } = addressedParts[kind];
  const cached = createPartsCache(indent, true);
  return (collections, asText) =>
    collections.flatMap((collection) =>
      cached(
        collection,
        [],
        asText,
        () => create(addressed(collection)),
        () => addressedTexts(kind, addressed(collection)),
      ),
    );
}

/** Makes the function that gives parts which collections share, each once. */
function sharedPartsOf(create: (collection: Addressed) => Parts): PartsOf {
  const cached = createPartsCache(6, false);
  return (collections, asText) => {
    // Where facts are the same, so are the parts.
    const different = new Map(collections.map((collection) => [factsText(addressed(collection)), collection]));
    return [
      ...new Map(
        [...different.values()].flatMap((collection) =>
          cached(collection, [], asText, () => create(addressed(collection))),
        ),
      ),
    ];
  };
}

/** Either form of token; none is needed for what requests without a token may read. */
function securityOf({ anonymous }: RoleView): JsonValue {
  const tokens = [{ bearer: [] }, { accessToken: [] }];
  return anonymous ? [{}, ...tokens] : tokens;
}

function tagsOf({ api, view, custom }: Described): readonly JsonValue[] {
  const users = hasUsers(api);
  const tags = view.collections.filter(isAddressed).map(({ names, note }) => ({ name: names.tag, ...described(note) }));
  return [
    ...tags,
    { name: resources.server.tag, description: 'The server itself.' },
    { name: resources.model.tag, description: 'Collections, fields and relations.' },
    { name: resources.utils.tag, description: 'Operations beside reading and writing.' },
    ...tag(users && !hasTag(view, ownUserTag), ownUserTag, 'The user who asks.'),
    ...tag(users, resources.auth.tag, 'Signing in and out, passwords and second factors.'),
    ...tag(view.functions.length > 0, functionTag, 'Functions and procedures of the database.'),
    ...tag(custom.length > 0, customTag, "Routes of the project's own code."),
    ...tag(api.graphql, graphqlTag, 'Documents in place of paths.'),
  ];
}

function tag(isUsed: boolean, name: string, description: string): readonly JsonObject[] {
  return isUsed ? [{ name, description }] : [];
}

function hasTag({ collections }: RoleView, tag: string): boolean {
  return collections.some((collection) => isAddressed(collection) && collection.names.tag === tag);
}

function isAddressed({ operations }: RoleCollection): boolean {
  return operations.size > 0;
}

function sharedSchemas(view: RoleView, asText: boolean): readonly (readonly [string, JsonValue])[] {
  return [
    ...nestedWriteSchemas(view, asText),
    ...valueSchemas(),
    ...conditionSchemas((type) => hasType(view, type)),
    ...parameterSchemas(),
    ['Meta', metaSchema()],
    ...failureSchemas(),
    ...operationSchemas(resources.server, view.administrator),
  ];
}

/** Components that several schemas refer to; what only one has stands in its place. */
function repeatedSchemas({ collections }: RoleView): Parts {
  const readable = collections.filter((collection) => collection.readable);
  const found = readable.flatMap((each) =>
    repeatableOf(each, () => [...partValues(each), ...partConditions(each), ...relatedConditions(each)]),
  );
  const byName = Map.groupBy(found, ([name]) => name);
  return [...byName.values()].flatMap(([first, second]) => (first && second ? [first] : []));
}

const repeatableOf = createFacts<RoleCollection, Parts>();

/** Names of conditions of collections that relations list. */
function listedConditions({ collections }: RoleView): readonly string[] {
  const lists = collections.flatMap(({ relations }) => relations.filter(({ kind }) => kind !== 'm2o'));
  return lists.map(({ target }) => target.conditions);
}

function collectionSchemas(collection: RoleCollection, shared: Lookup<unknown>): Parts {
  return [...readSchemas(collection, shared), ...payloadSchemas(collection)];
}

function readSchemas(collection: RoleCollection, shared: Lookup<unknown>): Parts {
  const { names, operations, readable } = collection;
  if (!readable) return [];
  const isListed = operations.has('list') || shared.has(names.conditions);
  return [
    ...commonSchema(collection, shared),
    [names.item, itemSchema(collection)],
    ...filterSchemas(collection, shared),
    ...(isListed ? aggregateSchemas(collection) : []),
    ...(operations.has('list') ? [[names.rows, rowsSchema(collection)] as const] : []),
    ...(operations.has('search') ? [[names.search, searchSchema(addressed(collection))] as const] : []),
  ];
}

function metaSchema(): JsonObject {
  const count = { type: 'integer', minimum: 0 };
  const next = { type: ['string', 'null'], description: 'Where the next page starts; null after the last one.' };
  const previous = { type: ['string', 'null'], description: 'Where the page before ends; null before the first one.' };
  const cursors = { next_cursor: next, previous_cursor: previous };
  return { type: 'object', properties: { total_count: count, filter_count: count, ...cursors } };
}

/** Facts that all collections share, in Markdown: documents say them once, and not at each operation. */
const guide = `The REST API that Tablewright compiled for a database and its permissions.

## Collections

- List (GET): the items that match. The key completes every order.
- SEARCH on the same path, described as \`x-platform-search\`: answers as GET does, and has its members where it names none. The parameters stand in the body, and \`keys\` reads exactly these items; parameters in the URL do not count.
- Read (GET with a key): the item that has the key. One that does not exist is forbidden. A singleton that was not written yet has its defaults.
- Create (POST): one item, or all items of an array, answered in its order. \`on_conflict\` names a unique key: items that have its values are changed, and the others are made. Without it, an item that there already is is an error.
- Update (PATCH): changes the fields that the body has. Without a key in the path it gives the same \`data\` to the items of \`keys\` or \`query\`, or to each item of an array its own. A singleton is created when there is none.
- Delete (DELETE): the item that has the key; or those of \`keys\` or \`query\`, or of an array of keys: all of them or none.

## Parameters

- \`filter\`: conditions that items must meet, all of them together: in brackets, \`filter[field][_eq]=value\`, or as the text of a JSON object, \`filter={"field":{"_eq":"value"}}\`.
- \`aggregate\`: answers aggregate rows instead of items: functions with the fields they take, as \`aggregate[sum]=a\`; \`aggregate[count]=*\` counts items. Fields stand in a list, or in a text with commas.
- \`groupBy\`: fields and functions of them, such as \`year(a)\`, that make one aggregate row per value.
- \`having\`: conditions that aggregate rows must meet, whether their values are in the answer or not.
- Parameters of writes shape the answer: written items that do not match are left out.

## Schemas

Components of a collection \`X\`: \`ItemsX\` is an item, \`AggregateX\` an aggregate row, \`FilterX\` a filter, \`CreateX\` a new item, and \`UpdateX\` changes of an item. \`ChangeX\` has the key of the item that it changes, too. \`UpsertX\` is a new item, or changes of the one that has the same values in a unique key. \`PayloadX\` is what they have in common.

## Failures

Answers under \`default\` list what each status means; \`x-platform-codes\` in an answer has the codes of its errors.`;
