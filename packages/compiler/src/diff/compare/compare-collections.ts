/** Collections as one role sees them. */
import { type CollectionDescriptor, printTable } from '@tablewright/runtime/language';
import { isSame } from '../../cache/same.ts';
import type { RoleCollection } from '../../role-view/role-view.ts';
import type { RenameIndex } from '../renames.ts';
import { everywhere, type Verdicts } from '../rules.ts';
import {
  type CollectionPair,
  type Concern,
  deprecationChange,
  type Finding,
  type Found,
  offers,
  operationsIn,
  pairs,
  permissionChange,
  quoted,
  type Side,
  when,
} from '../side.ts';
import { compareFields } from './compare-fields.ts';
import { compareRelations, renamedRelations } from './compare-relations.ts';
import { compareInputs, compareNeeds, compareUnread } from './compare-writes.ts';

/** Compares everything that a role sees. */
export function compareCollections(before: Side, after: Side, renames: RenameIndex): readonly Found[] {
  const sides = pairs([...before.collections.values()], [...after.collections.values()], renames.collections);
  return sides.flatMap(({ was, is }): readonly Found[] => {
    if (was === undefined) return is === undefined ? [] : [appeared(is, before, after)];
    if (is === undefined) return [disappeared(was, before, after, renames)];
    const { members } = renames;
    const pair = { before, after, was, is, renames, renamed: members.get(is.name) ?? new Map<string, string>() };
    // A collection can look the same although a rule no longer sets a value that no other rule sets.
    const needs = compareNeeds(pair);
    if (isUnchanged(was, is, before, after) && !members.has(is.name)) return needs;
    return [...comparePair({ ...pair, renamed: new Map([...pair.renamed, ...renamedRelations(pair)]) }), ...needs];
  });
}

/** Descriptions that say the same are one object in both versions. */
function isUnchanged(was: RoleCollection, is: RoleCollection, before: Side, after: Side): boolean {
  const [old, fresh] = [before.version, after.version];
  const isSameApi = old.collections.get(was.name) === fresh.collections.get(is.name);
  const isSameTable = isSame(old.tables.get(was.name), fresh.tables.get(is.name));
  return was === is && isSameApi && isSameTable && old.api.graphql === fresh.api.graphql;
}

function appeared(is: RoleCollection, before: Side, after: Side): Found {
  const existed = before.version.collections.has(is.name);
  return {
    rule: existed ? 'collection-shown' : 'collection-added',
    subject: is.name,
    message: existed ? `The collection "${is.name}" is shown.` : `The collection "${is.name}" is new.`,
    operations: operationsIn(after, is.name, 'all'),
    ...permissionChange(after, 'widening'),
  };
}

function disappeared(was: RoleCollection, before: Side, after: Side, renames: RenameIndex): Found {
  const stays = after.version.collections.has(renames.collections.get(was.name) ?? was.name);
  return {
    rule: stays ? 'collection-hidden' : 'collection-removed',
    subject: was.name,
    message: stays ? `The collection "${was.name}" is hidden.` : `The collection "${was.name}" is gone.`,
    operations: operationsIn(before, was.name, 'all'),
    ...permissionChange(after, 'narrowing'),
  };
}

const concerns = ['read', 'create', 'update', 'delete'] as const;

function comparePair(pair: CollectionPair): readonly Found[] {
  const { before, after, was, is, renamed } = pair;
  const subject = is.name;
  const all = operationsIn(before, was.name, 'all');
  const complete = (found: Finding): Found => ({ subject, operations: all, ...found });
  if (was.singleton !== is.singleton) {
    const message = `"${is.name}" is ${is.singleton ? 'one object' : 'a list'} now.`;
    return when(true, is.singleton ? 'singleton-begun' : 'singleton-ended', message).map(complete);
  }
  const key = keyOf(is).join(', ');
  const keyBefore = keyOf(was)
    .map((name) => renamed.get(name) ?? name)
    .join(', ');
  const current = after.version.collections.get(is.name)?.descriptor;
  const old = before.version.collections.get(was.name)?.descriptor;
  const kept = `Changes of "${is.name}" keep: ${current?.accountability ?? 'everything'}.`;
  const changes: readonly Finding[] = [
    ...when(was.name !== is.name, 'collection-renamed', `"${was.name}" is "${is.name}" now.`),
    ...tableChange(pair),
    ...when(was.note !== is.note, 'collection-note', `The note of "${is.name}" has changed.`),
    ...deprecationChange('collection', was, is),
    ...keyChange(key, keyBefore, current, old),
    ...(renameOf(old?.sort, renamed) === current?.sort ? [] : sortChange(is.name, current?.sort)),
    ...archiveChanges(pair),
    ...when(old?.accountability !== current?.accountability, 'accountability-changed', kept),
  ];
  return [
    ...changes.map(complete),
    ...concerns.flatMap((concern) => compareConcern(pair, concern)),
    ...(was.readable && is.readable ? [...readChanges(pair), ...compareFields(pair), ...compareRelations(pair)] : []),
    ...compareInputs(pair),
    ...compareUnread(pair),
  ];
}

/** Another table under the same name, and not the same table under another one. */
function tableChange({ before, after, was, is, renames }: CollectionPair): readonly Finding[] {
  const [old, fresh] = [before.version.resolved.get(was.name)?.table, after.version.resolved.get(is.name)?.table];
  if (old === undefined || fresh === undefined || was.name !== is.name) return [];
  const { dialect } = after.version.schema;
  const message = `"${is.name}" shows ${printTable(dialect, fresh)}, it showed ${printTable(dialect, old)}.`;
  return when((renames.stored.tables.get(old) ?? old) !== fresh, 'collection-source-changed', message);
}

/** Words that are found, and answers that caches keep: those to requests without a token. */
function readChanges({ before, after, was, is, renamed }: CollectionPair): readonly Found[] {
  const old = before.version.collections.get(was.name)?.descriptor;
  const fresh = after.version.collections.get(is.name)?.descriptor;
  const [searched, searches] = [searchText(before, was.name, renamed), searchText(after, is.name)];
  const isPublic = after.access.roles.includes('public');
  const found = [
    ...when(searched !== searches, 'search-changed', `A search of "${is.name}" finds ${searches}.`),
    ...when(isPublic && old?.cache?.public !== fresh?.cache?.public, 'cache-changed', cacheText(is.name, fresh)),
  ];
  const operations = operationsIn(before, was.name, 'read');
  return found.map((change) => ({ subject: is.name, operations, ...change }));
}

/** Words of an index if each rule shows all of its fields, as on the server. */
function searchText({ version, access }: Side, name: string, renamed: ReadonlyMap<string, string> = new Map()): string {
  const search = version.collections.get(name)?.descriptor.search;
  const rules = access.collections.find(({ collection }) => collection === name)?.read ?? [];
  const isOpen = rules.every(({ fields }) => search?.fields.every((field) => fields.includes(field)));
  if (search === undefined || !isOpen) return 'texts that contain it';
  return `words of ${quoted(search.fields.map((field) => renamed.get(field) ?? field).sort())} (${search.language})`;
}

function cacheText(name: string, descriptor: CollectionDescriptor | undefined): string {
  const seconds = descriptor?.cache?.public;
  return seconds === undefined
    ? `Shared caches keep no answers of "${name}".`
    : `Shared caches keep answers of "${name}" for ${seconds} seconds.`;
}

function sortChange(name: string, sort: string | undefined): readonly Finding[] {
  const message = `Lists of "${name}" are sorted by ${sort ?? 'the key'} by default.`;
  // Items are moved by it, where there is one.
  const verdicts = visibilityVerdicts(sort === undefined ? 'breaking' : 'safe', true, true);
  const rest = sort === undefined ? 'breaking' : 'dangerous';
  return when(true, 'default-sort-changed', message, { ...verdicts, rest });
}

/** Ways in which DELETE archives items, and in which apps are advised to. */
function archiveChanges({ before, after, was, is, renamed }: CollectionPair): readonly Finding[] {
  const [old, current] = [before.version.collections.get(was.name), after.version.collections.get(is.name)];
  const named = <T extends { readonly field: string }>(rule: T | null | undefined): T | null =>
    rule ? { ...rule, field: renamed.get(rule.field) ?? rule.field } : null;
  const deleted = current?.descriptor.softDelete;
  const [oldAdvice, advice] = [named(old?.stored.archive), current?.stored.archive ?? null];
  const to = advice?.value == null ? '' : ` to "${advice.value}"`;
  const advised = advice === null ? 'not to archive' : `to set "${advice.field}"${to} to archive`;
  const isReadable = [oldAdvice, advice].some((rule) => is.fields.some(({ name }) => name === rule?.field));
  return [
    ...when(
      !isSame(named(old?.descriptor.softDelete), deleted ?? null),
      'soft-delete-changed',
      `DELETE ${deleted === undefined ? 'removes' : 'archives'} items of "${is.name}".`,
    ),
    ...when(
      isReadable && !isSame(oldAdvice, advice),
      'archive-changed',
      `Apps are advised ${advised} items of "${is.name}".`,
    ),
  ];
}

/** As far as the role sees it, or may write it. */
function keyOf({ key, writes }: RoleCollection): readonly string[] {
  return (key.length > 0 ? key : (writes?.key ?? [])).map(({ name }) => name);
}

/** A hidden or shown field of the same key is reported; without a key on one side, its uses are. */
function keyChange(
  is: string,
  was: string,
  current: CollectionDescriptor | undefined,
  old: CollectionDescriptor | undefined,
): readonly Finding[] {
  const names = current?.name ?? '';
  if (is === was) return [];
  if (is !== '' && was !== '') return when(true, 'key-changed', `The key of "${names}" is (${is}), it was (${was}).`);
  if (!current?.key.length || !old?.key.length || isSame(current.key, old.key)) return [];
  return is === ''
    ? when(true, 'key-hidden', `The key of "${names}" cannot be read, it was (${was}).`)
    : when(true, 'operation-added', `Items of "${names}" can be named by (${is}).`);
}

function renameOf(name: string | undefined, renamed: ReadonlyMap<string, string>): string | undefined {
  return name === undefined ? undefined : (renamed.get(name) ?? name);
}

/** Reading, creating … as a whole. */
function compareConcern(
  { before, after, was, is }: CollectionPair,
  concern: Exclude<Concern, 'all'>,
): readonly Found[] {
  const [had, has] = [offers(was, concern), offers(is, concern)];
  const [old, fresh] = [operationsIn(before, was.name, concern), operationsIn(after, is.name, concern)];
  if (had && !has) return [gone(is.name, concern, old, after)];
  if (!had && has) return [granted(is.name, concern, fresh, after, answered(was.writes))];
  // A collection with another name has others for all of them, which is told once.
  const isRenamed = was.name !== is.name && old.length === fresh.length;
  if (isRenamed || before.version.api.graphql !== after.version.api.graphql) return [];
  const lost = old.filter((operation) => !fresh.includes(operation));
  const won = fresh.filter((operation) => !old.includes(operation));
  return [
    ...operationsChange('operation-removed', is.name, `${quoted(lost)} is gone.`, lost, 'breaking'),
    ...operationsChange('operation-added', is.name, `${quoted(won)} is new.`, won, 'safe'),
  ];
}

function operationsChange(
  rule: Found['rule'],
  subject: string,
  message: string,
  operations: readonly string[],
  severity: 'breaking' | 'safe',
): readonly Found[] {
  if (operations.length === 0) return [];
  const isRest = operations.some((operation) => operation.includes('/'));
  const isGraphql = operations.some((operation) => /^(?:query|mutation) /.test(operation));
  return [{ rule, subject, message, operations, verdicts: visibilityVerdicts(severity, isRest, isGraphql) }];
}

function visibilityVerdicts(severity: 'breaking' | 'safe', rest: boolean, graphql: boolean): Verdicts {
  return {
    ...(rest && { rest: severity, openapi: severity, client: severity }),
    ...(graphql && { graphql: severity }),
  };
}

function gone(name: string, concern: string, operations: readonly string[], after: Side): Found {
  return {
    rule: after.access.admin ? 'operation-removed' : 'action-revoked',
    subject: name,
    message: `Items of "${name}" can no longer be ${participles[concern]}.`,
    operations,
    verdicts: everywhere('breaking'),
    ...permissionChange(after, 'narrowing'),
  };
}

/** Mutations that answered whether they were done answer items once these can be read. */
function answered(writes: RoleCollection['writes']): boolean {
  return writes?.create != null || writes?.update != null;
}

function granted(name: string, concern: string, operations: readonly string[], after: Side, answered: boolean): Found {
  const isGranted = concern === 'read' && answered;
  return {
    rule: after.access.admin ? 'operation-added' : 'action-granted',
    subject: name,
    message: `Items of "${name}" can be ${participles[concern]}${isGranted ? ', and mutations of GraphQL answer them' : ''}.`,
    operations,
    verdicts: { ...everywhere('safe'), ...(isGranted && { graphql: 'breaking' as const }) },
    ...permissionChange(after, 'widening'),
  };
}

const participles: Readonly<Record<string, string>> = {
  read: 'read',
  create: 'created',
  update: 'updated',
  delete: 'deleted',
};
