/** The model: fields and relations, whose key is a collection and a field. Source: API specification, sections 12 and 15. */
import type { RequestOptions } from './call.ts';
import type { Payload } from './items.ts';
import type { Page, Requester } from './requester.ts';

/** The fields of all collections. */
export interface FieldsHandler<Field> {
  createOne(collection: string, data: Payload<Field>, options?: RequestOptions): Promise<Field | null>;
  createMany(collection: string, data: readonly Payload<Field>[], options?: RequestOptions): Promise<Page<Field>>;
  /** All that the caller may see. */
  readByQuery(options?: RequestOptions): Promise<Page<Field>>;
  readOne(collection: string, field: string, options?: RequestOptions): Promise<Field>;
  /** Those of a collection. */
  readMany(collection: string, options?: RequestOptions): Promise<Page<Field>>;
  updateOne(collection: string, field: string, data: Payload<Field>, options?: RequestOptions): Promise<Field | null>;
  /** Each names its field. */
  updateMany(collection: string, data: readonly Payload<Field>[], options?: RequestOptions): Promise<Page<Field>>;
  deleteOne(collection: string, field: string, options?: RequestOptions): Promise<void>;
  deleteMany(collection: string, fields: readonly string[], options?: RequestOptions): Promise<void>;
}

/** The relations of all collections. */
export interface RelationsHandler<Relation> extends Omit<FieldsHandler<Relation>, 'createOne' | 'createMany'> {
  createOne(data: Payload<Relation>, options?: RequestOptions): Promise<Relation | null>;
  createMany(data: readonly Payload<Relation>[], options?: RequestOptions): Promise<Page<Relation>>;
}

/** Makes the handler of fields. */
export function createFieldsHandler<Field>(requester: Requester): FieldsHandler<Field> {
  const { written, page } = requester;
  return {
    ...createByFieldHandler<Field>(requester, 'fields'),
    createOne: (collection, body, options) => written({ method: 'POST', path: ['fields', collection], body, options }),
    createMany: (collection, body, options) => page({ method: 'POST', path: ['fields', collection], body, options }),
  };
}

/** Makes the handler of relations. */
export function createRelationsHandler<Relation>(requester: Requester): RelationsHandler<Relation> {
  const { written, page } = requester;
  const path = ['relations'];
  return {
    ...createByFieldHandler<Relation>(requester, 'relations'),
    createOne: (body, options) => written({ method: 'POST', path, body, options }),
    createMany: (body, options) => page({ method: 'POST', path, body, options }),
  };
}

function createByFieldHandler<Item>(
  { data, written, page, nothing }: Requester,
  root: string,
): Omit<FieldsHandler<Item>, 'createOne' | 'createMany'> {
  return {
    readByQuery: (options) => page({ method: 'GET', path: [root], options }),
    readOne: (collection, field, options) => data({ method: 'GET', path: [root, collection, field], options }),
    readMany: (collection, options) => page({ method: 'GET', path: [root, collection], options }),
    updateOne: (collection, field, body, options) =>
      written({ method: 'PATCH', path: [root, collection, field], body, options }),
    updateMany: (collection, body, options) => page({ method: 'PATCH', path: [root, collection], body, options }),
    deleteOne: (collection, field, options) => nothing({ method: 'DELETE', path: [root, collection, field], options }),
    deleteMany: (collection, body, options) => nothing({ method: 'DELETE', path: [root, collection], body, options }),
  };
}
