/** Payloads as one role may send them, and fields that it writes without reading them. */
import type { RoleField, RoleInput, RolePayload, RoleWrites } from '../../role-view/role-view.ts';
import type { RuleId, Verdicts } from '../rules.ts';
import {
  type CollectionPair,
  type Finding,
  type Found,
  operationsIn,
  pairs,
  permissionChange,
  type Side,
  when,
} from '../side.ts';
import { compareField } from './compare-fields.ts';

/** Compares what can be created and updated on both sides. */
export function compareInputs(pair: CollectionPair): readonly Found[] {
  const { was, is } = pair;
  return [
    ...comparePayloads(pair, 'create', was.writes?.create ?? null, is.writes?.create ?? null),
    ...comparePayloads(pair, 'update', was.writes?.update ?? null, is.writes?.update ?? null),
    ...compareKeys(pair, was.writes, is.writes),
  ];
}

type Action = 'create' | 'update';

function comparePayloads(
  pair: CollectionPair,
  action: Action,
  was: RolePayload | null,
  is: RolePayload | null,
): readonly Found[] {
  if (was === null || is === null) return [];
  const { before, after, renamed } = pair;
  const operations = operationsIn(before, pair.was.name, action);
  // Where the item can be given in place of its key, GraphQL asks for neither.
  const holders = new Set(is.nestedWrites.flatMap((nested) => (nested.kind === 'one' ? nested.holders : [])));
  const fields = pairs(was.fields, is.fields, renamed).flatMap((inputs): readonly Found[] => {
    const subject = `${pair.is.name}.${inputs.name}`;
    if (inputs.was === undefined) {
      return inputs.is === undefined
        ? []
        : added(pair, action, inputs.is, isRequired(inputs.is, is), subject, operations);
    }
    if (inputs.is === undefined) return [removed(pair, action, inputs.was, subject, operations)];
    return [
      ...compareNeed(action, inputs.is.name, isRequired(inputs.was, was), isRequired(inputs.is, is), holders),
      ...compareInput(action, inputs.was, inputs.is),
    ].map((found) => ({ subject, operations, ...found }));
  });
  const nestedWrites = pairs(was.nestedWrites, is.nestedWrites, renamed).flatMap(
    ({ name, was: old, is: fresh }): readonly Found[] => {
      if (old && fresh) return [];
      const message = `Items under "${name}" can ${old ? 'no longer ' : ''}be written by a payload (${action}).`;
      return [
        {
          rule: old ? 'nested-write-removed' : 'nested-write-added',
          subject: `${pair.is.name}.${name}`,
          message,
          operations,
          ...permissionChange(after, old ? 'narrowing' : 'widening'),
        },
      ];
    },
  );
  return [...fields, ...nestedWrites];
}

function added(
  pair: CollectionPair,
  action: Action,
  is: RoleInput,
  required: boolean,
  subject: string,
  operations: readonly string[],
): readonly Found[] {
  const existed = hasColumn(pair.before, pair.was.name, is.name);
  const message = existed ? `"${is.name}" can be written (${action}).` : `Payloads can have "${is.name}" (${action}).`;
  const rule = existed ? 'input-granted' : 'input-added';
  const found: Found = { rule, subject, message, operations, ...permissionChange(pair.after, 'widening') };
  if (!required) return [found];
  return [
    found,
    { rule: 'input-now-required', subject, message: `"${is.name}" must be given (${action}).`, operations },
  ];
}

function removed(
  pair: CollectionPair,
  action: Action,
  was: RoleInput,
  subject: string,
  operations: readonly string[],
): Found {
  const stays = hasColumn(pair.after, pair.is.name, pair.renamed.get(was.name) ?? was.name);
  const message = `"${was.name}" can no longer be written (${action}).`;
  const rule = stays && !pair.after.access.admin ? 'input-revoked' : 'input-removed';
  return { rule, subject, message, operations, ...permissionChange(pair.after, 'narrowing') };
}

function hasColumn({ version }: Side, collection: string, name: string): boolean {
  return version.collections.get(collection)?.fields.some(({ descriptor }) => descriptor.name === name) === true;
}

function isRequired({ name }: RoleInput, { required }: RolePayload): boolean {
  return required.includes(name);
}

function compareNeed(
  action: Action,
  name: string,
  was: boolean,
  is: boolean,
  holders: ReadonlySet<string>,
): readonly Finding[] {
  const verdicts = { rest: 'breaking', openapi: 'breaking', client: 'breaking' } as const;
  const message = `"${name}" must be given (${action}).`;
  return [
    ...when(was && !is, 'input-now-optional', `"${name}" need not be given (${action}).`),
    ...when(!was && is, 'input-now-required', message, holders.has(name) ? verdicts : undefined),
  ];
}

function compareInput(action: Action, was: RoleInput, is: RoleInput): readonly Finding[] {
  const { name } = is;
  const isNested = is.member !== null;
  const isOther = (was.member !== null) !== isNested;
  const nested = `An item under "${name}" can ${isNested ? '' : 'no longer '}be written by a payload (${action}).`;
  return [
    ...when(!was.nullable && is.nullable, 'input-nullable', `"${name}" can be set to null (${action}).`),
    ...when(was.nullable && !is.nullable, 'input-not-null', `"${name}" cannot be set to null (${action}).`),
    ...when(isOther, isNested ? 'nested-write-added' : 'nested-write-removed', nested),
  ];
}

function compareKeys(
  { before, was: { name: old }, is: { name }, renamed }: CollectionPair,
  was: RoleWrites | null,
  is: RoleWrites | null,
): readonly Found[] {
  if (!was?.upsert && !is?.upsert) return [];
  const text = (key: readonly string[]): string => key.join(', ');
  const had = (was?.upsert?.keys ?? []).map((key) => key.map((part) => renamed.get(part) ?? part));
  const has = is?.upsert?.keys ?? [];
  const found = (rule: RuleId, message: string): Found => {
    return { rule, subject: name, message, operations: operationsIn(before, old, 'create') };
  };
  const sameIn = (keys: readonly (readonly string[])[], key: readonly string[]): readonly string[] | undefined =>
    keys.find((other) => text(other.toSorted()) === text(key.toSorted()));
  return [
    ...had
      .filter((key) => sameIn(has, key) === undefined)
      .map((key) => found('upsert-key-removed', `Items of "${name}" cannot be written by (${text(key)}) any more.`)),
    ...has.flatMap((key): readonly Found[] => {
      const earlier = sameIn(had, key);
      if (earlier === undefined)
        return [found('upsert-key-added', `Items of "${name}" can be written by (${text(key)}).`)];
      const message = `Items of "${name}" are written by (${text(key)}), not (${text(earlier)}).`;
      return text(earlier) === text(key) ? [] : [found('upsert-key-reordered', message)];
    }),
  ];
}

/** Compares fields that can be written on both sides and read on one at most; others are compared as readable. */
export function compareUnread(pair: CollectionPair): readonly Found[] {
  const { before, was, is, renamed } = pair;
  return pairs(writtenIn(was.writes), writtenIn(is.writes), renamed).flatMap((inputs): readonly Found[] => {
    if (inputs.was === undefined || inputs.is === undefined) return [];
    if (isRead(was.fields, inputs.was.name) && isRead(is.fields, inputs.is.name)) return [];
    const actions = (['create', 'update'] as const).filter((action) => hasInput(was.writes, action, inputs.was?.name));
    const operations = actions.flatMap((action) => operationsIn(before, was.name, action));
    const subject = `${is.name}.${inputs.name}`;
    return compareField(pair, unread(inputs.was), unread(inputs.is)).flatMap((found) =>
      asWritten(found, actions.includes('create')).map((found) => ({ subject, operations, ...found })),
    );
  });
}

/** A field that both actions take is looked at once. */
function writtenIn(writes: RoleWrites | null): readonly RoleInput[] {
  const all = [...(writes?.create?.fields ?? []), ...(writes?.update?.fields ?? [])];
  return [...new Map(all.map((field) => [field.name, field])).values()];
}

function hasInput(writes: RoleWrites | null, action: 'create' | 'update', name: string | undefined): boolean {
  return writes?.[action]?.fields.some((field) => field.name === name) === true;
}

function isRead(fields: readonly RoleField[], name: string): boolean {
  return fields.some((field) => field.name === name);
}

/** Nullability is reported for each action. */
function unread(input: RoleInput): RoleField {
  return { ...input, nullable: false, itemNullable: null, items: [], filtered: null };
}

/** Applies a rule about responses to payloads. */
function asWritten(found: Finding, isCreated: boolean): readonly Finding[] {
  const { rule } = found;
  if (widening.has(rule)) return [{ rule: 'input-widened', message: found.message }];
  if (rule === 'values-reordered') return [{ ...found, verdicts: documented }];
  if (rule === 'collation-changed') return [];
  return rule === 'default-changed' && !isCreated ? [] : [found];
}

const widening: ReadonlySet<RuleId> = new Set(['values-added', 'values-unlisted', 'length-raised', 'precision-raised']);

const documented: Verdicts = { openapi: 'safe', client: 'safe' };

/** Fields that are needed now, or not given any more. One that could be given by a payload is told as revoked. */
export function compareNeeds({ before, after, was, is, renamed }: CollectionPair): readonly Found[] {
  if (!was.writes?.create || !is.writes?.create) return [];
  const lacked = new Set(lackingIn(before, was.name).map((name) => renamed.get(name) ?? name));
  const settable = new Set(was.writes.create.fields.map(({ name }) => renamed.get(name) ?? name));
  const operations = operationsIn(before, was.name, 'create');
  return lackingIn(after, is.name).flatMap((name): readonly Found[] =>
    lacked.has(name) || settable.has(name)
      ? []
      : [
          {
            rule: 'input-now-required',
            subject: `${is.name}.${name}`,
            message: hasColumn(after, is.name, name)
              ? `"${name}" must be given, and no rule gives it or lets it be given (create).`
              : `"${name}" must be given (create).`,
            operations,
            // No document tells of what the role cannot say.
            verdicts: { rest: 'breaking' },
          },
        ],
  );
}

/** Fields that no rule sets, and relations over several columns that payloads must give. */
function lackingIn({ version, access }: Side, collection: string): readonly string[] {
  const api = version.collections.get(collection);
  const rules = access.collections.find((granted) => granted.collection === collection)?.create ?? [];
  if (api === undefined || access.admin) return [];
  const settable = new Set(rules.flatMap(({ fields, presets }) => [...fields, ...presets.map(({ field }) => field)]));
  // A many-to-one of several columns fills them.
  const linked = (version.resolved.get(collection)?.relations ?? []).filter(({ name }) => settable.has(name));
  const holders = new Map(
    linked.flatMap((relation) =>
      relation.kind === 'm2o' ? relation.on.map(({ from }) => [from, relation.name] as const) : [],
    ),
  );
  const lacking = api.fields
    .filter(({ descriptor, required }) => required || descriptor.required === true)
    .filter(({ descriptor }) => !settable.has(descriptor.name))
    .map(({ descriptor, stored }) => holders.get(stored.name) ?? descriptor.name);
  return [...new Set(lacking)];
}
