/** Reach of rules: paths through hidden fields, the platform's own collections, and collections without any reader. */
import { type SystemCollection, systemCollection } from '@tablewright/runtime/language';
import type { PlacedValue, RuleSource } from '../../config/permissions/permission-document.ts';
import { placeIn } from '../../config/yaml/placed-value.ts';
import type { Diagnostic } from '../../diagnostic.ts';
import { collectionsByName } from '../../passes/lookup.ts';
import type { Collection, Schema } from '../../schema.ts';
import { type NameUse, namesUsed, quotedList, type Rule } from '../rule.ts';

/**
 * A rule may look at what its role cannot read, and works. But the rows that it lets pass reveal something about it.
 * That is easily overlooked where the path leads through relations; rules are made of fields of the row itself.
 */
export const hiddenPaths: Rule = (schema, { permissions }) => {
  const collections = collectionsByName(schema.collections);
  const administrators = new Set(schema.roles.filter(({ admin }) => admin).map(({ name }) => name));
  const readable = readableNames(schema);
  return permissions.rules
    .filter(({ role }) => !administrators.has(role.name))
    .flatMap((rule) => [
      ...problemOf(rule, rule.filter, 'filter', collections, readable),
      ...problemOf(rule, rule.validation, 'validation', collections, readable),
    ]);
};

/** Names that a role can read, by role and collection. */
type Readable = (role: string, collection: string) => ReadonlySet<string> | undefined;

function readableNames({ permissions }: Schema): Readable {
  const reads = permissions.filter(({ action, fields }) => action === 'read' && fields.length > 0);
  const groups = Map.groupBy(reads, ({ role, collection }) => JSON.stringify([role, collection]));
  const names = new Map([...groups].map(([key, rules]) => [key, new Set(rules.flatMap(({ fields }) => fields))]));
  return (role, collection) => names.get(JSON.stringify([role, collection]));
}

function problemOf(
  { role, collection }: RuleSource,
  source: PlacedValue | null,
  part: 'filter' | 'validation',
  collections: ReadonlyMap<string, Collection>,
  readable: Readable,
): readonly Diagnostic[] {
  if (source === null) return [];
  const uses = namesUsed(source.value, collection.name, collections);
  const hidden = uses.find((use) => use.depth > 0 && !readable(role.name, use.collection)?.has(use.name));
  return hidden === undefined ? [] : [describe(hidden, role.name, source, part)];
}

function describe(
  { collection, name, path }: NameUse,
  role: string,
  source: PlacedValue,
  part: 'filter' | 'validation',
): Diagnostic {
  const effect = part === 'filter' ? 'which rows match' : 'what is refused';
  return {
    code: 'hidden-path',
    severity: 'info',
    place: placeIn(source, path),
    message: `The ${part} looks at "${name}" of "${collection}", which "${role}" cannot read. The rule works, but ${effect} tells something about it.`,
    hint: null,
  };
}

/** A collection that no rule names is private to administrators. */
export const privateCollections: Rule = (schema, { permissions: { fileName } }) => {
  const ruled = new Set(schema.permissions.map(({ collection }) => collection));
  const ordinary = schema.collections.filter(({ system }) => system === undefined);
  const names = ordinary.map(({ name }) => name).filter((name) => !ruled.has(name));
  if (names.length === 0) return [];
  const subject = names.length === ordinary.length ? 'Every collection' : quotedList(names);
  const verb = names.length > 1 && subject !== 'Every collection' ? 'are' : 'is';
  return [
    {
      code: 'private',
      severity: 'info',
      place: fileName,
      message: `${subject} ${verb} private to administrators: no rule names ${verb === 'are' ? 'them' : 'it'}.`,
      hint: null,
    },
  ];
};

/** Rules about the platform's own collections grant only what they may: the rest is for administrators. */
export const systemRules: Rule = (schema, { permissions }) => {
  const collections = collectionsByName(schema.collections);
  return permissions.rules.flatMap((rule) => {
    const collection = collections.get(rule.collection.name);
    const system = collection?.system === undefined ? undefined : systemCollection(collection.name);
    if (collection === undefined || system === undefined) return [];
    return system.granted.includes(rule.action) ? fieldProblems(rule, collection, system) : [actionProblem(rule)];
  });
};

function actionProblem({ action, collection, place: location }: RuleSource): Diagnostic {
  return {
    code: 'system-rule',
    severity: 'error',
    place: location,
    message: `No rule can grant to ${action} "${collection.name}": that is for administrators.`,
    hint: 'Remove it.',
  };
}

function fieldProblems(
  { action, fields }: RuleSource,
  collection: Collection,
  { administrators = [], fixed = [] }: SystemCollection,
): readonly Diagnostic[] {
  if (action === 'read') return [];
  const completed = collection.fields.filter(({ serverOwned }) => serverOwned).map(({ name }) => name);
  return (fields ?? []).flatMap(({ name, place: location }): Diagnostic[] => {
    const reason = completed.includes(name)
      ? 'the server fills it'
      : administrators.includes(name)
        ? 'administrators do'
        : action === 'update' && fixed.includes(name) && 'it stays as it was made';
    if (reason === false) return [];
    const message = `No rule can grant to write "${name}" of "${collection.name}": ${reason}.`;
    return [{ code: 'system-rule', severity: 'error', place: location, message, hint: 'Leave it out.' }];
  });
}
