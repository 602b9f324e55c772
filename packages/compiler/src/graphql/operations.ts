/** Root fields and types of the platform's operations, from their declarations. */
import type { AccessClass } from '@tablewright/runtime/language';
import {
  listMembers,
  type Members,
  type NamedOperation,
  operationsOf,
  type Resource,
  resources,
  type ValueSchema,
} from '@tablewright/runtime/operations';
import { type SdlField, sdlEnum, sdlType } from '../print/sdl.ts';
import { mayCall } from '../role-view/callable.ts';
import type { GraphqlCollections } from './graphql-collections.ts';

/** Root fields of a resource, as far as a class may call its operations. */
function operationFields(
  resource: Resource,
  access: AccessClass,
  kind: 'query' | 'mutation',
  collections: GraphqlCollections['collections'],
): readonly SdlField[] {
  return operationsOf(resource).flatMap((operation): readonly SdlField[] => {
    const name = operation.graphql?.[kind];
    if (name === undefined || !mayCall(operation, access, (collection) => collections.get(collection)?.view)) return [];
    return [rootField(operation, name, collections)];
  });
}

export function operationTypes(resource: Resource): readonly string[] {
  const offered = operationsOf(resource).filter(({ graphql }) => graphql !== undefined);
  const named = [
    ...offered.flatMap(valueType),
    ...offered.flatMap(({ graphql, input = {}, body, output }) => [
      ...Object.values(input).flatMap((schema) => namedIn(schema, 'input')),
      ...(body === undefined ? [] : namedIn(body, 'input')),
      ...(graphql?.type === undefined ? namedIn(output.data ?? output.body ?? {}, 'type') : []),
    ]),
  ];
  const names = named.map(([name]) => name);
  return named.flatMap(([name, text], index) => (names.indexOf(name) === index ? [text] : []));
}

function rootField(operation: NamedOperation, name: string, collections: GraphqlCollections['collections']): SdlField {
  const { graphql, input = {}, body, output } = operation;
  const args = [...argumentsOf(input, collections), ...bodyArguments(body, graphql?.body)];
  const order = graphql?.order ?? args.map((argument) => argument.name);
  return {
    name,
    type: graphql?.type ?? outputType(output, collections),
    args: order.flatMap((argumentName) => args.find((argument) => argument.name === argumentName) ?? []),
  };
}

function outputType(
  { data, body, item }: NamedOperation['output'],
  collections: GraphqlCollections['collections'],
): string {
  const collection = item === undefined ? undefined : collections.get(item);
  if (collection?.view.readable === true) return collection.types.item;
  const value = data ?? body;
  return value === undefined ? 'Boolean' : typeOf(value);
}

/** Arguments under their names; those that are payloads have the type of the collection. */
function argumentsOf(input: Members, collections: GraphqlCollections['collections']): readonly SdlField[] {
  const renamed = listMembers(input).map(({ name, isRequired, schema }): readonly [string, ValueSchema] => {
    const { argument = name, payload, ...plain } = schema;
    const graphql = payload === undefined ? schema.graphql : collections.get(payload)?.types.create;
    return [isRequired ? argument : `${argument}?`, { ...plain, ...(graphql !== undefined && { graphql }) }];
  });
  return fieldsOf(Object.fromEntries(renamed));
}

function bodyArguments(body: ValueSchema | undefined, name: string | undefined): readonly SdlField[] {
  if (body === undefined) return [];
  return fieldsOf(name === undefined ? (body.members ?? {}) : { [name]: body });
}

/** Type of a value that repeats inputs; the one of items by key is there. */
function valueType({ graphql, input = {} }: NamedOperation): readonly (readonly [string, string])[] {
  const { type = '', value } = graphql ?? {};
  if (value === undefined || type === 'delete_one') return [];
  const fields = argumentsOf(Object.fromEntries(value.map((name) => [name, input[name] ?? {}])), new Map());
  return [[type, sdlType('type', type, fields)]];
}

/** Named types of a schema, those that it refers to before itself. An array whose type is spelled names one that is there. */
function namedIn(schema: ValueSchema, kind: 'type' | 'input'): readonly (readonly [string, string])[] {
  const { graphql = '', members = {}, items, anyOf: [first] = [], enum: choices } = schema;
  if (first !== undefined) return namedIn(first, kind);
  if (schema.members === undefined) {
    if (choices !== undefined && /^[a-z]/.test(graphql)) return [[graphql, sdlEnum(graphql, choices)]];
    return items === undefined || graphql !== '' ? [] : namedIn(items, kind);
  }
  const below = Object.values(members).flatMap((member) => namedIn(member, kind));
  if (graphql === '') return below;
  const fields = fieldsOf(members);
  // The operation checks what it is sent.
  const listed =
    kind === 'type' ? fields : fields.map(({ type, ...field }) => ({ ...field, type: type.replace(/!$/, '') }));
  return [...below, [graphql, sdlType(kind, graphql, listed)]];
}

function fieldsOf(members: NonNullable<ValueSchema['members']>): readonly SdlField[] {
  return listMembers(members).map(({ name, isRequired, schema: { note = null, ...schema } }) => {
    const isTypeless = schema.graphql !== undefined && schema.members === undefined;
    return { name, type: isRequired && !isTypeless ? `${typeOf(schema)}!` : typeOf(schema), note };
  });
}

function typeOf({ graphql, items, type = 'object' }: ValueSchema): string {
  if (graphql !== undefined) return graphql;
  if (items !== undefined) return `[${typeOf(items)}!]`;
  return scalars[[type].flat()[0] ?? 'object'];
}

const scalars = {
  string: 'String',
  integer: 'Int',
  number: 'Float',
  boolean: 'Boolean',
  object: 'JSON',
  array: 'JSON',
  null: 'Void',
} as const;

const users = 'platform_users';

/** The root fields of the system scope; those of accounts where users are installed. */
export function serviceRoots(
  { collections }: GraphqlCollections,
  access: AccessClass,
  installed: boolean,
  changing: boolean,
  kind: 'query' | 'mutation',
): readonly SdlField[] {
  const userCollection = collections.get(users);
  const fieldsOf = (resource: Resource): readonly SdlField[] => operationFields(resource, access, kind, collections);
  const accounts = accountResources.flatMap(fieldsOf);
  if (kind === 'query') {
    const accountQueries = installed ? [usersMe, ...accounts] : [];
    return [
      ...accountQueries,
      ...fieldsOf(resources.server),
      printSchema,
      ...fieldsOf(resources.model),
      ...fieldsOf(resources.utils),
    ];
  }
  if (!installed) return fieldsOf(resources.utils);
  return [
    ...(userCollection?.view.writes?.update
      ? [updateOwn(userCollection.types.update, userCollection.view.readable ? userCollection.types.item : 'Boolean')]
      : []),
    ...accounts,
    ...fieldsOf(resources.comments),
    ...fieldsOf(resources.files),
    ...fieldsOf(resources.utils),
    ...(changing ? fieldsOf(resources.modelChanges) : []),
  ];
}

export function serviceTypes(installed: boolean): readonly string[] {
  return [
    sdlEnum('graphql_sdl_scope', ['items', 'system']),
    ...operationTypes(resources.model),
    ...(installed ? [resources.auth, resources.passwords, resources.users].flatMap(operationTypes) : []),
  ];
}

/** A class that reads no users still reads the own key. */
export function unreadUsers({ collections }: GraphqlCollections): readonly string[] {
  const readable = collections.get(users)?.view.readable === true;
  return readable ? [] : [sdlType('type', users, [{ name: 'id', type: 'ID!' }])];
}

const printSchema: SdlField = {
  name: 'server_specs_graphql',
  type: 'String',
  args: [{ name: 'scope', type: 'graphql_sdl_scope' }],
};

const accountResources = [resources.users, resources.auth, resources.passwords];

const usersMe: SdlField = { name: 'users_me', type: users };

function updateOwn(input: string, type: string): SdlField {
  return { name: 'update_users_me', type, args: [{ name: 'data', type: `${input}!` }] };
}
