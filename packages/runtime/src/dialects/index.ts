import type { Dialect } from '../language/index.ts';
import type { SqlDialect } from './dialect.ts';
import { mariadb, mysql } from './mysql/select.ts';
import { postgres } from './postgres/select.ts';

export type { CopiedFields, FixedValue } from './copies.ts';
export type { ListedKey, ListParts, SqlDialect, Value } from './dialect.ts';
export type { InputField, RowLock } from './input.ts';
export { postgres } from './postgres/select.ts';

/** The SQL of each dialect. */
export const sqlDialects: Readonly<Record<Dialect, SqlDialect>> = { postgres, mysql, mariadb };
