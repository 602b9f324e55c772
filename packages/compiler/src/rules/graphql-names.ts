/**
 * The law of names in GraphQL: no two things have one name. Everything is judged, whoever may see it, so that what a thing
 * is called never depends on the access class.
 *
 * Source: API specification, section 14.2.
 */
import type { Diagnostic } from '@platform/introspect';
import {
  type CollectionDescriptor,
  functionsOf,
  graphqlChangesName,
  graphqlCollectionRoots,
  graphqlFunctionsName,
  graphqlItemFilterName,
  graphqlLinks,
  graphqlName,
  graphqlRootTypes,
  graphqlScope,
  graphqlServiceRoots,
  graphqlTypeNames,
  type ManyToAny,
} from '@platform/runtime/contract';
import type { Api } from '../api.ts';
import { keyFilterName } from '../graphql/filters.ts';
import { fixedTypes } from '../graphql/index.ts';
import { operatorFields, operatorGroups } from '../graphql/operators.ts';
import { createFacts, createFactsOfNames } from '../memory/facts.ts';
import { hasUsers } from '../openapi/auth-paths.ts';

/** Every name that two things would have; none where there is no GraphQL. */
export function checkGraphqlNames(api: Api): readonly Diagnostic[] {
  if (!api.graphql) return [];
  const collections = api.collections.map(({ descriptor }) => descriptor);
  const links = graphqlLinks(collections);
  const claims = collections.map((one) => claimsOf(one, () => claimsWithText(one)));
  const users = hasUsers(api);
  const ofSchema = inSchema([String(users), ...claims.map(({ text }) => text)], () =>
    collisions([...fixedClaims(users), ...claims.flatMap(({ all }) => all)], 'schema'),
  );
  return [...ofSchema, ...collections.flatMap((one) => ownCollisions(one, links.get(one.name) ?? []))];
}

/** Within a collection; what is found of most follows from them alone, and is found once. */
function ownCollisions(one: CollectionDescriptor, links: readonly ManyToAny[]): readonly Diagnostic[] {
  const find = () => collisions(memberClaims(one, links), `collection ${one.name}`);
  return links.length > 0 ? find() : withoutLinks(one, find);
}

const withoutLinks = createFacts<CollectionDescriptor, readonly Diagnostic[]>();
const claimsOf = createFacts<CollectionDescriptor, Claims>();

/** What is found of a schema follows from what its collections are called, which a change of one hardly ever changes. */
const inSchema = createFactsOfNames<readonly Diagnostic[]>();

/** A name that something has in a space of names: all types, the root fields of a scope, the fields of one type. */
interface Claim {
  readonly space: string;
  readonly name: string;
  readonly owner: string;
}

/** The claims of a collection, and a text that says the same. */
interface Claims {
  readonly all: readonly Claim[];
  readonly text: string;
}

/** `Subscription` would be a root type by its name alone. */
function fixedClaims(users: boolean): readonly Claim[] {
  const defined = [...fixedTypes(users).matchAll(/^(?:type|input|enum|union|scalar) (\w+)/gm)].map(
    ([, name = '']) => name,
  );
  const roots = Object.values(graphqlRootTypes).flatMap((types) => Object.values(types));
  const types = ['String', 'Int', 'Float', 'Boolean', 'ID', 'Subscription', ...roots, ...defined];
  const services = (['query', 'mutation'] as const).flatMap((kind) =>
    graphqlServiceRoots[kind].map((name) => ({ space: `system ${kind}`, name, owner: 'a name of the platform' })),
  );
  return [...types.map((name) => ({ space: 'type', name, owner: 'a type of every schema' })), ...services];
}

function collectionClaims(descriptor: CollectionDescriptor): readonly Claim[] {
  const owner = `collection "${descriptor.name}"`;
  const keyed = operatorGroups.map((group) => keyFilterName(descriptor.name, group));
  const types = [...Object.values(graphqlTypeNames(descriptor.name)), ...keyed];
  const scope = graphqlScope(descriptor);
  return [
    ...types.map((name) => ({ space: 'type', name, owner })),
    ...graphqlCollectionRoots(descriptor).map(({ name, kind }) => ({ space: `${scope} ${kind}`, name, owner })),
  ];
}

function claimsWithText(descriptor: CollectionDescriptor): Claims {
  const all = collectionClaims(descriptor);
  return { all, text: JSON.stringify(all) };
}

const filterWords = [
  '_and',
  '_or',
  ...new Set(operatorGroups.flatMap((group) => operatorFields(group)).map(({ name }) => name)),
];

function memberClaims({ fields, relations }: CollectionDescriptor, links: readonly ManyToAny[]): readonly Claim[] {
  const own = new Set(fields.map(({ name }) => name));
  const others = relations.filter(({ name }) => !own.has(name));
  const many = others.filter(({ kind }) => kind !== 'm2o');
  const called = [...fields.filter(({ type }) => functionsOf(type).length > 0), ...many];
  const named = [
    ...fields.map(({ name }) => ({ name: graphqlName(name), owner: `field "${name}"` })),
    ...others.map(({ name }) => ({ name: graphqlName(name), owner: `relation "${name}"` })),
  ];
  const functions = called.map(({ name }) => ({
    name: graphqlFunctionsName(name),
    owner: `the functions of "${name}"`,
  }));
  const changes = many.map(({ name }) => ({ name: graphqlChangesName(name), owner: `the changes of "${name}"` }));
  const items = [...new Set(links.flatMap(({ allowed }) => allowed))].map((name) => ({
    name: graphqlItemFilterName(name),
    owner: `items of "${name}"`,
  }));
  const words = filterWords.map((name) => ({ name, owner: 'a word of filters' }));
  return [
    ...[...named, ...functions].map((claim) => ({ space: 'item', ...claim })),
    ...[...named, ...functions, ...items, ...words].map((claim) => ({ space: 'filter', ...claim })),
    ...[...named, ...changes].map((claim) => ({ space: 'input', ...claim })),
  ];
}

/** One complaint for the same things, however many names they share. */
function collisions(claims: readonly Claim[], place: string): readonly Diagnostic[] {
  const keyOf = ({ space, name }: Claim): string => `${space} ${name}`;
  if (isDistinct(claims)) return [];
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
    return [{ code: 'graphql-name', severity: 'error', place, message, hint }];
  });
}

/** Whether no name stands twice in a space. Names of a space are gathered without a text for each. */
function isDistinct(claims: readonly Claim[]): boolean {
  const spaces = new Map<string, Set<string>>();
  for (const { space, name } of claims) {
    const names = spaces.get(space) ?? new Set();
    if (names.has(name)) return false;
    spaces.set(space, names.add(name));
  }
  return true;
}

function listed(owners: readonly string[]): string {
  return `${owners.slice(0, -1).join(', ')} and ${owners.at(-1)}`;
}
