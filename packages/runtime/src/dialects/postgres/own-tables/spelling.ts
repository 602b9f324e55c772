import { ownStatement } from '../../../database/own-statements.ts';
import { logChanges } from '../../../system/log-changes.ts';
import { transactionNumber } from '../../fragment.ts';
import {
  accountColumns,
  type CounterStatements,
  type OwnSpelling,
  type OwnStatements,
  type OwnTables,
  type Rows,
} from '../../own-tables.ts';
import { postgresMailedTokens, postgresSecondFactors, postgresSessions } from './accounts.ts';
import { postgresModel, transactionTurn } from './model.ts';

const now = 'pg_catalog.statement_timestamp()';

export function postgresTables(schema: string): OwnTables {
  const table = (name: string): string => `${schema}.${name}`;
  const spelling: OwnSpelling = { ...expressionsIn(schema, table), ...statementsOf(table) };
  return {
    ...spelling,
    get statements() {
      return statementsIn(schema, spelling);
    },
  };
}

function expressionsIn(schema: string, table: OwnSpelling['table']) {
  const normal = (email: string): string => `${schema}.platform_normal_email(${email})`;
  return {
    table,
    parameter: (typed) => typed,
    text: (expression) => `${expression}::pg_catalog.text`,
    flag: (predicate) => `(${predicate})::pg_catalog.text`,
    boolean: (parameter) => `${parameter}::pg_catalog.bool`,
    same: (left, right) => `${left} IS NOT DISTINCT FROM ${right}`,
    now,
    shifted: (count, unit) => `${now} + '${count} ${unit}'::pg_catalog.interval`,
    after: (parameter) => `${now} + ${parameter}::pg_catalog.interval`,
    milliseconds: (instant) => `(EXTRACT(EPOCH FROM ${instant}) * 1000)::pg_catalog.int8::pg_catalog.text`,
    iso: (instant) => `pg_catalog.to_char(${instant} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`,
    sha256: (parameter) => `pg_catalog.sha256(pg_catalog.convert_to(${parameter}::pg_catalog.text, 'UTF8'))`,
    hex: (bytes) => `pg_catalog.encode(${bytes}, 'hex')`,
    unhex: (parameter) => `pg_catalog.decode(${parameter}::pg_catalog.text, 'hex')`,
    object: (members) =>
      `pg_catalog.jsonb_build_object(${Object.entries(members)
        .map(([name, value]) => `'${name}', ${value}::pg_catalog.text`)
        .join(', ')})`,
    array: (expression) => `pg_catalog.array_agg(${expression})::pg_catalog.text`,
    key: (expression) => expression,
    exactly: (expression) => expression,
    fromNothing: '',
    list: (parameter, type, alias) => `pg_catalog.unnest(${parameter}::${type}[]) AS ${alias}(v)`,
    records: (parameter, columns, alias) =>
      `pg_catalog.json_to_recordset(${parameter}::json) AS ${alias}(${columns.map((name) => `${name} text`).join(', ')})`,
    isAmong: (value, parameter, type) => `${value} = ANY (${parameter}::${type}[])`,
    among: (name, alias, column = 'id', parameter = '$1', type = 'uuid') => ({
      target: `${table(name)} AS ${alias}`,
      alias,
      where: `${alias}.${column} = ANY (${parameter}::${type}[])`,
    }),
    hasEmail: (alias, parameter) => `${normal(`${alias}.email`)} = ${normal(`${parameter}::pg_catalog.text`)}`,
  } satisfies Partial<OwnSpelling>;
}

function statementsOf(table: OwnSpelling['table']) {
  const write = (sql: string): string => `${sql} RETURNING ${transactionNumber}`;
  return {
    lock: (alias, strength = 'UPDATE') => ` FOR ${strength} OF ${alias}`,
    update: ({ target, joined, where }, assignments) => {
      const set = Object.entries(assignments).map(([column, value]) => `${column} = ${value}`);
      return `UPDATE ${target} SET ${set.join(', ')}${joined ? ` FROM ${joined.from}` : ''}${found(joined, where)}`;
    },
    remove: ({ target, joined, where }) =>
      `DELETE FROM ${target}${joined ? ` USING ${joined.from}` : ''}${found(joined, where)}`,
    rows: (sql) => sql,
    write,
    both: (first, then) => `WITH first AS (${first}) ${write(then)}`,
    writeReturning: (_, columns, sql) => `${sql} RETURNING ${[transactionNumber, ...columns].join(', ')}`,
    insertOnce: (into, key, values) => write(`INSERT INTO ${into} SELECT ${values} ON CONFLICT (${key}) DO NOTHING`),
    purge: ({
      table: swept,
      key,
      where,
      by,
      limit,
    }) => `DELETE FROM ${swept} WHERE (${key}) IN (SELECT ${key} FROM ${swept}
WHERE ${where} ORDER BY ${by} LIMIT ${limit} FOR UPDATE SKIP LOCKED)`,
    // A process that takes a row has until its next time to be done with it.
    claimDue: (name, alias, columns) => `UPDATE ${table(name)} AS ${alias} SET attempts = attempts + 1,
  due_at = ${now} + LEAST(60, 2 ^ LEAST(attempts, 10)) * pg_catalog.interval '1 minute'
WHERE id = (SELECT id FROM ${table(name)} WHERE due_at <= ${now} ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING ${[transactionNumber, ...columns].join(', ')}`,
    turn: transactionTurn,
  } satisfies Partial<OwnSpelling>;
}

function found(joined: Rows['joined'], where: string | undefined): string {
  const predicates = [joined?.on, where].filter((predicate) => predicate !== undefined);
  return predicates.length === 0 ? '' : ` WHERE ${predicates.join(' AND ')}`;
}

function statementsIn(schema: string, spelling: OwnSpelling): OwnStatements {
  const comments = `${schema}.platform_comments`;
  const activity = `pg_catalog.nextval('${schema.replaceAll("'", "''")}.platform_activity_id_seq'::pg_catalog.regclass)`;
  return {
    get sessions() {
      return postgresSessions(schema, accountColumns(spelling));
    },
    get mailedTokens() {
      return postgresMailedTokens(schema);
    },
    get secondFactors() {
      return postgresSecondFactors(schema);
    },
    counters: (maxPurged) => postgresCounters(schema, maxPurged),
    ...userStatements(schema, spelling),
    // An expired answer is replaced. A request that waited for another transaction finds the row of that one, or none.
    takeKey: `INSERT INTO ${schema}.platform_idempotency_keys AS k (caller, key, request_hash, expires_at)
VALUES ($1::text, $2::text, pg_catalog.decode($3::text, 'hex'), ${now} + $4::pg_catalog.interval)
ON CONFLICT (caller, key) DO UPDATE SET request_hash = excluded.request_hash, status = NULL, content_type = NULL,
  body = NULL, created_at = excluded.created_at, expires_at = excluded.expires_at
WHERE k.expires_at <= ${now}
RETURNING ${transactionNumber}`,
    proveKey: `SELECT '1' FROM ${schema}.platform_idempotency_keys
WHERE caller = $1::text AND key = $2::text AND expires_at = $3::timestamptz`,
    recordComments: `WITH made AS MATERIALIZED (
  SELECT id, collection, item, comment, ${activity}::integer AS activity FROM ${comments} WHERE id = ANY ($1::uuid[])
), logged AS (
  INSERT INTO ${schema}.platform_activity (id, action, "user", ip, user_agent, origin, collection, item, comment)
  SELECT activity, 'comment', $2::uuid, pg_catalog."left"($3::text, 50), pg_catalog."left"($4::text, 255),
    pg_catalog."left"($5::text, 255), collection, item, comment FROM made
)
UPDATE ${comments} AS c SET user_created = $2::uuid, activity = made.activity FROM made WHERE c.id = made.id
RETURNING ${transactionNumber}`,
    foreignEmails: null,
    takesActions: `SELECT '1' FROM pg_catalog.pg_constraint
WHERE conrelid = '${schema.replaceAll("'", "''")}.platform_activity'::pg_catalog.regclass
  AND conname = 'platform_activity_action_check' AND pg_catalog.pg_get_constraintdef(oid) LIKE '%archive%'`,
    model: postgresModel(schema),
    log(transaction, origin, changes) {
      const { text, parameters } = logChanges(schema, origin, changes);
      transaction.run(ownStatement(text), parameters, { row: () => {} }).catch(() => {});
      return undefined;
    },
  };
}

function userStatements(schema: string, { hasEmail }: OwnSpelling) {
  const users = `${schema}.platform_users`;
  const roles = `${schema}.platform_roles`;
  return {
    firstUser: {
      lock: `LOCK TABLE ${users} IN SHARE ROW EXCLUSIVE MODE`,
      // A role with admin access is taken where there is one, and made where there is none.
      insert: `WITH found AS (
  SELECT id FROM ${roles} WHERE admin_access ORDER BY name = 'admin' DESC, name, id LIMIT 1
), made AS (
  INSERT INTO ${roles} (name, icon, description, admin_access)
  SELECT 'admin', 'verified', 'May do everything.', true
  WHERE NOT EXISTS (SELECT FROM found) AND NOT EXISTS (SELECT FROM ${users})
  RETURNING id
)
INSERT INTO ${users} (email, password, role)
SELECT $1::text, $2::text, id FROM (SELECT id FROM found UNION ALL SELECT id FROM made) AS role
WHERE NOT EXISTS (SELECT FROM ${users})
RETURNING ${transactionNumber}`,
    },
    addUser: `INSERT INTO ${users} (email, password, role) SELECT $1::text, $2::text, $3::uuid
WHERE NOT EXISTS (SELECT FROM ${users} AS u WHERE ${hasEmail('u', '$1')}) RETURNING id::text`,
  } satisfies Partial<OwnStatements>;
}

function postgresCounters(schema: string, maxPurged: number): CounterStatements {
  const table = `${schema}.platform_auth_attempts`;
  const now = 'pg_catalog.statement_timestamp()';
  // Parts are separated by a character that no part contains, so that no two counters share a hash.
  const parts = `COALESCE(${schema}.platform_normal_email(w.email), ''), COALESCE(w."user", ''), COALESCE(w.client, '')`;
  const subject = `pg_catalog.sha256(pg_catalog.convert_to(pg_catalog.concat_ws(pg_catalog.chr(1), ${parts}), 'UTF8'))`;
  const requested = `WITH wanted AS MATERIALIZED (
  SELECT DISTINCT ON (w.purpose, subject) w.purpose, ${subject} AS subject, w."window", w.last
  FROM pg_catalog.json_to_recordset($1::json)
    AS w(purpose text, email text, "user" text, client text, "window" pg_catalog.int8, last json)
  ORDER BY w.purpose, subject
)`;
  const ms = (count: string): string => `(${count}) * pg_catalog.interval '1 millisecond'`;
  const left = `pg_catalog.ceil(EXTRACT(epoch FROM a.expires_at - ${now}) * 1000)`;
  const counts = `pg_catalog.json_agg(pg_catalog.json_build_array(a.purpose, a.attempts, ${left}))::pg_catalog.text`;
  const same = 'a.purpose = w.purpose AND a.subject = w.subject';
  const number = 'pg_catalog.pg_current_xact_id()::pg_catalog.text';
  const attempts = `CASE WHEN a.expires_at <= ${now} THEN 1 ELSE LEAST(a.attempts, 1000000000) + 1 END`;
  return {
    input: (counters) => JSON.stringify(counters),
    read: `${requested} SELECT ${counts} FROM wanted AS w JOIN ${table} AS a ON ${same} WHERE a.expires_at > ${now}`,
    // The same order everywhere, so that transactions cannot deadlock.
    count: `${requested}, a AS (
  INSERT INTO ${table} AS a (purpose, subject, attempts, expires_at)
  SELECT w.purpose, w.subject, 1, ${now} + ${ms('w."window"')} FROM wanted AS w ORDER BY w.purpose, w.subject
  ON CONFLICT (purpose, subject) DO UPDATE SET attempts = ${attempts}, expires_at = COALESCE(
    (SELECT ${now} + ${ms(`(w.last->>'window')::pg_catalog.int8`)} FROM wanted AS w
      WHERE ${same} AND (w.last->>'attempts')::pg_catalog.int4 <= ${attempts}),
    CASE WHEN a.expires_at <= ${now} THEN excluded.expires_at ELSE a.expires_at END)
  RETURNING a.purpose, a.attempts, a.expires_at
) SELECT ${counts}, ${number} FROM a`,
    giveBack: `${requested}, a AS (
  UPDATE ${table} AS a SET attempts = GREATEST(a.attempts - 1, 0) FROM wanted AS w WHERE ${same}
  RETURNING a.purpose, a.attempts, a.expires_at
) SELECT ${counts}, ${number} FROM a`,
    clear: `${requested}, a AS (
  DELETE FROM ${table} AS a USING wanted AS w WHERE ${same} RETURNING a.purpose, a.attempts, a.expires_at
) SELECT ${counts}, ${number} FROM a`,
    purge: `DELETE FROM ${table} WHERE (purpose, subject) IN (SELECT purpose, subject FROM ${table}
WHERE expires_at <= ${now} ORDER BY expires_at LIMIT ${maxPurged} FOR UPDATE SKIP LOCKED)`,
  };
}
