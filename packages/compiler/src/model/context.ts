import type { ManyToAny } from '@tablewright/runtime/language';
import type { ApiCollection } from '../api.ts';
import type { Lookup } from '../cache/remember.ts';
import type { RoleCollection } from '../role-view/role-view.ts';

/** A readable collection with what was compiled of it. */
export interface DescribedCollection {
  readonly api: ApiCollection;
  readonly view: RoleCollection;
}

/** Facts that the description of one collection may use. */
export interface ModelContext {
  /** Everything that a class may read, by name. */
  readonly collections: Lookup<DescribedCollection>;
  /** The junctions of readable many-to-many relations. */
  readonly junctions: Lookup<true>;
  /** The first readable many-to-any of each link collection. */
  readonly owners: Lookup<ManyToAny>;
}

/** True if a field of a collection is readable, or a relation that has no field. */
export function shows({ view }: DescribedCollection, name: string): boolean {
  return view.fields.some((field) => field.name === name) || view.relations.some((relation) => relation.name === name);
}
