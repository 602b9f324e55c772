/** Fields that a role writes and does not read, and those that a new item must have. */
import type { RoleField, RoleInput, RoleWrites } from '../../role-view/role-view.ts';
import type { RuleId } from '../rules.ts';
import type { Verdicts } from '../severity.ts';
import { type CollectionPair, type Found, operationsIn, pairs, type Side } from '../side.ts';
import { compareField, type FieldChange } from './compare-fields.ts';

/**
 * Compares fields that can be written on both sides and read on one at most. Changes of readable fields are reported as
 * such.
 */
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
  return { ...input, nullable: false, items: [], filtered: null };
}

/** Applies a rule about responses to payloads. */
function asWritten(found: FieldChange, isCreated: boolean): readonly FieldChange[] {
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
            message: `"${name}" must be given, and no rule gives it or lets it be given (create).`,
            operations,
            // No document tells of what the role cannot say.
            verdicts: { rest: 'breaking' },
          },
        ],
  );
}

function lackingIn({ version, access }: Side, collection: string): readonly string[] {
  const api = version.collections.get(collection);
  const rules = access.collections.find((granted) => granted.collection === collection)?.create ?? [];
  if (api === undefined || access.admin) return [];
  const settable = new Set(rules.flatMap(({ fields, presets }) => [...fields, ...presets.map(({ field }) => field)]));
  // A many-to-one of several columns fills them.
  const linked = api.descriptor.relations.filter(({ kind, name }) => kind === 'm2o' && settable.has(name));
  const columns = new Set(
    linked.flatMap((relation) => (relation.kind === 'm2o' ? relation.on.map(({ from }) => from) : [])),
  );
  return api.fields
    .filter(({ descriptor, required }) => required || descriptor.required === true)
    .filter(({ descriptor, stored }) => !settable.has(descriptor.name) && !columns.has(stored.name))
    .map(({ descriptor }) => descriptor.name);
}
