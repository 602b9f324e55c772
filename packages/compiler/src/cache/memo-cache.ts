import type { Schema } from '@tablewright/introspect/schema';
import type { Api, ApiAccess, ApiCollection } from '../api.ts';
import { isSame } from './same.ts';

/** State that a process carries from one compilation to the next. It changes nothing but the time. */
export interface MemoCache {
  /** Gives the tables of the last time where they say the same. */
  recallTables(tables: Schema['tables']): Schema['tables'];
  /** Gives a schema the tables and collections of the last one where they say the same, so that what was made of them is found. */
  recallSchema(schema: Schema): Schema;
  /** The same with what was made of a schema. */
  recall(api: Api): Api;
}

/** Makes a cache that holds nothing yet. */
export function createMemoCache(): MemoCache {
  const tables = createRecall<Schema['tables'][number]>(({ id }) => id);
  const schemaCollections = createRecall<Schema['collections'][number]>(({ name }) => name);
  const enums = createRecall<Schema['enums'][number]>(({ schema, name }) => JSON.stringify([schema, name]));
  const graphqlEnums = createRecall<NonNullable<Schema['graphqlEnums']>[number]>(({ source }) => source);
  const collections = createRecall<ApiCollection>(({ descriptor }) => descriptor.name);
  const access = createRecall<ApiAccess>(
    (granted) => granted.access.name,
    (granted, last) => {
      const recalled = createRecall<Granted>(({ collection }) => collection, undefined, last?.access.collections);
      return { ...granted, access: { ...granted.access, collections: recalled(granted.access.collections) } };
    },
  );
  return {
    recallTables: tables,
    recallSchema: (schema) => ({
      ...schema,
      tables: tables(schema.tables),
      collections: schemaCollections(schema.collections),
      enums: enums(schema.enums),
      ...(schema.graphqlEnums && { graphqlEnums: graphqlEnums(schema.graphqlEnums) }),
    }),
    recall: (api) => ({ ...api, collections: collections(api.collections), access: access(api.access) }),
  };
}

type Granted = ApiAccess['access']['collections'][number];

/** Gives those of the last time, found by their names, where they say the same; `within` does so with parts of others. */
function createRecall<Item>(
  nameOf: (item: Item) => string,
  within: (item: Item, last: Item | undefined) => Item = (item) => item,
  first: readonly Item[] = [],
): (items: readonly Item[]) => readonly Item[] {
  let last = new Map(first.map((item) => [nameOf(item), item]));
  return (items) => {
    const recalled = items.map((item) => {
      const previous = last.get(nameOf(item));
      return previous !== undefined && isSame(previous, item) ? previous : within(item, previous);
    });
    last = new Map(recalled.map((item) => [nameOf(item), item]));
    return recalled;
  };
}
