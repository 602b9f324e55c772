/** Random changes of the tables of a PostgreSQL database, of which many are impossible. */
import type { SchemaFacts, Table } from '@tablewright/introspect';

/** One statement. The same numbers give the same one. */
export function randomStatement({ tables }: SchemaFacts, random: () => number): string {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const table = pick(tables);
  const other = pick(tables);
  const column = pick(table.columns)?.name ?? 'nothing';
  const on = nameOf(table);
  const altered = `ALTER ${table.kind === 'view' ? 'VIEW' : 'TABLE'} ${on}`;
  const fresh = `n${Math.floor(random() * 1e6)}`;
  const type = pick(['int', 'text', 'varchar(9)', 'numeric(8, 2)', 'jsonb', 'timestamptz', 'int[]', nameOf(other)]);
  const constraint = pick([...table.foreignKeys, ...table.checks, ...table.uniques])?.name ?? fresh;
  return pick([
    `${altered} RENAME TO ${fresh}`,
    `${altered} RENAME COLUMN ${quoted(column)} TO ${fresh}`,
    `${altered} ADD ${fresh} ${type}`,
    `${altered} DROP COLUMN ${quoted(column)} CASCADE`,
    `${altered} ALTER ${quoted(column)} ${pick(['SET NOT NULL', 'DROP NOT NULL', 'DROP DEFAULT', "SET DEFAULT '1'"])}`,
    `${altered} ALTER ${quoted(column)} TYPE ${type}`,
    `${altered} ADD PRIMARY KEY (${quoted(column)})`,
    `${altered} ADD UNIQUE (${quoted(column)})`,
    `${altered} ADD CHECK (${quoted(column)} IS NOT NULL) NOT VALID`,
    `${altered} ADD ${fresh} int REFERENCES ${nameOf(other)}`,
    `${altered} DROP CONSTRAINT ${quoted(constraint)} CASCADE`,
    `${altered} OWNER TO pg_signal_backend`,
    `${altered} ${pick(['ENABLE', 'DISABLE'])} ROW LEVEL SECURITY`,
    `${altered} INHERIT ${nameOf(other)}`,
    `${altered} SET SCHEMA ${quoted(other.schema)}`,
    `COMMENT ON COLUMN ${on}.${quoted(column)} IS '${fresh}'`,
    `COMMENT ON ${table.kind === 'view' ? 'VIEW' : 'TABLE'} ${on} IS ${pick(['NULL', `'${fresh}'`])}`,
    `CREATE ${pick(['', 'UNIQUE'])} INDEX ON ${on} (${quoted(column)})`,
    `CREATE TABLE ${quoted(table.schema)}.${fresh} (id serial PRIMARY KEY, other ${type}, ref int REFERENCES ${nameOf(other)})`,
    `CREATE TABLE ${quoted(table.schema)}.${fresh} (id int) INHERITS (${on})`,
    `CREATE VIEW ${quoted(table.schema)}.${fresh} AS SELECT * FROM ${on}`,
    `CREATE VIEW ${quoted(table.schema)}.${fresh} AS SELECT o.* FROM ${on} LEFT JOIN ${nameOf(other)} AS o ON true`,
    `CREATE MATERIALIZED VIEW ${quoted(table.schema)}.${fresh} AS SELECT ${quoted(column)} FROM ${on}`,
    `CREATE SEQUENCE ${quoted(table.schema)}.${fresh} OWNED BY ${on}.${quoted(column)}`,
    `CREATE POLICY ${fresh} ON ${on} USING (true)`,
    `CREATE RULE ${fresh} AS ON UPDATE TO ${on} DO INSTEAD NOTHING`,
    `DROP ${table.kind === 'view' ? 'VIEW' : 'TABLE'} ${on} ${pick(['', 'CASCADE'])}`,
    `${pick(['GRANT', 'REVOKE'])} SELECT ON ${on} ${pick(['TO', 'FROM'])} PUBLIC`,
  ]);
}

function nameOf({ schema, name }: Table): string {
  return `${quoted(schema)}.${quoted(name)}`;
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
