import type { CollectionDescriptor, CompiledApi, Dialect } from '../language/index.ts';

/** Place of the platform's own tables, and the dialect of the SQL there. */
export interface SystemPlace {
  /** Quoted, as `systemSchemaOf` gives it. */
  readonly schema: string;
  readonly dialect: Dialect;
}

/** The location of the tables of an API; null where they were not installed when it was compiled. */
export function systemPlaceOf(api: Pick<CompiledApi, 'collections' | 'dialect'>): SystemPlace | null {
  const schema = systemSchemaOf(api);
  return schema === null ? null : { schema, dialect: api.dialect };
}

/** The same where the tables are there that writes leave something in. */
export function logPlaceOf(api: Pick<CompiledApi, 'collections' | 'dialect'>): SystemPlace | null {
  const names = new Set(api.collections.flatMap(({ system, name }) => (system ? [name] : [])));
  return names.has('platform_activity') && names.has('platform_revisions') ? systemPlaceOf(api) : null;
}

/** The schema of the platform's tables, quoted, empty for that of the connection; null when not installed. */
export function systemSchemaOf(api: { readonly collections: readonly CollectionDescriptor[] }): string | null {
  const users = api.collections.find(({ system, name }) => system && name === 'platform_users');
  // The name of the table needs no escaping, so the text before it is the schema.
  return users === undefined ? null : users.table.replace(/\.?"platform_users"$/, '');
}
