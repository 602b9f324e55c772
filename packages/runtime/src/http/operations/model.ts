/** The model as it was compiled, and its changes. Source: API specification, section 12. */
import { PlatformError } from '../../errors.ts';
import { isObject } from '../../language/conditions/filter-syntax.ts';
import type { CompiledApi, JsonValue, ModelDocument } from '../../language/index.ts';
import type { modelChangeResource, modelResource } from '../../language/operations/index.ts';
import { allChanges, type ModelChange } from '../../model/change.ts';
import { entryOf, exists } from '../../model/find.ts';
import type { ChangeModel, KeptOnce, PlanChange } from '../../model/model-changer.ts';
import { readList } from '../../model/payload.ts';
import { createCollection, deleteCollection, namedCollection, updateCollection } from '../../model/plan-collections.ts';
import { createField, deleteField, namedField, updateField } from '../../model/plan-fields.ts';
import { createRelation, deleteRelation, updateRelation } from '../../model/plan-relations.ts';
import type { KeepIn, Writer } from '../../write/writer.ts';
import { done, type Implementations, type OperationContext } from './bind.ts';
import { answerOf, onceOf, runOnce } from './once.ts';

/** Makes the function that gives the names of collections; a prefix other than `platform_` may stand for it. */
function createNameOf(aliasPrefix: string | null): (text: string) => string {
  return (text) =>
    aliasPrefix !== null && text.startsWith(aliasPrefix) ? `platform_${text.slice(aliasPrefix.length)}` : text;
}

/** Reads. Hidden names answer as names that do not exist. */
export function modelOperations(
  api: Pick<CompiledApi, 'model'>,
  aliasPrefix: string | null,
): Implementations<typeof modelResource> {
  const nameOf = createNameOf(aliasPrefix);
  async function find({ caller }: OperationContext, pick: (model: ModelDocument) => unknown) {
    const found = pick(await api.model(caller.accessClass));
    if (found === undefined) throw new PlatformError('FORBIDDEN');
    return { value: bytesOf(found) };
  }
  return {
    modelCollections: (_, context) => find(context, ({ collections }) => collections),
    modelCollection: ({ name }, context) =>
      find(context, ({ collections }) => entryOf(collections, { collection: nameOf(name), field: null })),
    modelFields: (_, context) => find(context, ({ fields }) => fields),
    modelFieldsBelow: ({ collection }, context) =>
      find(context, ({ collections, fields }) => belowOf(collections, fields, nameOf(collection))),
    modelFieldsOne: ({ collection, field }, context) =>
      find(context, ({ fields }) => entryOf(fields, { collection: nameOf(collection), field })),
    modelRelations: (_, context) => find(context, ({ relations }) => relations),
    modelRelationsBelow: ({ collection }, context) =>
      find(context, ({ collections, relations }) => belowOf(collections, relations, nameOf(collection))),
    modelRelationsOne: ({ collection, field }, context) =>
      find(context, ({ relations }) => entryOf(relations, { collection: nameOf(collection), field })),
  };
}

/** Changes. `changeModel` rejects where the model stays as it was compiled. */
export function modelChangeOperations(
  changeModel: ChangeModel,
  writer: Pick<Writer, 'once' | 'keepIn'>,
  aliasPrefix: string | null,
): Implementations<typeof modelChangeResource> {
  const nameOf = createNameOf(aliasPrefix);

  const change = createChange(changeModel, writer);

  async function drop(context: OperationContext, plan: PlanChange, discard = false) {
    await change(context, null, plan, discard);
    return done;
  }
  return {
    modelCollectionsCreate: ({ body }, context) =>
      change(context, body, (model) => each('create collections', (element) => createCollection(model, element), body)),
    modelCollectionsManyUpdate: ({ body }, context) =>
      change(context, body, (model) => {
        const list = readList(body, 'The body');
        const changes = list.map((element) => updateCollection(model, namedCollection(element), element));
        return allChanges('describe collections', changes);
      }),
    modelCollectionsUpdate: ({ name, body }, context) =>
      change(context, body, (model) => updateCollection(model, nameOf(name), body)),
    modelCollectionsDelete: ({ name, discard }, context) =>
      drop(context, (model) => deleteCollection(model, nameOf(name)), discard),
    modelFieldsCreate({ collection, body }, context) {
      const name = nameOf(collection);
      return change(context, body, (model) => {
        mustDiffer(body);
        return each(`add fields to ${name}`, (element) => createField(model, name, element), body);
      });
    },
    modelFieldsManyUpdate({ collection, discard, body }, context) {
      const name = nameOf(collection);
      const plan: PlanChange = (model) => {
        const list = readList(body, 'The body');
        const changes = list.map((element) => updateField(model, name, namedField(element), element));
        return allChanges(`change fields of ${name}`, changes);
      };
      return change(context, body, plan, discard);
    },
    modelFieldsUpdate: ({ collection, field, discard, body }, context) =>
      change(context, body, (model) => updateField(model, nameOf(collection), field, body), discard),
    modelFieldsDelete: ({ collection, field, discard }, context) =>
      drop(context, (model) => deleteField(model, nameOf(collection), field), discard),
    modelRelationsCreate: ({ body }, context) =>
      change(context, body, (model) => each('create relations', (element) => createRelation(model, element), body)),
    modelRelationsUpdate: ({ collection, field, body }, context) =>
      change(context, body, (model) => updateRelation(model, nameOf(collection), field, body)),
    modelRelationsDelete: ({ collection, field }, context) =>
      drop(context, (model) => deleteRelation(model, nameOf(collection), field)),
  };
}

/** Makes what makes a change, once under the key of its request; an error is kept as answers of writes are. */
function createChange(changeModel: ChangeModel, writer: Pick<Writer, 'once' | 'keepIn'>) {
  return async function change(context: OperationContext, body: JsonValue, plan: PlanChange, discard = false) {
    const { caller, sender } = context;
    const once = onceOf(context, body);
    const keep = writer.keepIn(once.request, once.payload);
    try {
      const origin = { user: caller.user, ...sender };
      return { value: bytesOf(await changeModel(plan, discard, origin, keep && keptOnce(keep))) };
    } catch (error) {
      if (keep === undefined) throw error;
      return { value: (await runOnce(writer, once, () => Promise.reject(error))) ?? bytesOf(null) };
    }
  };
}

function bytesOf(data: unknown): Buffer {
  return Buffer.from(JSON.stringify({ data }));
}

/** Answers of changes as they are kept: whole bodies. */
function keptOnce({ claim, keep }: KeepIn): KeptOnce {
  return {
    async claim(transaction) {
      const kept = await claim(transaction);
      const body = kept && answerOf(kept);
      return kept && { answer: body === null ? null : JSON.parse(body.toString()).data };
    },
    keep: (transaction, response) => keep(transaction, { status: 200, body: bytesOf(response) }),
  };
}

/** One object, or a list of them. */
function each(title: string, plan: (body: JsonValue) => ModelChange, body: JsonValue): ModelChange {
  return Array.isArray(body) ? allChanges(title, readList(body, 'The body').map(plan)) : plan(body);
}

/** Refuses a list of fields of which two have one name. */
function mustDiffer(body: JsonValue): void {
  const names = Array.isArray(body) ? body.map((element) => (isObject(element) ? element.field : undefined)) : [];
  const twice = names.find((name, index) => typeof name === 'string' && names.indexOf(name) !== index);
  if (typeof twice === 'string') throw exists('field', twice);
}

/** Objects of a collection; may be empty. */
function belowOf<Entry extends { readonly collection: string }>(
  collections: ModelDocument['collections'],
  entries: readonly Entry[],
  name: string,
): readonly Entry[] | undefined {
  const exists = collections.some(({ collection }) => collection === name);
  return exists ? entries.filter(({ collection }) => collection === name) : undefined;
}
