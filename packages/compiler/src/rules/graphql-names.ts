/** The law of names in GraphQL: no two things have one name, in any access class. Source: section 14.2. */

import type { Diagnostic } from '@tablewright/introspect';
import {
  type CollectionDescriptor,
  findOrCreate,
  type GraphqlCollectionRoot,
  graphqlChangesName,
  graphqlCollectionRoots,
  graphqlConnectionNames,
  graphqlConnectionRoot,
  graphqlFunctionsName,
  graphqlItemFilterName,
  graphqlLinks,
  graphqlName,
  graphqlRootTypes,
  graphqlScope,
  graphqlTypeNames,
  isComputable,
  type ManyToAny,
} from '@tablewright/runtime/language';
import { graphqlServiceRoots } from '@tablewright/runtime/operations';
import type { Api } from '../api.ts';
import { createFacts, createFactsOfNames } from '../cache/same.ts';
import { enumGroup, keyFilterName, operatorFields, operatorGroups, operatorsName } from '../graphql/filters.ts';
import { fixedTypes } from '../graphql/index.ts';
import { pageInfoName, resultTypeName } from '../graphql/roots.ts';
import { compositeName, compositesOf } from '../graphql/values.ts';
import { hasUsers } from '../role-view/callable.ts';

/** Every name that two things would have; none where there is no GraphQL. */
export function checkGraphqlNames(api: Api): readonly Diagnostic[] {
  if (!api.graphql) return [];
  const collections = api.collections.map(({ descriptor }) => descriptor);
  const links = graphqlLinks(collections);
  const users = hasUsers(api);
  const all = (): readonly Claim[] => [...fixedClaims(users), ...collections.flatMap(collectionClaims)];
  const ofSchema = inSchema([String(users), ...collections.map(calledBy)], () =>
    isDistinctSchema(fixedClaims(users), collections) ? [] : collisions(all(), 'schema'),
  );
  const ofFunctions = collisionsWith(all, functionClaims(api));
  return [
    ...ofSchema,
    ...ofFunctions.map((found) => ({ ...found, code: 'function-name-taken' })),
    ...collisionsWith(all, enumClaims(api, collections)),
    ...collisionsWith(() => [...all(), ...typesBeside(api)], compositeClaims(api, collections)),
    ...collisionsWith(() => [...all(), ...functionFields(api)], connectionClaims(api, collections)),
    ...collections.flatMap((collection) => ownCollisions(collection, links.get(collection.name) ?? [])),
  ];
}

/** Names of functions: those of a root field, a type, an argument, a member of a result. */
function functionClaims({ functions = [] }: Api): readonly Claim[] {
  return functions.flatMap(({ descriptor: { name, reads, returns, arguments: args } }) => {
    const owner = `function "${name}"`;
    const members = returns.kind === 'objects' ? returns.members : [];
    return [
      { space: `items ${reads ? 'query' : 'mutation'}`, name: graphqlName(name), owner },
      ...(returns.kind === 'objects' ? [{ space: 'type', name: resultTypeName(name), owner }] : []),
      ...args.map((argument) => ({ space: `arguments of "${name}"`, name: graphqlName(argument.name), owner })),
      ...members.map((member) => ({ space: `results of "${name}"`, name: graphqlName(member.name), owner })),
    ];
  });
}

/** Names of types around enums. An enum whose own name is taken is none. */
function enumClaims({ graphqlEnums = [] }: Api, collections: readonly CollectionDescriptor[]): readonly Claim[] {
  return graphqlEnums.flatMap(({ name, source }) => {
    const group = enumGroup(name);
    const filters = collections.map((collection) => keyFilterName(collection.name, group));
    const names = [name, operatorsName(group), ...filters];
    return names.map((claimed) => ({ space: 'type', name: claimed, owner: `enum "${source}"` }));
  });
}

/** Names of composite types, and of their members. */
function compositeClaims({ functions = [] }: Api, collections: readonly CollectionDescriptor[]): readonly Claim[] {
  const called = functions.flatMap(({ descriptor: { arguments: args, returns } }) => [
    ...args,
    ...(returns.kind === 'value' ? [returns.value] : returns.kind === 'objects' ? returns.members : []),
  ]);
  const composites = compositesOf([...collections.flatMap(({ fields }) => fields), ...called]);
  return [...composites].flatMap(([source, attributes]) => {
    const owner = `composite type "${source}"`;
    return [
      ...[false, true].map((input) => ({ space: 'type', name: compositeName(source, input), owner })),
      ...attributes.map(({ name }) => ({ space: owner, name: graphqlName(name), owner: `member "${name}"` })),
    ];
  });
}

/** Types of enums and of results of functions. */
function typesBeside({ functions = [], graphqlEnums = [] }: Api): readonly Claim[] {
  return [
    ...graphqlEnums.map(({ name, source }) => ({ space: 'type', name, owner: `enum "${source}"` })),
    ...functions.map(({ descriptor: { name } }) => {
      return { space: 'type', name: resultTypeName(name), owner: `function "${name}"` };
    }),
  ];
}

/** Names around pages of lists. */
function connectionClaims(api: Api, collections: readonly CollectionDescriptor[]): readonly Claim[] {
  if (api.connections !== true) return [];
  const claims = collections.flatMap((collection): readonly Claim[] => {
    const root = graphqlConnectionRoot(collection);
    if (root === undefined) return [];
    const owner = `the connection of "${collection.name}"`;
    const types = Object.values(graphqlConnectionNames(collection.name));
    return [
      { space: spaceOf(collection, root), name: root.name, owner },
      ...types.map((name) => ({ space: 'type', name, owner })),
    ];
  });
  return [...claims, { space: 'type', name: pageInfoName, owner: 'a type of every schema' }];
}

/** Root fields of functions that only read. */
function functionFields({ functions = [] }: Api): readonly Claim[] {
  const reading = functions.filter(({ descriptor }) => descriptor.reads);
  return reading.map(({ descriptor: { name } }) => {
    return { space: 'items query', name: graphqlName(name), owner: `function "${name}"` };
  });
}

/** Collisions within a collection. Most findings follow from its own names alone, and are found once. */
function ownCollisions(collection: CollectionDescriptor, links: readonly ManyToAny[]): readonly Diagnostic[] {
  const find = () => {
    const names = memberNames(collection, links);
    return isDistinctWithin(names) ? [] : collisions(memberClaims(names), `collection ${collection.name}`);
  };
  return links.length > 0 ? find() : withoutLinks(collection, find);
}

const withoutLinks = createFacts<CollectionDescriptor, readonly Diagnostic[]>();

/** Findings of a schema follow from the names of its collections, which a change of one hardly ever changes. */
const inSchema = createFactsOfNames<readonly Diagnostic[]>();

/** Facts that the names of a collection in a schema follow from, as a text. */
function calledBy({ name, key, singleton, system }: CollectionDescriptor): string {
  return JSON.stringify([name, key.length > 0, singleton, system]);
}

/** A name that something has in a space of names: all types, the root fields of a scope, the fields of one type. */
interface Claim {
  readonly space: string;
  readonly name: string;
  readonly owner: string;
}

/** `Subscription` would be a root type by its name alone. */
function fixedClaims(users: boolean): readonly Claim[] {
  const defined = [...fixedTypes(users).matchAll(/^(?:type|input|enum|union|scalar) (\w+)/gm)].map(
    ([, name = '']) => name,
  );
  const roots = Object.values(graphqlRootTypes).flatMap((types) => Object.values(types));
  const types = ['String', 'Int', 'Float', 'Boolean', 'ID', 'Subscription', ...roots, ...defined];
  const services = (['query', 'mutation'] as const).flatMap((kind) =>
    graphqlServiceRoots[kind].map((name) => ({ space: `system ${kind}`, name, owner: 'a name of Tablewright' })),
  );
  return [...types.map((name) => ({ space: 'type', name, owner: 'a type of every schema' })), ...services];
}

function collectionClaims(descriptor: CollectionDescriptor): readonly Claim[] {
  const owner = `collection "${descriptor.name}"`;
  return [
    ...typesOf(descriptor).map((name) => ({ space: 'type', name, owner })),
    ...graphqlCollectionRoots(descriptor).map((root) => ({ space: spaceOf(descriptor, root), name: root.name, owner })),
  ];
}

function typesOf({ name }: CollectionDescriptor): readonly string[] {
  return [...Object.values(graphqlTypeNames(name)), ...operatorGroups.map((group) => keyFilterName(name, group))];
}

function spaceOf(descriptor: CollectionDescriptor, { kind }: GraphqlCollectionRoot): string {
  return `${graphqlScope(descriptor)} ${kind}`;
}

/** True if no two have one name. Most schemas are only checked here, without naming the owners. */
function isDistinctSchema(fixed: readonly Claim[], collections: readonly CollectionDescriptor[]): boolean {
  const taken = new Map([...Map.groupBy(fixed, ({ space }) => space)].map(([space, all]) => [space, namesOf(all)]));
  const add = (space: string, name: string): boolean => {
    const names = findOrCreate(taken, space, () => new Set());
    return names.size < names.add(name).size;
  };
  return collections.every(
    (collection) =>
      typesOf(collection).every((name) => add('type', name)) &&
      graphqlCollectionRoots(collection).every((root) => add(spaceOf(collection, root), root.name)),
  );
}

function namesOf(claims: readonly Claim[]): Set<string> {
  return new Set(claims.map(({ name }) => name));
}

const filterWords: ReadonlySet<string> = new Set([
  '_and',
  '_or',
  ...operatorGroups.flatMap((group) => operatorFields(group)).map(({ name }) => name),
]);

/** The API names that a collection has names for, by what these are of. */
type MemberNames = ReturnType<typeof memberNames>;

function memberNames({ fields, relations }: CollectionDescriptor, links: readonly ManyToAny[]) {
  const fieldNames = new Set(fields.map(({ name }) => name));
  const others = relations.filter(({ name }) => !fieldNames.has(name));
  const many = others.filter(({ kind }) => kind !== 'm2o').map(({ name }) => name);
  return {
    fields: [...fieldNames],
    relations: others.map(({ name }) => name),
    /** Fields with functions, and relations to many items. */
    called: [...fields.filter(({ type }) => isComputable(type)).map(({ name }) => name), ...many],
    many,
    items: [...new Set(links.flatMap(({ allowed }) => allowed))],
  } as const;
}

/** True if they differ even within one common space, as nearly always. */
function isDistinctWithin({ fields, relations, called, many, items }: MemberNames): boolean {
  const names = [
    ...fields.map(graphqlName),
    ...relations.map(graphqlName),
    ...called.map(graphqlFunctionsName),
    ...many.map(graphqlChangesName),
    ...items.map(graphqlItemFilterName),
  ];
  return new Set(names).size === names.length && !names.some((name) => filterWords.has(name));
}

function memberClaims({ fields, relations, called, many, items }: MemberNames): readonly Claim[] {
  const named = [
    ...fields.map((name) => ({ name: graphqlName(name), owner: `field "${name}"` })),
    ...relations.map((name) => ({ name: graphqlName(name), owner: `relation "${name}"` })),
  ];
  const functions = called.map((name) => ({ name: graphqlFunctionsName(name), owner: `the functions of "${name}"` }));
  const changes = many.map((name) => ({ name: graphqlChangesName(name), owner: `the changes of "${name}"` }));
  const linked = items.map((name) => ({ name: graphqlItemFilterName(name), owner: `items of "${name}"` }));
  const terms = [...filterWords].map((name) => ({ name, owner: 'a word of filters' }));
  return [
    ...[...named, ...functions].map((claim) => ({ space: 'item', ...claim })),
    ...[...named, ...functions, ...linked, ...terms].map((claim) => ({ space: 'filter', ...claim })),
    ...[...named, ...changes].map((claim) => ({ space: 'input', ...claim })),
  ];
}

function keyOf({ space, name }: Claim): string {
  return `${space} ${name}`;
}

/** Names that some claim together, or that others have. */
function collisionsWith(others: () => readonly Claim[], claims: readonly Claim[]): readonly Diagnostic[] {
  if (claims.length === 0) return [];
  const claimed = new Set(claims.map(keyOf));
  return collisions([...others().filter((claim) => claimed.has(keyOf(claim))), ...claims], 'schema');
}

/** One complaint for the same things, however many names they share. */
function collisions(claims: readonly Claim[], location: string): readonly Diagnostic[] {
  const groups = [...Map.groupBy(claims, keyOf).values()];
  const shared = groups.flatMap((group) => {
    const owners = [...new Set(group.map(({ owner }) => owner))];
    const [first] = group;
    if (first === undefined || owners.length < 2) return [];
    return [
      { name: first.name, owners, things: JSON.stringify(owners.map((owner) => /".*"/s.exec(owner)?.[0] ?? owner)) },
    ];
  });
  const kinds = Map.groupBy(shared, ({ things }) => things).values();
  return [...kinds].flatMap(([first]): readonly Diagnostic[] => {
    if (first === undefined) return [];
    const message = `In GraphQL ${listed(first.owners)} would all be called "${first.name}".`;
    const hint = 'Rename all but one in platform.config.ts; `graphql: false` there leaves GraphQL out.';
    return [{ code: 'graphql-name', severity: 'error', place: location, message, hint }];
  });
}

function listed(owners: readonly string[]): string {
  return `${owners.slice(0, -1).join(', ')} and ${owners.at(-1)}`;
}
