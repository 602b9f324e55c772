/**
 * The rows of `information_schema` as MySQL and MariaDB report them, in their own words.
 *
 * Fields carry the names of the columns of the manual's chapter "INFORMATION_SCHEMA Tables", in lower case.
 */
import { ownSchema } from '@tablewright/runtime/language';
import type { TableId } from '../schema.ts';
import { tableId } from '../table-names.ts';

/** The two servers of the family. MariaDB says so in its version; all others are taken for MySQL. */
export type MysqlDialect = 'mysql' | 'mariadb';

/** Everything that is read of one server, its rows in no particular order. */
export interface MysqlCatalog extends MysqlRows {
  /** As `SELECT VERSION()` prints it: `10.11.19-MariaDB-0+deb12u1`, `8.4.6`. */
  readonly version: string;
  readonly dialect: MysqlDialect;
  /** The database of the connection: the schema `public` of the IR. */
  readonly database: string;
  /** The databases whose tables are served, and the one that holds the platform's own. */
  readonly requestedSchemas: readonly string[];
  readonly system: string;
  readonly include: readonly string[] | null;
  readonly exclude: readonly string[];
  /** Rights on MySQL as `SHOW GRANTS` tells them, up to `TO`; absent where the server does not tell them. */
  readonly grants?: readonly string[];
  /** Functions and procedures; absent where they are not read. */
  readonly routines?: { readonly routines: readonly RoutineRow[]; readonly parameters: readonly ParameterRow[] };
}

export interface MysqlRows {
  readonly tables: readonly TableRow[];
  readonly columns: readonly ColumnRow[];
  readonly statistics: readonly StatisticsRow[];
  readonly keys: readonly KeyRow[];
  readonly checks: readonly CheckRow[];
}

export interface TableName {
  readonly table_schema: string;
  readonly table_name: string;
}

/** `TABLES`, with what `VIEWS`, `PARTITIONS` and `TRIGGERS` know of the table. */
export interface TableRow extends TableName {
  /** `BASE TABLE`, `VIEW`, `SYSTEM VERSIONED`, `SEQUENCE`. */
  readonly table_type: string;
  readonly table_comment: string;
  /** `partitioned` among others; null for views. */
  readonly create_options: string | null;
  /** `YES` or `NO` for views, null for tables. */
  readonly is_updatable: string | null;
  readonly triggers: number;
}

/** `COLUMNS`. */
export interface ColumnRow extends TableName {
  readonly column_name: string;
  readonly ordinal_position: number;
  /** MariaDB: SQL, `NULL` included. MySQL: the bare value, or SQL where `extra` says `DEFAULT_GENERATED`. */
  readonly column_default: string | null;
  readonly is_nullable: string;
  readonly data_type: string;
  readonly column_type: string;
  /** Labels of an enum or a set; absent or null where `column_type` tells them whole. */
  readonly labels?: readonly string[] | null;
  readonly character_maximum_length: number | null;
  readonly numeric_precision: number | null;
  readonly numeric_scale: number | null;
  readonly datetime_precision: number | null;
  /** Spatial reference that all values have; MySQL only. */
  readonly srs_id: number | null;
  /** 1 where that reference is a plane. */
  readonly srs_planar: number | null;
  readonly collation_name: string | null;
  readonly extra: string;
  readonly column_comment: string;
  readonly generation_expression: string | null;
}

/** `STATISTICS`: one row per column of an index. */
export interface StatisticsRow extends TableName {
  readonly index_name: string;
  readonly non_unique: number;
  readonly seq_in_index: number;
  /** Null for an expression. */
  readonly column_name: string | null;
  /** Characters of the column that are indexed; null for all. */
  readonly sub_part: number | null;
  readonly index_type: string;
  /** Distance of an index of vectors of MariaDB: `euclidean` or `cosine`. */
  readonly distance?: string;
  /** MySQL only. */
  readonly expression: string | null;
}

/** `KEY_COLUMN_USAGE` of foreign keys with their `REFERENTIAL_CONSTRAINTS`: one row per column. */
export interface KeyRow extends TableName {
  readonly constraint_name: string;
  readonly column_name: string;
  readonly ordinal_position: number;
  readonly referenced_table_schema: string;
  readonly referenced_table_name: string;
  readonly referenced_column_name: string;
  /** Null where MariaDB hides what a foreign key does: from users that may do no more than SELECT. */
  readonly update_rule: string | null;
  readonly delete_rule: string | null;
}

/** `CHECK_CONSTRAINTS` with their tables. */
export interface CheckRow extends TableName {
  readonly constraint_name: string;
  readonly check_clause: string;
  /** `YES` or `NO`; MariaDB enforces every check. */
  readonly enforced: string;
}

/** `ROUTINES`. */
export interface RoutineRow {
  readonly routine_schema: string;
  readonly specific_name: string;
  readonly routine_name: string;
  /** `FUNCTION` or `PROCEDURE`. */
  readonly routine_type: string;
  /** `NO SQL`, `READS SQL DATA`, `MODIFIES SQL DATA`, or `CONTAINS SQL`, which is the default. */
  readonly sql_data_access: string;
  readonly routine_comment: string;
  /** 0 where nothing in its text can make rows. */
  readonly answers: number;
}

/** `PARAMETERS`; the one at 0 is what a function returns. */
export interface ParameterRow
  extends Pick<
    ColumnRow,
    | 'ordinal_position'
    | 'data_type'
    | 'character_maximum_length'
    | 'numeric_precision'
    | 'numeric_scale'
    | 'datetime_precision'
  > {
  readonly routine_schema: string;
  readonly specific_name: string;
  readonly routine_type: string;
  /** `IN`, `OUT` or `INOUT`; null for functions. */
  readonly parameter_mode: string | null;
  readonly parameter_name: string | null;
  readonly dtd_identifier: string;
}

/**
 * The schema of a row, as the IR calls it. The name of the connection's database does not matter: the same code serves
 * test and production. Names of tables, files and permissions are those of the same schema on PostgreSQL.
 */
export function schemaOf({ database }: MysqlCatalog, name: string): string {
  return name === database ? ownSchema : name;
}

export function idOf(catalog: MysqlCatalog, { table_schema, table_name }: TableName): TableId {
  return tableId(schemaOf(catalog, table_schema), table_name);
}
