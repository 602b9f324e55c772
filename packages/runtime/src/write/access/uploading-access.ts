/**
 * The rules by which an upload writes files: those for creating or changing them, with permission for the facts that
 * the server itself finds out. So checks of rules see the type and the size of the sent file. Source: specification,
 * section 11.1.
 */
import { type AccessClass, type CompiledApi, systemCollection, type WriteRule } from '../../language/index.ts';

/** The collection of files. */
export const filesName = 'platform_files';

/** Fields of files that requests never write. */
export const serverOwnedOfFiles: readonly string[] = ownFields();

function ownFields(): readonly string[] {
  const owned = systemCollection(filesName)?.serverOwned ?? [];
  return owned === 'all' ? [] : owned;
}

/** The API as an upload sees it that fills in these fields. */
export function uploadingApi(api: CompiledApi, completed: readonly string[]): CompiledApi {
  const names = new Set(completed);
  return {
    ...api,
    collections: api.collections.map((collection) => {
      if (collection.name !== filesName || collection.system !== true) return collection;
      const fields = collection.fields.map((field) => (names.has(field.name) ? { ...field, writable: true } : field));
      return { ...collection, fields };
    }),
    access: api.access.map((access) => uploadingAccess(access, names)),
  };
}

function uploadingAccess(access: AccessClass, names: ReadonlySet<string>): AccessClass {
  const widened = (rules: readonly WriteRule[] | undefined): readonly WriteRule[] | undefined =>
    rules?.map((rule) => ({ ...rule, fields: [...new Set([...rule.fields, ...names])].sort() }));
  const collections = access.collections.map((granted) => {
    if (granted.collection !== filesName) return granted;
    const [create, update] = [widened(granted.create), widened(granted.update)];
    return { ...granted, ...(create && { create }), ...(update && { update }) };
  });
  return { ...access, collections };
}
