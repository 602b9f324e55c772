import { printTable } from '@tablewright/runtime/language';
import type { PlatformConfig } from '../config/config.ts';
import type { PermissionDocument } from '../config/permissions/permission-document.ts';
import type { Diagnostic } from '../diagnostic.ts';
import type { Routine, Schema, Table, TableId } from '../schema.ts';

/** Sources of rules beside the schema. */
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
