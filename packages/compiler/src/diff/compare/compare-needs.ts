/** Fields that a new item must have and that the role may no longer set: it cannot create items any more. */
import type { CollectionPair } from '../pair.ts';
import { type Found, operationsIn, type Side } from '../side.ts';

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
