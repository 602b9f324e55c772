/** Orders with lines, written under load: what was acknowledged must be there, once and as a whole. */
import { setTimeout as sleep } from 'node:timers/promises';
import { withMysql } from '../support/mariadb.ts';
import { createProject, type Platform, runPlatform, startUnchecked } from '../support/platform.ts';
import { withClient } from '../support/postgres.ts';
import { installMysqlSystem, installSystem } from '../support/system.ts';

/** A project of orders that is generated. */
export interface OrdersProject {
  start(environment: Readonly<Record<string, string>>): Promise<Platform>;
  remove(): Promise<void>;
}

/** Makes the tables in the database of a server, and generates the API. */
export async function createOrders(url: string): Promise<OrdersProject> {
  await installTables(url);
  const project = await createProject();
  const { code, stderr } = await runPlatform(['generate', '--project', project.folder], { DATABASE_URL: url });
  if (code !== 0) throw new Error(stderr);
  return {
    start: ({ DATABASE_URL: database = url, ...environment }) =>
      startUnchecked(project.folder, database, environment, []),
    remove: project.remove,
  };
}

async function installTables(url: string): Promise<void> {
  if (url.startsWith('postgres')) {
    await installSystem(url);
    await withClient(url, (client) =>
      client.query(`CREATE TABLE orders (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, ref text NOT NULL);
        CREATE TABLE lines (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, n integer, "order" integer REFERENCES orders);
        CREATE INDEX ON lines ("order")`),
    );
    return;
  }
  await installMysqlSystem(url);
  await withMysql(url, (connection) =>
    connection.query(`CREATE TABLE orders (id integer AUTO_INCREMENT PRIMARY KEY, ref varchar(80) NOT NULL);
      CREATE TABLE \`lines\` (id integer AUTO_INCREMENT PRIMARY KEY, n integer, \`order\` integer,
        FOREIGN KEY (\`order\`) REFERENCES orders (id))`),
  );
}

/** Writers that go on until they are stopped. */
export interface Writers {
  /** References of the orders that were acknowledged. */
  readonly acknowledged: ReadonlySet<string>;
  /** Longest time that a request took, in milliseconds. */
  readonly slowest: number;
  /** When one was acknowledged after a time. */
  firstAfter(time: number): number | undefined;
  stop(): Promise<void>;
}

/**
 * Begins to write orders, each with two lines. Half of the writers do so under a key, again and again until it is
 * acknowledged; the others have no key, and go on with the next order.
 */
export function startWriters(server: Platform, count: number, prefix: string): Writers {
  const acknowledged = new Map<string, number>();
  let isOver = false;
  let slowest = 0;
  const send = async (ref: string, headers: Readonly<Record<string, string>>): Promise<number> => {
    const begun = performance.now();
    const body = { ref, lines: [{ n: 1 }, { n: 2 }] };
    const { status } = await server.admin('/items/orders?fields=id', { method: 'POST', body, headers });
    slowest = Math.max(slowest, performance.now() - begun);
    if (status === 200) acknowledged.set(ref, performance.now());
    else if (status !== 503) throw new Error(`An order was answered with ${status}.`);
    return status;
  };
  const write = async (writer: number): Promise<void> => {
    for (let number = 0; !isOver; number++) {
      const ref = `${prefix.replaceAll(/\W/g, '-')}-${writer}-${number}`;
      const isKeyed = writer % 2 === 0;
      while (!isOver && (await send(ref, isKeyed ? { 'idempotency-key': ref } : {})) === 503) {
        await sleep(50);
        if (!isKeyed) break;
      }
    }
  };
  const writing = Promise.all(Array.from({ length: count }, (_, writer) => write(writer)));
  // Told by `stop`, unless the run has failed before.
  writing.catch(() => {});
  return {
    get acknowledged() {
      return new Set(acknowledged.keys());
    },
    get slowest() {
      return slowest;
    },
    firstAfter: (time) => [...acknowledged.values()].find((at) => at > time),
    async stop() {
      isOver = true;
      await writing;
    },
  };
}

interface WrittenOrder {
  readonly ref: string;
  readonly lines: number;
}

/** Orders that are lost, written twice, or without their lines. */
export async function examineOrders(url: string, acknowledged: ReadonlySet<string>) {
  const rows = await ordersOn(url);
  const written = rows.filter(({ ref }) => /-\d+-\d+$/.test(ref));
  const refs = written.map(({ ref }) => ref);
  const stored = new Set(refs);
  return {
    lost: [...acknowledged].filter((ref) => !stored.has(ref)).length,
    twice: refs.length - stored.size,
    partial: written.filter(({ lines }) => lines !== 2).length,
  };
}

async function ordersOn(url: string): Promise<readonly WrittenOrder[]> {
  if (url.startsWith('postgres')) {
    const sql = `SELECT o.ref, count(l.id)::int AS lines FROM orders o LEFT JOIN lines l ON l."order" = o.id GROUP BY o.id`;
    return withClient(url, async (client) => (await client.query<WrittenOrder>(sql)).rows);
  }
  return withMysql(url, async (connection) => {
    const [rows] = await connection.query(
      'SELECT o.ref, COUNT(l.id) AS `lines` FROM orders o LEFT JOIN `lines` l ON l.`order` = o.id GROUP BY o.id, o.ref',
    );
    // The columns that the statement names.
    return rows as WrittenOrder[];
  });
}
