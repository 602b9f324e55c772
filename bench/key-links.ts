/**
 * The bench of links: processor time of server and database where a write names a related item by its key, by an object with
 * nothing but the key, and by that object over GraphQL. The three forms are sent by turns to one server.
 */
import { drive } from './drive.ts';
import type { Effort } from './load.ts';
import { readConsumption } from './processes.ts';
import type { Keys } from './scenarios.ts';
import { type Stage, setStage } from './stage.ts';
import { median, ratio } from './statistics.ts';

/** Options of the command line. */
export interface KeyLinksOptions {
  readonly rounds: number;
  readonly effort: Effort;
}

/** A write in its three forms: lines as `bench/drive.ts` reads them. */
interface LinkScenario {
  readonly name: string;
  readonly forms: readonly (readonly string[])[];
}

const formNames = ['by key', 'by object', 'over GraphQL'];
const warmUps = 2;
const batch = 20;
const fields = ['id', 'author_name', 'author_email', 'body', 'created_at'];
const body = 'What a reader has to say about this, in a sentence or two. '.repeat(3);

/** Measures and prints; the notes on the way go to the standard error. */
export async function benchKeyLinks({ rounds, effort }: KeyLinksOptions): Promise<void> {
  const stage = await setStage(say);
  try {
    for (const { name, forms } of listScenarios(stage.keys)) {
      const micros = await measure(stage, forms, rounds, effort);
      const totals = micros.map((form) => form.map(({ server, database }) => server + database));
      const cells = micros.map((form, index) => {
        const [server, database] = [
          median(form.map((round) => round.server)),
          median(form.map((round) => round.database)),
        ];
        const times = ratio(totals[index] ?? [], totals[0] ?? []);
        return `${formNames[index]} ${server.toFixed(0)} + ${database.toFixed(0)} µs (${times.toFixed(2)})`;
      });
      process.stdout.write(`${name}: ${cells.join(', ')}\n`);
    }
  } finally {
    await stage.close();
  }
}

/** Processor time of a request, in microseconds. */
interface Round {
  readonly server: number;
  readonly database: number;
}

async function measure(
  { open, databasePid = 0 }: Stage,
  forms: LinkScenario['forms'],
  rounds: number,
  effort: Effort,
): Promise<readonly (readonly Round[])[]> {
  const micros = forms.map((): Round[] => []);
  const timeOf = (pid: number): number => readConsumption(pid)?.cpuMicros ?? 0;
  for (let round = -warmUps; round < rounds; round++) {
    for (const [index, lines] of forms.entries()) {
      const [server, database] = [timeOf(open.pid), timeOf(databasePid)];
      const seconds = round < 0 ? effort.seconds * 3 : effort.seconds;
      const { requests, errors } = await drive({ ...effort, url: open.url, lines, seconds });
      if (errors > 0) throw new Error(`${errors} requests failed.`);
      if (round < 0) continue;
      const used = { server: timeOf(open.pid) - server, database: timeOf(databasePid) - database };
      micros[index]?.push({ server: used.server / requests, database: used.database / requests });
    }
  }
  return micros;
}

function listScenarios({ articles }: Keys): readonly LinkScenario[] {
  const keys = articles.slice(0, 1_000).map(Number);
  const comment = (article: unknown) => ({ author_name: 'Ann Reader', body, article_id: article });
  const asKey = (id: number): unknown => id;
  const asObject = (id: number): unknown => ({ id });
  const several = (first: number, link: typeof asKey) =>
    Array.from({ length: batch }, (_, index) => comment(link(keys[(first + index) % keys.length] ?? 1)));
  const rest = (method: string, path: (index: number) => string, read: string, payload: (id: number) => unknown) =>
    keys.map((id, index) => `${method} /items/comments${path(index)}?fields=${read} ${JSON.stringify(payload(id))}`);
  const graphql = (query: string, variables: (id: number, index: number) => unknown) =>
    keys.map((id, index) => `POST /graphql ${JSON.stringify({ query, variables: variables(id, index) })}`);
  const selection = fields.join(' ');
  const own = fields.join();
  const withArticle = 'id,body,article_id.id,article_id.title';
  const none = () => '';
  const one = (index: number) => `/${index + 1}`;
  return [
    {
      name: 'create',
      forms: [
        rest('POST', none, own, (id) => comment(asKey(id))),
        rest('POST', none, own, (id) => comment(asObject(id))),
        graphql(
          `mutation Add($data: create_comments_input!) { create_comments_item(data: $data) { ${selection} } }`,
          (id) => ({ data: comment(asObject(id)) }),
        ),
      ],
    },
    {
      name: `create of ${batch}`,
      forms: [
        rest('POST', none, own, (id) => several(id, asKey)),
        rest('POST', none, own, (id) => several(id, asObject)),
        graphql(
          `mutation Add($data: [create_comments_input!]) { create_comments_items(data: $data) { ${selection} } }`,
          (id) => ({ data: several(id, asObject) }),
        ),
      ],
    },
    {
      name: 'update',
      forms: [
        rest('PATCH', one, own, (id) => ({ article_id: asKey(id) })),
        rest('PATCH', one, own, (id) => ({ article_id: asObject(id) })),
        graphql(
          `mutation Set($id: ID!, $data: update_comments_input!) { update_comments_item(id: $id, data: $data) { ${selection} } }`,
          (id, index) => ({ id: index + 1, data: { article_id: asObject(id) } }),
        ),
      ],
    },
    {
      name: 'create, answered with the linked item',
      forms: [
        rest('POST', none, withArticle, (id) => comment(asKey(id))),
        rest('POST', none, withArticle, (id) => comment(asObject(id))),
        graphql(
          'mutation Add($data: create_comments_input!) { create_comments_item(data: $data) { id body article_id { id title } } }',
          (id) => ({ data: comment(asObject(id)) }),
        ),
      ],
    },
  ];
}

function say(text: string): void {
  process.stderr.write(`… ${text}\n`);
}
