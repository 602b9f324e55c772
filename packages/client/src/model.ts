/** The model: fields and relations, whose key is a collection and a field. Source: API specification, sections 12 and 15. */
import type { RequestOptions } from './call.ts';
import type { Payload } from './items.ts';
import type { Page, Requester } from './requester.ts';

/** The fields of all collections. */
export interface FieldsHandler<Field> {
  /**
   * Creates a field, and its column.
   * @example await client.fields.createOne('articles', { field: 'subtitle', type: 'string' });
   */
  createOne(collection: string, data: Payload<Field>, options?: RequestOptions): Promise<Field | null>;
  /**
   * Creates several fields of a collection.
   * @example await client.fields.createMany('articles', [{ field: 'subtitle', type: 'string' }]);
   */
  createMany(collection: string, data: readonly Payload<Field>[], options?: RequestOptions): Promise<Page<Field>>;
  /**
   * All that the caller may see.
   * @example const { data } = await client.fields.readByQuery();
   */
  readByQuery(options?: RequestOptions): Promise<Page<Field>>;
  /**
   * Reads one field.
   * @example const title = await client.fields.readOne('articles', 'title');
   */
  readOne(collection: string, field: string, options?: RequestOptions): Promise<Field>;
  /**
   * Reads the fields of a collection.
   * @example const { data } = await client.fields.readMany('articles');
   */
  readMany(collection: string, options?: RequestOptions): Promise<Page<Field>>;
  /**
   * Changes a field.
   * @example await client.fields.updateOne('articles', 'title', { meta: { note: 'At most a line' } });
   */
  updateOne(collection: string, field: string, data: Payload<Field>, options?: RequestOptions): Promise<Field | null>;
  /**
   * Changes fields, each of which names itself.
   * @example await client.fields.updateMany('articles', [{ field: 'title', meta: { sort: 1 } }]);
   */
  updateMany(collection: string, data: readonly Payload<Field>[], options?: RequestOptions): Promise<Page<Field>>;
  /**
   * Deletes a field, and its column.
   * @example await client.fields.deleteOne('articles', 'subtitle');
   */
  deleteOne(collection: string, field: string, options?: RequestOptions): Promise<void>;
  /**
   * Deletes several fields of a collection.
   * @example await client.fields.deleteMany('articles', ['subtitle', 'motto']);
   */
  deleteMany(collection: string, fields: readonly string[], options?: RequestOptions): Promise<void>;
}

/** The relations of all collections. */
export interface RelationsHandler<Relation> extends Omit<FieldsHandler<Relation>, 'createOne' | 'createMany'> {
  /**
   * Creates a relation, and its foreign key.
   * @example await client.relations.createOne({ collection: 'articles', field: 'author', related_collection: 'authors' });
   */
  createOne(data: Payload<Relation>, options?: RequestOptions): Promise<Relation | null>;
  /**
   * Creates several relations.
   * @example await client.relations.createMany([{ collection: 'articles', field: 'author', related_collection: 'authors' }]);
   */
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
