import type { ReadOptions, SchemaFacts } from '@tablewright/introspect';
import type { Schema } from '@tablewright/introspect/schema';
import type { Project } from '../project/project.ts';
import type { PermissionTables } from '../sources/permission-tables.ts';

/** Facts of the database: its tables, and the roles and rules in the platform's own tables. */
export interface Facts extends SchemaFacts {
  /** Null where they are not installed or not readable; `offline` where there is no database at hand. */
  readonly permissions: PermissionTables | 'offline' | null;
  /** The schema compiled before, where it is read already. */
  readonly previous?: Schema;
}

/** The part of its database that a project is about. */
export function readOptions({ config }: Project): ReadOptions {
  const { functions } = config;
  const { schemas, include, exclude, systemSchema } = config.database ?? {};
  return {
    ...(schemas === undefined ? {} : { schemas }),
    ...(include === undefined ? {} : { include }),
    ...(exclude === undefined ? {} : { exclude }),
    ...(systemSchema === undefined ? {} : { systemSchema }),
    ...(functions === undefined ? {} : { functions: true }),
  };
}
