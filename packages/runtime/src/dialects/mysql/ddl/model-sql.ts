/** Changes of the model on MySQL and MariaDB: all changes of a table become one statement (`statements.ts`). */
import { PlatformError } from '../../../errors.ts';
import { invalidPayload } from '../../../json/problems.ts';
import { dependedOn } from '../../../model/change.ts';
import { findRelationOf, madeName } from '../../../model/find.ts';
import { rowStatements } from '../../../model/meta.ts';
import type {
  AlterPart,
  FoundColumn,
  FoundMember,
  ModelPlace,
  ModelSql,
  ModelStep,
  NewColumn,
  NewForeignKey,
} from '../../../model/model-sql.ts';
import { namesIn, quoteMysqlText as quote, tableOptions, tick, ticked } from '../texts.ts';
import { enumLike, type MysqlKind, mysqlComputed, mysqlLiteral, mysqlType, retyped, withTexts } from './types.ts';

export function mysqlModelSql(server: MysqlKind): ModelSql {
  const special: Readonly<Record<string, readonly string[]>> = {
    csv: ['cast-csv'],
    hash: ['hash', 'conceal'],
    secret: ['conceal'],
    ...(!server.hasUuid && { uuid: ['cast-uuid'] }),
  };
  return {
    specialOf: (type) => special[type],
    columnSql: (type, schema, values) => mysqlType(server, type, schema, values),
    enumType: (_, __, ___, values) => ({ sql: `enum(${values.map(quote).join(',')})`, before: [] }),
    arrayType() {
      throw invalidPayload('The database has no arrays: take json, or csv for a list of texts.');
    },
    computedDefault: mysqlComputed,
    expressionDefault: (expression) => `(${expression})`,
    defaultLiteral: (type, text) => mysqlLiteral(server, type, text),
    ...tableChanges(server),
    ...columnChanges(server),
    ...keyChanges,
    ...rowChanges,
  };
}

function tableChanges(server: MysqlKind) {
  return {
    tableName: (schema, name) => (schema === 'public' ? tick(name) : `${tick(schema)}.${tick(name)}`),
    column: printColumn,
    createTable({ table, columns, key, comment }, location) {
      const parts = [
        ...(columns ?? ['`id` int NOT NULL AUTO_INCREMENT PRIMARY KEY']),
        ...(key.length > 0 ? [`PRIMARY KEY (${key.map(tick).join(', ')})`] : []),
      ];
      const options = [
        // Texts that differ in anything are never equal, as in the platform's own tables.
        tableOptions(server.isMariadb ? 'mariadb' : 'mysql'),
        ...(comment === null ? [] : [`COMMENT = ${quote(comment)}`]),
      ];
      return [
        { kind: 'create', table, definition: `(\n  ${parts.join(',\n  ')}\n) ${options.join(' ')}`, place: location },
      ];
    },
    dropTable: (table, location) => [
      refuseInViews(table, null, location),
      { kind: 'drop', table: ticked(table), place: location },
    ],
    isEmpty: (table, condition) =>
      `SELECT NOT EXISTS (SELECT 1 FROM ${ticked(table)}${condition === undefined ? '' : ` WHERE ${condition.replace(/^"(?:[^"]|"")*"/, ticked)}`})`,
    addColumn(table, column, location) {
      const [, name = ''] = /^(`(?:[^`]|``)*`)/.exec(column) ?? [];
      const part = { kind: 'do', sql: `ADD COLUMN ${column}`, undo: `DROP COLUMN ${name}` } as const;
      return [{ kind: 'alter', table: ticked(table), part, place: location }];
    },
    commentNew: () => [],
    dropColumn(model, found) {
      const relation = findRelationOf(model, found);
      const uniques = (found.descriptor.constraints ?? []).filter(
        ({ type, fields, incomplete }) =>
          type === 'unique' && (fields.length > 1 || incomplete === true) && fields.includes(found.field),
      );
      return [
        refuseInViews(found.descriptor.table, found.column.column, base(found).place),
        ...(relation === undefined ? [] : [dropKey(found, relation.name, relation.key)]),
        // Without the column they would go on for the other ones.
        ...uniques.map(({ name }) => alter(found, `DROP INDEX ${tick(name)}`, null)),
        alter(found, `DROP COLUMN ${ticked(found.column.column)}`, null),
      ];
    },
    dropEnums: () => [],
  } satisfies Partial<ModelSql>;
}

/** Refuses to drop what a view shows: these servers would keep a view that fails from then on. */
function refuseInViews(table: string, column: string | null, location: ModelPlace): ModelStep {
  const [name = '', database] = namesIn(table).toReversed();
  const prefix = database === undefined ? `REPLACE(DATABASE(), '\`', '\`\`')` : quote(tick(database).slice(1, -1));
  // Servers keep definitions with the database of each table, and the table or its alias before each column.
  const shown = [
    `LOCATE(CONCAT('\`', ${prefix}, ${quote(`\`.${tick(name)}`)}), v.VIEW_DEFINITION) > 0`,
    ...(column === null ? [] : [`LOCATE(${quote(`.${ticked(column)}`)}, v.VIEW_DEFINITION) > 0`]),
  ];
  const sql = `SELECT NOT EXISTS (SELECT 1 FROM information_schema.VIEWS AS v WHERE ${shown.join(' AND ')})`;
  const message = dependedOn(location.field ?? location.collection);
  return { kind: 'check', sql, place: location, refusal: new PlatformError('UNPROCESSABLE_ENTITY', message) };
}

function columnChanges(server: MysqlKind) {
  return {
    addValues: (found, values) => [modify(found, (now) => ({ ...now, type: enumLike(now.type, values) }))],
    setType: (found, type) => retyped(server, found, type),
    setDefault: (found, backfill) => [
      // The clock has as many digits as its column.
      modify(found, (now) => ({
        ...now,
        default:
          backfill?.replace(/^CURRENT_TIMESTAMP\(6\)$/, `CURRENT_TIMESTAMP${/\(\d\)/.exec(now.type)?.[0] ?? ''}`) ??
          null,
      })),
    ],
    setRequired: (found, required) => [modify(found, (now) => ({ ...now, nullable: !required }))],
    addUnique(found) {
      const [table = ''] = namesIn(found.descriptor.table).slice(-1);
      const [column = ''] = namesIn(found.column.column);
      const index = tick(madeName([table, column], 'key'));
      return [alter(found, `ADD UNIQUE INDEX ${index} (${tick(column)})`, `DROP INDEX ${index}`)];
    },
    dropUnique: (found, name) => [
      alter(found, `DROP INDEX ${tick(name)}`, `ADD UNIQUE INDEX ${tick(name)} (${ticked(found.column.column)})`),
    ],
    setComment: (found, comment) => [
      modify(found, (now) => ({ ...now, comment: comment === null ? null : quote(comment) })),
    ],
  } satisfies Partial<ModelSql>;
}

const keyChanges = {
  addForeignKey(found, names, key) {
    refuseElsewhere(found, key);
    const index = madeName(names, 'idx');
    return [
      {
        ...base(found),
        part: {
          kind: 'do',
          sql: `ADD INDEX ${tick(index)} (${key.on.map(({ from }) => ticked(from)).join(', ')})`,
          undo: `DROP INDEX ${tick(index)}`,
          makesIndex: index,
        },
      },
      addKey(found, madeName(names, 'fkey'), key),
    ];
  },
  replaceForeignKey(found, name, key, before) {
    // Two keys of one name cannot follow upon each other in one statement.
    const next = name.endsWith('_fkey') ? name.replace(/_fkey$/, '_fk') : madeName([name.replace(/_fk$/, '')], 'fkey');
    return [dropKey(found, name, before), addKey(found, next, key)];
  },
  dropForeignKey: (found, name, before) => [dropKey(found, name, before)],
} satisfies Partial<ModelSql>;

const rowChanges = rowStatements({
  // The schema may be quoted in either way.
  table: (schema, table) => (schema === '' ? table : `${ticked(schema)}.${table}`),
  name: tick,
  text: quote,
  json: (value) => quote(JSON.stringify(value)),
  overwrite: (_, columns) => `ON DUPLICATE KEY UPDATE ${columns.map((name) => `${name} = VALUES(${name})`).join(', ')}`,
});

function printColumn({ name, sql, counts, valueSource: backfill, required, unique, comment }: NewColumn): string {
  return [
    `${tick(name)} ${sql}`,
    required || counts ? 'NOT NULL' : 'NULL',
    ...(counts ? ['AUTO_INCREMENT'] : []),
    ...(backfill === null ? [] : [`DEFAULT ${backfill}`]),
    ...(unique ? ['UNIQUE'] : []),
    ...(comment === null ? [] : [`COMMENT ${quote(comment)}`]),
  ].join(' ');
}

function base({ collection, field, descriptor }: FoundMember) {
  return { kind: 'alter', table: ticked(descriptor.table), place: { collection, field } } as const;
}

function alter(found: FoundMember, sql: string, undo: string | null): ModelStep {
  return { ...base(found), part: { kind: 'do', sql, undo } };
}

function modify(found: FoundColumn, to: Extract<AlterPart, { kind: 'modify' }>['to']): ModelStep {
  return { ...base(found), part: { kind: 'modify', column: ticked(found.column.column), to, whole: withTexts(found) } };
}

function addKey(found: FoundMember, name: string, key: NewForeignKey): ModelStep {
  return alter(found, keySql(name, key), `DROP FOREIGN KEY ${tick(name)}`);
}

function dropKey(found: FoundMember, name: string, before: NewForeignKey | undefined): ModelStep {
  const undo = before === undefined ? null : keySql(name, before);
  return { ...base(found), part: { kind: 'do', sql: `DROP FOREIGN KEY ${tick(name)}`, undo, dropsKey: name } };
}

function keySql(name: string, { target, on, onUpdate, onDelete }: NewForeignKey) {
  if (onDelete === 'SET DEFAULT' || onUpdate === 'SET DEFAULT') {
    throw invalidPayload('The database does not set defaults where what a key leads to goes: take another action.');
  }
  const [from, to] = [on.map((pair) => ticked(pair.from)), on.map((pair) => ticked(pair.to))];
  return (
    `ADD CONSTRAINT ${tick(name)} FOREIGN KEY (${from.join(', ')})\n` +
    `REFERENCES ${ticked(target)} (${to.join(', ')}) ON UPDATE ${onUpdate} ON DELETE ${onDelete}`
  );
}

/** A name without its database is one of the database of the table, not of the connection. */
function refuseElsewhere({ descriptor }: FoundMember, { target }: NewForeignKey): void {
  if (namesIn(descriptor.table).length === 1 || namesIn(target).length > 1) return;
  throw invalidPayload('A relation does not lead from another database into the one of the connection.');
}
