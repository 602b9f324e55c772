import type { CompiledApi, Dialect } from '../language/index.ts';
import { systemSchemaOf } from './schema.ts';

/** Where the platform's own tables lie, and whose SQL is spoken there. */
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
