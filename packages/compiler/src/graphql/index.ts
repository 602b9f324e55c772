/**
 * Api → GraphQL schema text of an access class, both scopes in one. Pure: the same Api gives the same text.
 * The OpenAPI document of the class decides what is visible (`role-view/`). This folder prints its input only, so
 * a hidden name has no way into the schema. The contract defines the meaning of names (`graphql.ts`).
 */
import { type AccessClass, graphqlRootTypes } from '@tablewright/runtime/language';
import { resources } from '@tablewright/runtime/operations';
import type { Api } from '../api.ts';
import { createCache } from '../cache/memo-cache.ts';
import type { DocumentPart } from '../print/class-document.ts';
import { sdlType } from '../print/sdl.ts';
import { changesModel, hasUsers } from '../role-view/callable.ts';
import { hasType, type RoleView } from '../role-view/role-view.ts';
import { enumTypes, filterTypes, keyFilters, measuredTypes, operatorInput, operatorTypes } from './filters.ts';
import { type GraphqlCollections, graphqlCollectionsOf } from './graphql-collections.ts';
import { inputTypes, referredInputs } from './inputs.ts';
import { aggregateTypes, itemTypes } from './items.ts';
import { operationTypes, serviceRoots, serviceTypes, unreadUsers } from './operations.ts';
import { collectionRoots, connectionTypes, functionRoots, functionTypesOf } from './roots.ts';
import { compositeTypes, functionTypes, scalarTypes } from './values.ts';

export function emitGraphql(api: Api, access: AccessClass, view: RoleView): string {
  return graphqlTypes(api, access, view).join('\n');
}

/** The same in parts, each named after its first type. */
export function graphqlParts(api: Api, access: AccessClass, view: RoleView): readonly DocumentPart[] {
  return graphqlTypes(api, access, view).map((text) => ({
    name: /^[a-z]+ \w+/m.exec(text)?.[0] ?? '',
    text: [text.slice(0, -1)],
  }));
}

/** The same in texts of one type or some, which schemas share where they have the same of a collection. */
export function graphqlTypes(api: Api, access: AccessClass, view: RoleView): readonly string[] {
  const schema = graphqlCollectionsOf(api, view);
  const users = hasUsers(api);
  const changing = access.admin && changesModel(api);
  return [
    ...rootTypes(schema, access, users, changing),
    ...functionTypesOf(schema),
    ...collectionTypes(schema),
    ...connectionTypes(schema),
    ...enumTypes(view),
    ...compositeTypes(view),
    ...(users ? unreadUsers(schema) : []),
    ...(changing ? operationTypes(resources.modelChanges) : []),
    ...measuredTypes(schema.view),
    ...(hasType(view, 'composite') ? [operatorInput('composite')] : []),
    fixedTypes(users),
  ];
}

/** The types that no collection changes; those of accounts where users are installed. */
export function fixedTypes(users: boolean): string {
  return [
    sdlType('type', 'delete_one', [{ name: 'id', type: 'ID!' }]),
    sdlType('type', 'delete_many', [{ name: 'ids', type: '[ID!]!' }]),
    ...serviceTypes(users),
    functionTypes(),
    operatorTypes(),
    scalarTypes(),
  ].join('\n');
}

function rootTypes(
  schema: GraphqlCollections,
  access: AccessClass,
  users: boolean,
  changing: boolean,
): readonly string[] {
  const fieldsOf = (scope: 'items' | 'system', kind: 'query' | 'mutation'): readonly string[] => {
    const services = scope === 'system' ? serviceRoots(schema, access, users, changing, kind) : [];
    const calls = scope === 'items' ? functionRoots(schema, kind) : [];
    const fields = [...collectionRoots(schema, scope, kind), ...calls, ...services];
    // Every schema has a query, which may hold nothing.
    return kind === 'query' || fields.length > 0 ? [sdlType('type', graphqlRootTypes[scope][kind], fields)] : [];
  };
  return [
    ...fieldsOf('items', 'query'),
    ...fieldsOf('items', 'mutation'),
    ...fieldsOf('system', 'query'),
    ...fieldsOf('system', 'mutation'),
  ];
}

function collectionTypes(schema: GraphqlCollections): readonly string[] {
  const keys = keyFilters(schema);
  const { update, changes, link } = referredInputs(schema);
  const all = schema.collections;
  const sources = [all, keys, update, changes, link];
  const texts = [...all.values()].map((shown) =>
    textOf(shown, sources, (watch) => {
      const neighbours = { collections: watch(all) };
      const referred = { update: watch(update), changes: watch(changes), link: watch(link) };
      const types = shown.view.readable
        ? [...itemTypes(shown, neighbours), ...filterTypes(shown, neighbours, watch(keys)), ...aggregateTypes(shown)]
        : [];
      return [...types, ...inputTypes(shown, neighbours, referred)].join('\n');
    }),
  );
  // A collection that can only be deleted from has no type.
  return texts.filter((text) => text !== '');
}

const textOf = createCache<string>();
