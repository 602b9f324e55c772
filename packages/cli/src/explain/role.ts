import { existsSync } from 'node:fs';
import { modelData, resolveApi } from '@tablewright/compiler';
import { didYouMean, visible } from '@tablewright/introspect';
import type { Schema } from '@tablewright/introspect/schema';
import type { AccessClass, Caller, CompiledApi } from '@tablewright/runtime';
import { createRowContexts, type ReadableApi } from '@tablewright/runtime/explain';
import { ownTables } from '@tablewright/runtime/tools';
import type { Facts } from '../compile/facts.ts';
import { readFacts } from '../compile/read-facts.ts';
import { loadFacts, resolveProject } from '../compile/steps.ts';
import { CommandError, exitCodes } from '../errors/failures.ts';
import type { Project } from '../project/project.ts';
import { refuseNewDatabase } from '../project/settings.ts';
import { linkModel } from '../recompile/link-model.ts';
import { quotedTable, runOwn, type Source } from '../sources/source.ts';
import type { Progress } from '../terminal/progress.ts';

/** An API as requests meet it, without parts that are only printed. */
export function readableApi(schema: Schema): ReadableApi {
  const { dialect, collections, access } = resolveApi(schema);
  return {
    dialect,
    collections: collections.map(({ descriptor }) => descriptor),
    access: access.map((entry) => entry.access),
  };
}

/** An API as writes meet it, without documents and without the project's own code. */
export function writableApi(schema: Schema): CompiledApi {
  const api = resolveApi(schema);
  return linkModel(modelData(api, []), { dialect: api.dialect }, async (kind, accessClass) => {
    throw new Error(`the ${kind} of ${accessClass} was not compiled`);
  });
}

/** The access class of a role. Rejects with the name that was probably meant, or all of them. */
export function accessOf({ access }: ReadableApi, role: string): AccessClass {
  const found = access.find(({ roles }) => roles.includes(role));
  if (found !== undefined) return found;
  const names = access.flatMap(({ roles }) => roles).sort();
  const nearest = didYouMean(role, names);
  const hint = nearest === null ? `Roles are ${visible(names.join(', '))}.` : `Did you mean "${visible(nearest)}"?`;
  throw new CommandError(exitCodes.usage, `There is no role "${role}".`, hint);
}

/** Caller that a request is explained for. */
export interface Asker {
  readonly role: string;
  /** Key of the user, for `$CURRENT_USER`; null for no user. */
  readonly user: string | null;
}

/**
 * The caller that a role and a user make. A database tells the key of the role; without a connection its name stands for
 * it. Rejects for a user that the database lacks.
 */
export async function callerOf(
  schema: Schema,
  access: AccessClass,
  { role, user }: Asker,
  source: Source | null,
): Promise<Caller> {
  const accessClass = access.name;
  if (source === null) return { accessClass, user, role: role === 'public' ? null : role };
  const rowContext = createRowContexts({ ...readableApi(schema), ...passedOn(schema) });
  const userId = user === null ? undefined : await findIn('platform_users', 'id', user, schema, source);
  if (userId === null) {
    const hint = 'A key is the `id` of a user, such as GET /users?fields=id,email tells administrators.';
    throw new CommandError(exitCodes.usage, `There is no user with the key "${user}".`, hint);
  }
  const roleKey = (await findIn('platform_roles', 'name', role, schema, source)) ?? null;
  return { accessClass, user, role: roleKey, ...rowContext({ role, admin: access.admin, user, roleKey }) };
}

function passedOn({ rowSecurity }: Schema): Pick<CompiledApi, 'rowSecurity'> {
  return rowSecurity === undefined ? {} : { rowSecurity };
}

/** The key of a row of one of the platform's own tables; null where there is none, undefined where there is no such table. */
async function findIn(
  name: string,
  column: 'id' | 'name',
  value: string,
  { tables, collections }: Schema,
  source: Source,
): Promise<string | null | undefined> {
  const collection = collections.find((candidate) => candidate.name === name);
  const table = tables.find(({ id }) => id === collection?.table);
  if (table === undefined) return undefined;
  const { text, rows } = ownTables({ schema: '', dialect: source.dialect });
  const sql = `SELECT ${text('t.id')} FROM ${quotedTable(source.dialect, table)} AS t WHERE ${text(`t.${column}`)} = $1::text`;
  const [row] = await runOwn(source, rows(sql), [value]);
  return row?.[0] ?? null;
}

/**
 * The schema as configuration and permissions make it now, from the tables in `platform.schema.json`. The database is
 * read if that file is missing or a connection is at hand. Writes nothing, and makes no embedded database.
 */
export async function currentSchema(project: Project, progress: Progress, source?: Source): Promise<Schema> {
  const facts = await currentFacts(project, progress, source);
  const { schema } = await progress.phase('resolve', () => resolveProject(project, facts, progress));
  return schema;
}

/** The facts of which it is made. */
export async function currentFacts(project: Project, progress: Progress, source?: Source): Promise<Facts> {
  const fromFile = source === undefined && existsSync(project.schemaFile);
  if (source === undefined && !fromFile) refuseNewDatabase(project);
  return fromFile ? loadFacts(project) : readFacts(project, progress, source);
}
