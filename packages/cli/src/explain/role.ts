import { modelData, resolveApi } from '@platform/compiler';
import { didYouMean } from '@platform/introspect';
import type { Schema } from '@platform/introspect/schema';
import type { AccessClass, Caller, CompiledApi, ReadableApi } from '@platform/runtime';
import { CommandError, exitCodes } from '../exit-codes.ts';
import { linkModel } from '../recompile/link-model.ts';
import type { Source } from '../source.ts';

/** An API as requests meet it, without what is only printed. */
export function readableApi(schema: Schema): ReadableApi {
  const { dialect, collections, access } = resolveApi(schema);
  return {
    dialect,
    collections: collections.map(({ descriptor }) => descriptor),
    access: access.map((one) => one.access),
  };
}

/** An API as writes meet it, without documents and without the project's own code. */
export function writableApi(schema: Schema): CompiledApi {
  const api = resolveApi(schema);
  return linkModel(modelData(api, []), { dialect: api.dialect }, async (kind, accessClass) => {
    throw new Error(`nobody compiled the ${kind} of ${accessClass}`);
  });
}

/** The access class of a role. Rejects with the name that was probably meant. */
export function accessOf({ access }: ReadableApi, role: string): AccessClass {
  const found = access.find(({ roles }) => roles.includes(role));
  if (found !== undefined) return found;
  const nearest = didYouMean(
    role,
    access.flatMap(({ roles }) => roles),
  );
  throw new CommandError(
    exitCodes.usage,
    `There is no role "${role}".`,
    nearest === null ? null : `Did you mean "${nearest}"?`,
  );
}

/** Whom a request is explained for. */
export interface Asker {
  readonly role: string;
  /** Key of the user, for `$CURRENT_USER`; null for nobody. */
  readonly user: string | null;
}

/** The caller that a server would make of a role and a user; the key of the role is known where there is a database. */
export async function callerOf(
  schema: Schema,
  access: AccessClass,
  { role, user }: Asker,
  source: Source | null,
): Promise<Caller> {
  const roles = schema.collections.find(({ name }) => name === 'platform_roles');
  const table = schema.tables.find(({ id }) => id === roles?.table);
  const caller = { accessClass: access.name, user, role: null };
  if (table === undefined || source === null) return caller;
  const { schema: place, name } = table;
  const [row] =
    source.family === 'postgres'
      ? await source.run(`SELECT id::text FROM ${quoted('"', place)}.${quoted('"', name)} WHERE name = $1`, [role])
      : await source.run(`SELECT id FROM ${place === 'public' ? '' : `${quoted('`', place)}.`}${name} WHERE name = ?`, [
          role,
        ]);
  return { ...caller, role: row?.[0] ?? null };
}

function quoted(mark: '"' | '`', name: string): string {
  return `${mark}${name.replaceAll(mark, `${mark}${mark}`)}${mark}`;
}
