/**
 * Api and access class → the API as the class has it. It is one view for the OpenAPI document, the GraphQL schema, the
 * client, the model endpoints and comparisons. They print what it holds, so a hidden name has no way into them.
 */
import type {
  AccessClass,
  ArgumentDescriptor,
  FunctionResult,
  RelationDescriptor,
} from '@tablewright/runtime/language';
import type { Api, ApiCollection, ApiField, ApiRelation } from '../api.ts';
import { createCache, type Lookup, type Watch } from '../cache/memo-cache.ts';
import { createInterning } from '../cache/same.ts';
import type { DocumentNames } from './names.ts';
import type { NoteReader } from './notes.ts';
import type { RoleCollection, RoleField, RoleFunction, RoleRelation, RoleView } from './role-view.ts';
import { isMasked, isPartial, reasonOf, type VisibleApi, type VisibleCollection, visibleApiOf } from './visible-api.ts';
import { visibleValues, writesOf } from './writes.ts';

/** Readable part of the API for an access class; with null, everything. */
export function roleViewOf(api: Api, access: AccessClass | null): RoleView {
  const visibleApi = visibleApiOf(api, access);
  const notes: Lookup<string | null> = { get: visibleApi.note, has: () => true };
  const hooked: Lookup<string> = new Map((api.hooked ?? []).map((name) => [name, name]));
  const collections = api.collections.flatMap(({ descriptor: { name } }): readonly RoleCollection[] => {
    const key = visibleApi.visible.get(name) ?? visibleApi.writes.get(name);
    if (key === undefined) return [];
    const create = (watch: Watch) => collectionOf(name, watchedApi(visibleApi, notes, watch), watch(hooked).has(name));
    return [
      rememberCollection(
        key,
        [visibleApi.visible, visibleApi.links, visibleApi.allLinks, visibleApi.writes, notes, hooked],
        create,
      ),
    ];
  });
  return {
    anonymous: access?.roles.includes('public') ?? false,
    administrator: access === null || access.admin,
    note: visibleApi.note,
    collections,
    functions: roleFunctions(api, access, collections, visibleApi.note),
  };
}

const rememberCollection = createCache<RoleCollection>();

function watchedApi(visibleApi: VisibleApi, notes: Lookup<string | null>, watch: Watch): VisibleApi {
  const read = watch(notes);
  return {
    visible: watch(visibleApi.visible),
    links: watch(visibleApi.links),
    allLinks: watch(visibleApi.allLinks),
    writes: watch(visibleApi.writes),
    note: (text) => (text === null ? null : (read.get(text) ?? null)),
  };
}

function collectionOf(name: string, visibleApi: VisibleApi, hooked: boolean): RoleCollection {
  const granted = visibleApi.visible.get(name);
  if (granted !== undefined)
    return internCollection(granted.api, { ...readableCollection(granted, visibleApi), hooked });
  const written = visibleApi.writes.get(name);
  if (written === undefined) throw new Error(`Nothing is seen of ${name}.`);
  return internCollection(written.granted.api, {
    ...writeOnlyCollection(written.granted.api, written.names, visibleApi),
    hooked,
  });
}

/** Classes that see the same of a collection have one view of it, so what is printed of it is printed once. */
const internCollection = createInterning<RoleCollection>();

function writeOnlyCollection(
  api: ApiCollection,
  names: DocumentNames,
  visibleApi: VisibleApi,
): Omit<RoleCollection, 'hooked'> {
  return {
    name: api.descriptor.name,
    readable: false,
    singleton: api.descriptor.singleton,
    archived: false,
    writes: writesOf(api, visibleApi, new Set()),
    names,
    note: visibleApi.note(api.note),
    deprecated: reasonOf(api, visibleApi),
    operations: new Set(api.operations.map(({ kind }) => kind)),
    key: [],
    fields: [],
    relations: [],
  };
}

function readableCollection(collection: VisibleCollection, visibleApi: VisibleApi): Omit<RoleCollection, 'hooked'> {
  const { api, readable } = collection;
  const { name, key } = api.descriptor;
  const shown = api.fields.filter(({ descriptor }) => readable.has(descriptor.name));
  const fields = shown.map((field) => fieldOf(field, collection, visibleApi));
  const inOrder = key.flatMap((part) => fields.filter((field) => field.name === part));
  return {
    name,
    readable: true,
    singleton: api.descriptor.singleton,
    archived: readable.has(api.descriptor.softDelete?.field ?? ''),
    writes: writesOf(api, visibleApi, readable),
    names: collection.names,
    note: visibleApi.note(api.note),
    deprecated: reasonOf(api, visibleApi),
    operations: new Set(api.operations.map(({ kind }) => kind)),
    key: inOrder.length === key.length ? inOrder : [],
    fields,
    relations: relationsOf(collection, visibleApi),
  };
}

/** The relations of a collection without a field of their name whose items are read. */
export function relationsOf(collection: VisibleCollection, visibleApi: VisibleApi): readonly RoleRelation[] {
  const { fields, relations } = collection.api.descriptor;
  const fieldNames = new Set(fields.map(({ name }) => name));
  return relations
    .filter(({ name }) => collection.readable.has(name) && !fieldNames.has(name))
    .flatMap((relation) => relationOf(relation, collection, visibleApi));
}

function fieldOf(field: ApiField, collection: VisibleCollection, visibleApi: VisibleApi): RoleField {
  const { descriptor, note } = field;
  const { name, nullable } = descriptor;
  const relation = collection.api.relations.find((candidate) => isManyToOneOf(candidate, name));
  const target = (relation && visibleApi.visible.get(relation.descriptor.target)) ?? null;
  const items = target === null ? linkedItems(name, collection, visibleApi) : [target];
  // The target of a link can be missing, or of a hidden collection.
  const linked = target === null && items.length > 0;
  // Before its first write a singleton reads as its defaults.
  const isEmpty = nullable || collection.api.descriptor.singleton || isMasked(collection, name);
  const isNull = isEmpty || linked || items.some(isPartial);
  return {
    name,
    note: visibleApi.note(note),
    deprecated: reasonOf(field, visibleApi),
    descriptor,
    ...visibleValues(field, collection.api, visibleApi),
    nullable: isNull,
    itemNullable: target === null ? null : isNull || relation?.dangling === true,
    items: items.map(({ names }) => names),
    filtered: target?.names ?? null,
  };
}

function isManyToOneOf({ descriptor }: ApiRelation, field: string): boolean {
  return descriptor.kind === 'm2o' && descriptor.field === field;
}

/** The visible collections whose items a field of a link collection holds. */
function linkedItems(
  field: string,
  { api }: VisibleCollection,
  { links, visible }: VisibleApi,
): readonly VisibleCollection[] {
  const relations = (links.get(api.descriptor.name) ?? []).filter(({ itemField }) => itemField === field);
  const names = new Set(relations.flatMap(({ allowed }) => allowed));
  return [...names].flatMap((name) => visible.get(name) ?? []);
}

function relationOf(
  relation: RelationDescriptor,
  collection: VisibleCollection,
  visibleApi: VisibleApi,
): readonly RoleRelation[] {
  const { visible } = visibleApi;
  const target = visible.get(relation.target);
  if (!target) return [];
  const { key, fields } = target.api.descriptor;
  const stated = collection.api.relations.find(({ descriptor }) => descriptor === relation);
  const optional = relation.kind === 'm2o' && (relation.nullable || isPartial(target));
  const isNull = optional || isMasked(collection, relation.name);
  const allowed = relation.kind === 'm2a' ? relation.allowed : [];
  return [
    {
      name: relation.name,
      deprecated: reasonOf(stated ?? {}, visibleApi),
      kind: relation.kind,
      single: relation.kind === 'o2m' && relation.single === true,
      nullable: isNull,
      itemNullable: relation.kind === 'm2o' ? isNull || stated?.dangling === true : null,
      target: target.names,
      maskedKey: key.some((part) => isMasked(target, part)),
      targetKey: key.flatMap((part) => fields.filter(({ name }) => name === part)),
      linked: allowed.flatMap((name) => {
        const linked = visible.get(name);
        return linked ? [{ collection: name, names: linked.names }] : [];
      }),
    },
  ];
}

/** Functions that a class may call; with null, every function. One that reads items needs a collection that is read. */
function roleFunctions(
  { functions = [] }: Api,
  access: AccessClass | null,
  collections: readonly RoleCollection[],
  note: NoteReader,
): readonly RoleFunction[] {
  const grants = access === null ? null : new Map(access.functions?.map((grant) => [grant.function, grant]));
  const readable = new Map(
    collections.flatMap((collection) => (collection.readable ? [[collection.name, collection] as const] : [])),
  );
  return functions.flatMap(({ descriptor, note: comment, graphqlEnums = [] }): readonly RoleFunction[] => {
    const { name, reads, arguments: all, returns } = descriptor;
    const grant = grants === null ? { function: name } : grants.get(name);
    if (grant === undefined) return [];
    const items = returns.kind === 'items' ? (readable.get(returns.collection) ?? null) : null;
    if (returns.kind === 'items' && items === null && reads) return [];
    const fixed = new Set(grant.args?.map((argument) => argument.name));
    return [
      {
        name,
        reads,
        note: note(comment),
        arguments: all.filter((argument) => !fixed.has(argument.name)),
        returns: resultOf(returns, items),
        items,
        graphqlEnums: graphqlEnums.filter((found) => found.part === 'result' || !fixed.has(found.name)),
      },
    ];
  });
}

/** Items of a collection that cannot be read are no result. */
function resultOf(returns: FunctionResult, items: RoleCollection | null): FunctionResult {
  return returns.kind === 'items' && items === null ? { kind: 'nothing' } : returns;
}

export function requiredArguments(args: readonly ArgumentDescriptor[]): readonly string[] {
  return args.filter(({ optional }) => optional !== true).map(({ name }) => name);
}
