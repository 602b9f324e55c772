/** Orders with lines, written under load: what was acknowledged must be there, once and as a whole. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createProject, type Platform, runPlatform, startUnchecked } from '../support/platform.ts';
import { withClient } from '../support/postgres.ts';
import { installSystem } from '../support/system.ts';

/** A project of orders that is generated. */
export interface OrdersProject {
  start(environment: Readonly<Record<string, string>>): Promise<Platform>;
  remove(): Promise<void>;
}

/** Makes the tables in the database of a server, and generates the API. */
export async function createOrders(url: string): Promise<OrdersProject> {
  await installSystem(url);
  await withClient(url, (client) =>
    client.query(`CREATE TABLE orders (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, ref text NOT NULL);
      CREATE TABLE lines (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, n integer, "order" integer REFERENCES orders);
      CREATE INDEX ON lines ("order")`),
  );
  const project = await createProject();
  const { code, stderr } = await runPlatform(['generate', '--project', project.folder], { DATABASE_URL: url });
  if (code !== 0) throw new Error(stderr);
  return {
    start: ({ DATABASE_URL: database = url, ...environment }) =>
      startUnchecked(project.folder, database, environment, []),
    remove: project.remove,
  };
}

/** Writers that go on until they are stopped. */
export interface Writers {
  /** References of the orders that were acknowledged. */
  readonly acknowledged: ReadonlySet<string>;
  /** When one was acknowledged after a time. */
  firstAfter(time: number): number | undefined;
  stop(): Promise<void>;
}

const readRows = `SELECT o.ref, count(l.id)::int AS lines FROM orders o LEFT JOIN lines l ON l."order" = o.id GROUP BY o.id`;

/** Begins to write orders, each with two lines and under a key, again and again until it is acknowledged. */
export function startWriters(server: Platform, count: number, prefix: string): Writers {
  const acknowledged = new Map<string, number>();
  let isOver = false;
  const write = async (writer: number): Promise<void> => {
    for (let number = 0; !isOver; number++) {
      const ref = `${prefix.replaceAll(/\W/g, '-')}-${writer}-${number}`;
      const body = { ref, lines: [{ n: 1 }, { n: 2 }] };
      for (let status = 503; status === 503 && !isOver; ) {
        const headers = { 'idempotency-key': ref };
        ({ status } = await server.admin('/items/orders?fields=id', { method: 'POST', body, headers }));
        if (status === 200) acknowledged.set(ref, performance.now());
        else if (status === 503) await sleep(50);
        else throw new Error(`An order was answered with ${status}.`);
      }
    }
  };
  const writing = Promise.all(Array.from({ length: count }, (_, writer) => write(writer)));
  return {
    get acknowledged() {
      return new Set(acknowledged.keys());
    },
    firstAfter: (time) => [...acknowledged.values()].find((at) => at > time),
    async stop() {
      isOver = true;
      await writing;
    },
  };
}

/** Orders that are lost, written twice, or without their lines. */
export async function examineOrders(url: string, acknowledged: ReadonlySet<string>) {
  const { rows } = await withClient(url, (client) => client.query<{ ref: string; lines: number }>(readRows));
  const written = rows.filter(({ ref }) => /-\d+-\d+$/.test(ref));
  const refs = written.map(({ ref }) => ref);
  const stored = new Set(refs);
  return {
    lost: [...acknowledged].filter((ref) => !stored.has(ref)).length,
    twice: refs.length - stored.size,
    partial: written.filter(({ lines }) => lines !== 2).length,
  };
}
