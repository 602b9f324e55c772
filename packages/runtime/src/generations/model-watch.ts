/**
 * Keeps what a server serves equal to the roles and rules in the tables: what its own requests write is compiled before
 * they commit, what other processes and people have written is found by looking. Source: API specification, section 12.4.
 */
import {
  type CompiledApi,
  modelLock,
  mysqlPermissionRowsSql,
  mysqlRoleRowsSql,
  permissionRowsSql,
  roleRowsSql,
} from '../contract/index.ts';
import type { Database, Transaction } from '../database/database.ts';
import type { Listener } from '../database/postgres/listen.ts';
import type { OwnSql } from '../database/script.ts';
import { describeCause, type Log } from '../http/log.ts';
import type { ModelChanges, ModelCollection } from '../resources/model-warden.ts';
import { byFamily, type MysqlTables, mysqlTurn, type SystemPlace, transactionLock } from '../system/place.ts';
import { allRows } from '../write/own-rows.ts';
import { failedValidation } from '../write/problems.ts';
import type { ModelRows, Recompiler } from './recompile.ts';

/** What it works with. */
export interface ModelWatchOptions {
  readonly database: Pick<Database, 'query' | 'transaction'>;
  readonly place: SystemPlace;
  readonly recompiler: Recompiler;
  /** The API that is served. */
  readonly current: () => CompiledApi;
  /** Serves another one; resolves when new requests are answered by it. */
  readonly swap: (api: CompiledApi) => Promise<void>;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
  /** Hears of changes that other processes tell of on `modelChannel`. Default: nothing is heard, only looked for. */
  readonly listen?: (heard: () => void) => Listener;
}

/** Watches the tables. */
export interface ModelWatch {
  readonly changes: ModelChanges;
  /** Looks whether the tables say otherwise than what is served, and serves what they say. Never rejects. */
  look(): Promise<void>;
  /** Looks from now on every two seconds, and whenever the database tells of a change. */
  start(): void;
  stop(): Promise<void>;
}

/** Milliseconds between two looks: others follow within five seconds, and compiling takes a part of that. */
const lookEvery = 2_000;

/** Channel on which a process tells the others that it has changed the model. */
export const modelChannel = 'platform_model';

const tellSql = "SELECT pg_catalog.pg_notify($1::pg_catalog.text, '')::pg_catalog.text";

/** Makes a watch that has not looked yet. */
export function createModelWatch(options: ModelWatchOptions): ModelWatch {
  const { database, place, recompiler, current, swap, log, listen } = options;
  const texts = byFamily(place, { postgres: postgresStatements, mysql: mysqlStatements });
  const compiled = new WeakMap<Transaction, Numbered>();
  let compilations = 0;
  let served = 0;
  /** What was compiled last, whether or not it is served by now. */
  let latest: Numbered | null = null;
  /** What the tables were like when they last said what is served, or what cannot be. */
  let known: string | null = null;
  let looking: Promise<void> | null = null;
  let again = false;
  let timer: NodeJS.Timeout | undefined;
  let listener: Listener | undefined;
  let stopped = false;

  async function compileIn(transaction: Transaction): Promise<Numbered | readonly string[]> {
    const roles = await allRows(transaction, texts.roles, []);
    const rows = { roles, rules: await allRows(transaction, texts.rules, []) };
    // Numbered under the lock, so that the latest state of the tables has the highest number.
    compilations += 1;
    const number = compilations;
    const result = await recompiler.compile(rows);
    if ('problems' in result) return result.problems;
    latest = { number, api: result.api };
    return latest;
  }

  /** What was compiled of an earlier state of the tables is not served after a later one. */
  async function serve({ number, api }: Numbered): Promise<void> {
    if (stopped || number <= served) return;
    served = number;
    const start = performance.now();
    try {
      await swap(api);
    } catch (error) {
      served = number - 1;
      throw error;
    }
    log.info({ milliseconds: Math.round(performance.now() - start) }, 'A generation of the API was replaced.');
  }

  async function lookOnce(): Promise<void> {
    const [mark = null] = (await database.query(texts.mark, []))[0] ?? [];
    if (stopped || (mark !== null && mark === known)) return;
    const rows: ModelRows = {
      roles: await database.query(texts.roles, []),
      rules: await database.query(texts.rules, []),
    };
    const digest = recompiler.digest(rows);
    if (latest !== null && latest.api.permissionsDigest === digest) {
      // A request has compiled it, and is about to serve it as well.
      await serve(latest);
    } else if (digest !== current().permissionsDigest) {
      const made = await database.transaction(async (transaction) => {
        await allRows(transaction, texts.lock, [modelLock]);
        return { value: await compileIn(transaction) };
      });
      if ('api' in made) await serve(made);
      else log.error({ problems: made }, 'The tables hold roles or rules that do not compile. What is served stays.');
    }
    known = mark;
  }

  async function lookAll(): Promise<void> {
    do {
      again = false;
      await lookOnce().catch((error: unknown) => {
        if (!stopped) log.warn({ cause: describeCause(error) }, 'Nobody knows whether the rules have changed.');
      });
    } while (again && !stopped);
  }

  function look(): Promise<void> {
    again = looking !== null;
    looking ??= lookAll().finally(() => {
      looking = null;
    });
    return looking;
  }

  function lookInRhythm(): void {
    timer = setTimeout(() => void look().finally(() => stopped || lookInRhythm()), lookEvery).unref();
  }

  return {
    changes: {
      refusalOf: () => null,
      begin: async (transaction) => void (await allRows(transaction, texts.lock, [modelLock])),
      async compile(transaction, collection) {
        const made = await compileIn(transaction);
        if (!('api' in made)) throw refusal(collection, made);
        compiled.set(transaction, made);
        if (texts.tell !== null) await allRows(transaction, texts.tell, [modelChannel]);
      },
      committed(transaction) {
        const made = compiled.get(transaction);
        return made === undefined ? undefined : serve(made);
      },
    },
    look,
    start() {
      lookInRhythm();
      // A process hears itself, too, just before it serves what it has compiled already.
      listener = listen?.(() => void setTimeout(() => void look(), 50).unref());
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await listener?.close();
      await looking;
      await recompiler.close();
    },
  };
}

interface Numbered {
  readonly number: number;
  readonly api: CompiledApi;
}

interface Statements {
  readonly lock: OwnSql;
  readonly roles: string;
  readonly rules: string;
  readonly mark: string;
  /** Null where processes can tell each other nothing: then they look. */
  readonly tell: string | null;
}

function postgresStatements(schema: string): Statements {
  const [roles, rules] = [roleRowsSql(schema), permissionRowsSql(schema)];
  return { lock: transactionLock, roles, rules, mark: markOf(roles, rules), tell: tellSql };
}

function mysqlStatements(tables: MysqlTables): Statements {
  const names = [tables.table('platform_roles'), tables.table('platform_permissions')] as const;
  const [roles, rules] = [mysqlRoleRowsSql(names[0]), mysqlPermissionRowsSql(names[1])];
  const digest = (columns: readonly string[], table: string): string => {
    // A null is told from an empty text, and the length in front tells where one value ends.
    const values = columns.map((column) => `IFNULL(CONCAT(LENGTH(${column}), ':', ${column}), '~')`);
    return `(SELECT MD5(GROUP_CONCAT(CONCAT_WS(',', ${values.join(', ')}) ORDER BY id SEPARATOR '\\n')) FROM ${table})`;
  };
  const roleColumns = ['id', 'name', 'description', 'admin_access', 'app_access'];
  const ruleColumns = ['id', 'role', 'collection', 'action', 'permissions', 'validation', 'presets', 'fields'];
  const mark = `SELECT CONCAT_WS(' ', ${digest(roleColumns, names[0])}, ${digest(ruleColumns, names[1])})`;
  return { lock: mysqlTurn(tables), roles, rules, mark, tell: null };
}

/** One text that is another one whenever one of the rows is. */
function markOf(...statements: readonly string[]): string {
  const parts = statements.map(
    (text) => `(SELECT pg_catalog.md5(pg_catalog.string_agg(one::pg_catalog.text, E'\\n')) FROM (${text}) AS one)`,
  );
  return `SELECT pg_catalog.concat_ws(' ', ${parts.join(', ')})`;
}

/** Whoever wrote what does not compile is told why. */
function refusal(collection: ModelCollection, problems: readonly string[]) {
  const place = { collection, index: undefined };
  return failedValidation(place, null, 'compile', `does not compile: ${problems.join(' ')}`.replace(/\.$/, ''));
}
