import { type JsonValue, printTable } from '@tablewright/runtime/language';
import type { CollectionConfig, PlatformConfig } from '../config/config.ts';
import type { PermissionDocument, RuleSource } from '../config/permissions/permission-document.ts';
import { configPlace, type Diagnostic } from '../diagnostic.ts';
import { suggest } from '../did-you-mean.ts';
import { defaultSchema, findTables } from '../passes/lookup.ts';
import type { Collection, Permission, Routine, Schema, Table, TableId } from '../schema.ts';

export interface RuleSources {
  readonly config: PlatformConfig;
  readonly permissions: PermissionDocument;
  /** `articles.comments`: names of relations as derived, before the configuration changed them. */
  readonly relationKeys: readonly string[];
  /** Every function and procedure that could be served. */
  readonly routines: readonly Routine[];
}

/** One law about a schema. Complains, never transforms, never throws. */
export type Rule = (schema: Schema, sources: RuleSources) => readonly Diagnostic[];

/** The place of a table in a diagnostic: `table public.articles`, `view article_stats`. */
export function tablePlace({ dialect }: Pick<Schema, 'dialect'>, { kind, id }: Pick<Table, 'kind' | 'id'>): string {
  return `${kindWords[kind]} ${printTable(dialect, id)}`;
}

/** Name of a table under `collections` of the configuration. */
export function configKey({ dialect }: Pick<Schema, 'dialect'>, { id, name }: Pick<Table, 'id' | 'name'>): string {
  return printTable(dialect, id) === name ? name : id;
}

/** The place of a column in a diagnostic: `column public.articles.title`. */
export function columnPlace({ dialect }: Pick<Schema, 'dialect'>, table: TableId, column: string): string {
  return `column ${printTable(dialect, table)}.${column}`;
}

const kindWords = {
  table: 'table',
  partitioned: 'table',
  view: 'view',
  materializedView: 'materialized view',
  foreign: 'foreign table',
} as const;

/** `"a"`, `"a" and "b"`, `"a", "b" and "c"`. */
export function quotedList(names: readonly string[]): string {
  const quoted = names.map((name) => `"${name}"`);
  const last = quoted.at(-1) ?? '';
  return quoted.length < 2 ? last : `${quoted.slice(0, -1).join(', ')} and ${last}`;
}

/** A name in the configuration that means nothing, with the nearest one that does. */
export function unknownName(
  path: readonly (string | number)[],
  message: string,
  name: string,
  candidates: Iterable<string>,
): Diagnostic {
  return configError(path, 'unknown-name', message, suggest(name, candidates));
}

export function configError(
  path: readonly (string | number)[],
  code: string,
  message: string,
  hint: string | null = null,
): Diagnostic {
  return { code, severity: 'error', place: configPlace(...path), message, hint };
}

/** One entry under `collections` of the configuration with the table it means. */
interface Configured {
  /** The key in the configuration. */
  readonly name: string;
  readonly config: CollectionConfig;
  readonly table: Table;
  /** Undefined when the table is left out of the API. */
  readonly collection: Collection | undefined;
}

export function configuredTables(schema: Schema, { config }: RuleSources): readonly Configured[] {
  return Object.entries(config.collections ?? {}).flatMap(([name, settings]) => {
    const [table, ...others] = findTables(schema.tables, name, defaultSchema(config));
    if (table === undefined || others.length > 0) return [];
    const collection = schema.collections.find((candidate) => candidate.table === table.id);
    return [{ name, config: settings, table, collection }];
  });
}

/** A rule as written and as it was understood. */
export interface RuledPermission {
  readonly source: RuleSource;
  readonly permission: Permission;
}

/** Pairs the rules of the file with the permissions made of them: both keep the order within role, collection, action. */
export function pairRules(schema: Schema, { rules }: PermissionDocument): readonly RuledPermission[] {
  const made = Map.groupBy(schema.permissions, keyOf);
  const written = Map.groupBy(rules, (rule) =>
    keyOf({ role: rule.role.name, collection: rule.collection.name, action: rule.action }),
  );
  return [...written].flatMap(([key, sources]) =>
    sources.flatMap((source, index) => {
      const permission = made.get(key)?.[index];
      return permission === undefined ? [] : [{ source, permission }];
    }),
  );
}

export function keyOf({ role, collection, action }: Pick<Permission, 'role' | 'collection' | 'action'>): string {
  return JSON.stringify([role, collection, action]);
}

/** A name of a condition as written: where it is looked up, and the keys that lead to it. */
export interface NameUse {
  readonly collection: string;
  readonly name: string;
  readonly path: readonly string[];
  /** Number of relations that lead to it. */
  readonly depth: number;
}

/** Every name that a filter uses, in its order. A value that is no filter has none. */
export function namesUsed(
  value: JsonValue,
  root: string,
  collections: ReadonlyMap<string, Collection>,
): readonly NameUse[] {
  return visit(value, { collection: root, path: [], depth: 0 });

  function visit(inner: JsonValue, parent: Omit<NameUse, 'name'>): readonly NameUse[] {
    if (typeof inner !== 'object' || inner === null) return [];
    return Object.entries(inner).flatMap(([key, below]) => {
      const next = { ...parent, path: [...parent.path, key] };
      return Array.isArray(inner) ? visit(below, next) : visitKey(key, below, next);
    });
  }

  function visitKey(key: string, inner: JsonValue, parent: Omit<NameUse, 'name'>): readonly NameUse[] {
    if (key.startsWith('item:'))
      return visit(inner, { ...parent, collection: key.slice('item:'.length), depth: parent.depth + 1 });
    const collection = collections.get(parent.collection);
    const name = /^\w+\((.*)\)$/.exec(key)?.[1] ?? key;
    const relation = collection?.relations.find((candidate) => candidate.name === name);
    const field = collection?.fields.find((candidate) => candidate.name === name);
    if (relation === undefined && field === undefined) return visit(inner, parent);
    const use = { ...parent, name };
    return relation === undefined
      ? [use]
      : [use, ...visit(inner, { ...parent, collection: relation.target, depth: parent.depth + 1 })];
  }
}
