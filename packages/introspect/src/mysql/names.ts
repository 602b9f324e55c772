import { ownSchema } from '@tablewright/runtime/language';
import type { TableId } from '../schema.ts';
import { tableId } from '../table-names.ts';
import type { MysqlCatalog, TableName } from './catalog.ts';

/**
 * Name of the connection's database in the IR. Its own name does not matter: the same code serves test and production.
 * Names of tables, files and permissions are those of the same schema on PostgreSQL.
 */
export { ownSchema };

/** The schema of a row, as the IR calls it. */
export function schemaOf({ database }: MysqlCatalog, name: string): string {
  return name === database ? ownSchema : name;
}

/** The id of the table that a row is about. */
export function idOf(catalog: MysqlCatalog, { table_schema, table_name }: TableName): TableId {
  return tableId(schemaOf(catalog, table_schema), table_name);
}
