import type { Schema, Table } from '@tablewright/introspect/schema';
import type { AccessClass } from '@tablewright/runtime/language';
import type { Api, ApiCollection } from '../api.ts';
import type { MemoCache } from '../cache/memo-cache.ts';
import { resolveApi } from '../passes/resolve-api.ts';
import { roleViewOf } from '../role-view/build-role-view.ts';
import type { RoleCollection, RoleView } from '../role-view/role-view.ts';
import type { Direction } from './change.ts';
import { type Concern, operationsOf } from './operations.ts';
import type { RuleId } from './rules.ts';
import type { Verdicts } from './severity.ts';

/** One of the two that are compared. */
export interface Version {
  readonly schema: Schema;
  readonly api: Api;
  readonly collections: ReadonlyMap<string, ApiCollection>;
  /** The table of each collection, by API name. */
  readonly tables: ReadonlyMap<string, Table>;
  /** Foreign keys by the id of the table that they lead to. */
  readonly referring: ReadonlyMap<string, readonly Referring[]>;
  readonly access: ReadonlyMap<string, AccessClass>;
  /** View of an access class; made once for each. */
  readonly view: (access: AccessClass) => RoleView;
}

/** A foreign key, named by its table and columns, and what becomes of its rows when what they refer to is deleted. */
export interface Referring {
  readonly name: string;
  readonly onDelete: Table['foreignKeys'][number]['onDelete'];
}

/** One role in one version. */
export interface Side {
  readonly version: Version;
  readonly access: AccessClass;
  readonly collections: ReadonlyMap<string, RoleCollection>;
}

/** One change for one role, before it is put together with those of others. */
export interface Found {
  readonly rule: RuleId;
  readonly subject: string;
  readonly message: string;
  readonly operations: readonly string[];
  readonly rights?: Direction;
  /** In place of what the rule says. */
  readonly verdicts?: Verdicts;
}

/** Prepares one of the two for comparisons. Parts that are equal in both are one object by their common cache. */
export function versionOf(schema: Schema, memoCache: MemoCache): Version {
  const api = memoCache.recall(resolveApi(memoCache.recallSchema(schema)));
  const views = new Map<AccessClass, RoleView>();
  const tables = new Map(schema.tables.map((table) => [table.id, table]));
  return {
    schema,
    api,
    collections: new Map(api.collections.map((collection) => [collection.descriptor.name, collection])),
    tables: new Map(
      schema.collections.flatMap(({ name, table }) => {
        const found = tables.get(table);
        return found === undefined ? [] : [[name, found] as const];
      }),
    ),
    referring: Map.groupBy(
      schema.tables.flatMap(({ id, foreignKeys }) =>
        foreignKeys.map(({ target, columns, onDelete }) => ({
          target,
          name: `${id} (${columns.join(', ')})`,
          onDelete,
        })),
      ),
      ({ target }) => target,
    ),
    access: new Map(api.access.flatMap(({ access }) => access.roles.map((role) => [role, access] as const))),
    view: (access) => {
      const cached = views.get(access) ?? roleViewOf(api, access);
      views.set(access, cached);
      return cached;
    },
  };
}

/** The role in a version; undefined if there is no such role. */
export function sideOf(version: Version, role: string): Side | undefined {
  const access = version.access.get(role);
  if (access === undefined) return undefined;
  const { collections } = version.view(access);
  return { version, access, collections: new Map(collections.map((collection) => [collection.name, collection])) };
}

/** The operations of one collection on one side. */
export function operationsIn({ version, collections }: Side, name: string, concern: Concern): readonly string[] {
  const view = collections.get(name);
  return view === undefined ? [] : operationsOf(view, version.collections.get(name), concern, version.api.graphql);
}
