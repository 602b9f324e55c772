/** Names of types and files of a collection in a client, as in the OpenAPI document of its class. */
import { createFactsOfNames } from '../cache/facts.ts';
import { fileName, shortened, uniqueNames } from '../print/identifier.ts';
import type { DocumentNames } from '../role-view/names.ts';
import type { RoleView } from '../role-view/role-view.ts';

/** Names of one collection. */
export interface ClientNames
  extends Pick<DocumentNames, 'collection' | 'item' | 'filter' | 'create' | 'update' | 'change'> {
  /** File without folder and extension, unique also where case does not count. */
  readonly file: string;
  /** `RelationsOrderLines` */
  readonly relations: string;
  /** `FunctionsOrderLines` */
  readonly functions: string;
  /** `KeyOrderLines` */
  readonly key: string;
  /** `FactsOrderLines` */
  readonly facts: string;
}

/** Names what a class sees. They depend on nothing else. */
export function nameClient({ collections }: RoleView): ReadonlyMap<string, ClientNames> {
  const all = collections.map(({ name }) => name);
  // They follow from the names in documents, which follow from the names of all that is seen.
  return namesOfAll(all, () => findNames(all, collections));
}

const namesOfAll = createFactsOfNames<ReadonlyMap<string, ClientNames>>();

function findNames(all: readonly string[], collections: RoleView['collections']): ReadonlyMap<string, ClientNames> {
  const files = uniqueNames(all, fileName, (spelling) => spelling.toLowerCase());
  return new Map(
    collections.map(({ name, names }) => {
      const spelling = shortened(names.spelling, name);
      const collectionNames = {
        collection: name,
        item: `Items${spelling}`,
        filter: `Filter${spelling}`,
        create: `Create${spelling}`,
        update: `Update${spelling}`,
        change: `Change${spelling}`,
        file: files.get(name) ?? name,
        relations: `Relations${spelling}`,
        functions: `Functions${spelling}`,
        key: `Key${spelling}`,
        facts: `Facts${spelling}`,
      };
      return [name, collectionNames];
    }),
  );
}
