import {
  createScript,
  each,
  generateKey,
  proveCommit,
  requireRow,
  returnRows,
  run,
} from '../../../database/own-statements.ts';
import type { SystemPlace } from '../../../system/place.ts';
import { accountColumns, fromRows, type OwnSpelling, type OwnStatements, type OwnTables } from '../../own-tables.ts';
import { mysqlCounters, mysqlMailedTokens, mysqlSecondFactors, mysqlSessions } from './accounts.ts';
import { mysqlLog } from './log-changes.ts';
import { mysqlModel } from './model.ts';
import { type MysqlTables, mysqlAfter, mysqlTables, mysqlWrittenTurn } from './tables.ts';

export function mysqlOwnTables(location: SystemPlace): OwnTables {
  const tables = mysqlTables(location);
  return {
    ...expressionsIn(tables),
    ...statementsOf(tables),
    get statements() {
      return statementsIn(tables, location.schema);
    },
  };
}

function expressionsIn({ table, list, exactly, text }: MysqlTables) {
  return {
    table,
    parameter: () => '?',
    text: (expression) => `CAST(${expression} AS CHAR)`,
    flag: (predicate) => `ELT((${predicate}) + 1, 'false', 'true')`,
    boolean: (parameter) => `(${parameter} = 'true')`,
    same: (left, right) => `${left} <=> ${right}`,
    now: 'NOW(6)',
    shifted: (count, unit) => `NOW(6) + INTERVAL ${count} ${unit}`,
    after: mysqlAfter,
    milliseconds: (instant) => `CAST(CAST(UNIX_TIMESTAMP(${instant}) * 1000 AS SIGNED) AS CHAR)`,
    iso: (instant) => `DATE_FORMAT(${instant}, '%Y-%m-%dT%H:%i:%sZ')`,
    sha256: (parameter) => `UNHEX(SHA2(${parameter}, 256))`,
    hex: (bytes) => `LOWER(HEX(${bytes}))`,
    unhex: (parameter) => `UNHEX(${parameter})`,
    object: (members) =>
      `JSON_OBJECT(${Object.entries(members)
        .map(([name, value]) => `'${name}', ${value}`)
        .join(', ')})`,
    array: (expression) => `CONCAT('{', GROUP_CONCAT(${expression}), '}')`,
    key: (expression) => `CAST(${expression} AS CHAR(36))`,
    exactly,
    fromNothing: ' FROM DUAL',
    list: (parameter, _, alias) => list(`${parameter}[]`, alias),
    records: (parameter, columns, alias) => {
      const type = text('VARCHAR(255)');
      const declared = columns.map((name) => `${name} ${type} PATH '$.${name}'`);
      return `JSON_TABLE(${parameter}, '$[*]' COLUMNS (${declared.join(', ')})) AS ${alias}`;
    },
    isAmong: (value, parameter) => `${value} IN (SELECT among.v FROM ${list(`${parameter}[]`, 'among')})`,
    among: (name, alias, column = 'id', parameter = '$1') => ({
      target: `${table(name)} AS ${alias}`,
      alias,
      joined: { from: list(`${parameter}[]`, 'k'), on: `${alias}.${column} = k.v` },
    }),
    hasEmail: (alias, parameter) => `${alias}.email_key = ${parameter}:email`,
  } satisfies Partial<OwnSpelling>;
}

function statementsOf(tables: MysqlTables) {
  const { table, lock } = tables;
  return {
    lock,
    update: ({ target, alias, joined, where }, assignments) => {
      const set = Object.entries(assignments).map(([column, value]) => `${alias}.${column} = ${value}`);
      const tail = where === undefined ? '' : ` WHERE ${where}`;
      return `UPDATE ${target}${joined ? ` JOIN ${joined.from} ON ${joined.on}` : ''} SET ${set.join(', ')}${tail}`;
    },
    remove: (rows) => `DELETE ${rows.alias}${fromRows(rows)}`,
    rows: (sql) => createScript(returnRows(sql)),
    write: (sql) => createScript(requireRow(sql)),
    both: (first, then) => createScript(first, requireRow(then)),
    writeReturning: (rows, columns, sql) =>
      createScript(returnRows(`SELECT ${["'1'", ...columns].join(', ')}${fromRows(rows)}${lock(rows.alias)}`), sql),
    insertOnce: (into, _, values) => createScript(requireRow(`INSERT IGNORE INTO ${into} VALUES (${values})`)),
    purge: ({ table: swept, where, by, limit }) =>
      createScript(`DELETE FROM ${swept} WHERE ${where} ORDER BY ${by} LIMIT ${limit}`),
    // A process that takes a row has until its next time to be done with it.
    claimDue: (name, alias, columns) =>
      createScript(
        requireRow(
          `SELECT CAST(id AS CHAR) FROM ${table(name)} WHERE due_at <= NOW(6) ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED`,
          ['id'],
        ),
        `UPDATE ${table(name)} SET due_at = NOW(6) + INTERVAL LEAST(60, POW(2, LEAST(attempts, 10))) MINUTE,
  attempts = attempts + 1 WHERE id = $id`,
        returnRows(`SELECT ${["'1'", ...columns].join(', ')} FROM ${table(name)} AS ${alias} WHERE ${alias}.id = $id`),
      ),
    turn: (name) => mysqlWrittenTurn(tables, name),
  } satisfies Partial<OwnSpelling>;
}

function statementsIn(tables: MysqlTables, schema: string): OwnStatements {
  const { table, list } = tables;
  const users = table('platform_users');
  const comments = table('platform_comments');
  const keys = table('platform_idempotency_keys');
  const named = 'caller = $1 AND "key" = $2';
  return {
    get sessions() {
      return mysqlSessions(tables, accountColumns(expressionsIn(tables)));
    },
    get mailedTokens() {
      return mysqlMailedTokens(tables);
    },
    get secondFactors() {
      return mysqlSecondFactors(tables);
    },
    counters: (maxPurged) => mysqlCounters(tables, maxPurged),
    ...userStatements(tables),
    takeKey: createScript(
      `DELETE FROM ${keys} WHERE ${named} AND expires_at <= NOW(6)`,
      requireRow(`INSERT IGNORE INTO ${keys} (caller, "key", request_hash, expires_at)
VALUES ($1, $2, UNHEX($3), ${mysqlAfter('$4')})`),
    ),
    // Another request under the key, after this one, would be another row: it expires at another time.
    proveKey: createScript(proveCommit(`SELECT 1 FROM ${keys} WHERE ${named} AND expires_at = $3`)),
    // One by one: for several rows at once the server does not tell which got which number.
    recordComments: createScript(
      each(
        1,
        run(
          `INSERT INTO ${table('platform_activity')} (action, "user", ip, user_agent, origin, collection, item, comment)
SELECT 'comment', $2, LEFT($3, 50), LEFT($4, 255), LEFT($5, 255), collection, item, comment
FROM ${comments} WHERE id = $each`,
          ['ran', 'found', 'number'],
        ),
        `UPDATE ${comments} SET user_created = $2, activity = $number WHERE id = $each`,
      ),
    ),
    foreignEmails: {
      find: createScript(
        returnRows(`SELECT CAST(u.id AS CHAR), u.email FROM ${users} AS u JOIN ${list('$1[]', 'k')} ON u.id = k.v
WHERE LENGTH(u.email) <> CHAR_LENGTH(u.email)`),
      ),
      write: createScript(`UPDATE ${users} SET email_normal_of = $2, email_normal = $2:email WHERE id = $1`),
    },
    log: mysqlLog(tables),
    takesActions: createScript(
      returnRows(`SELECT '1' FROM information_schema.CHECK_CONSTRAINTS
WHERE CONSTRAINT_SCHEMA = ${schema === '' ? 'DATABASE()' : textLiteral(schema)}
  AND CONSTRAINT_NAME = 'platform_activity_action_check' AND CHECK_CLAUSE LIKE '%archive%'`),
    ),
    model: mysqlModel(tables, schema),
  };
}

function textLiteral(quoted: string): string {
  return `'${quoted.replace(/^"|"$/g, '').replaceAll('""', '"').replaceAll("'", "''")}'`;
}

function userStatements(tables: MysqlTables) {
  const users = tables.table('platform_users');
  const roles = tables.table('platform_roles');
  const insertUser = (role: string): string =>
    `INSERT INTO ${users} (id, email, email_normal_of, email_normal, password, role) SELECT $id, $1, $1, $1:email, $2, ${role} FROM DUAL`;
  return {
    firstUser: {
      lock: mysqlWrittenTurn(tables, "'platform.first-administrator'"),
      // A role with admin access is taken where there is one, and made where there is none.
      insert: createScript(
        requireRow(`SELECT '1' FROM DUAL WHERE NOT EXISTS (SELECT 1 FROM ${users})`),
        generateKey('role'),
        `INSERT INTO ${roles} (id, name, icon, description, admin_access)
SELECT $role, 'admin', 'verified', 'May do everything.', 1 FROM DUAL
WHERE NOT EXISTS (SELECT 1 FROM ${roles} WHERE admin_access)`,
        requireRow(
          `SELECT CAST(id AS CHAR) FROM ${roles} WHERE admin_access ORDER BY name = 'admin' DESC, name, id LIMIT 1`,
          ['role'],
        ),
        generateKey('id'),
        insertUser('$role'),
      ),
    },
    addUser: createScript(
      generateKey('id'),
      requireRow(`${insertUser('$3')} WHERE NOT EXISTS (SELECT 1 FROM ${users} WHERE email_key = $1:email)`),
    ),
  } satisfies Partial<OwnStatements>;
}
