import type { CollectionDescriptor } from '../language/index.ts';

/**
 * The schema of the platform's own tables, quoted and ready for SQL (`"platform"`), as the compiler found it; null when
 * they were not installed then. Empty where they lie in the database of the connection.
 */
export function systemSchemaOf(api: { readonly collections: readonly CollectionDescriptor[] }): string | null {
  const users = api.collections.find(({ system, name }) => system && name === 'platform_users');
  // The name of the table needs no escaping, so the text before it is the schema.
  return users === undefined ? null : users.table.replace(/\.?"platform_users"$/, '');
}
