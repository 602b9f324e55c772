/** The bench of GraphQL: the same questions over REST and by a document, with variables and with the values in its text. */
import { isDeepStrictEqual } from 'node:util';
import { driveOwn, type Effort } from './load.ts';
import { readConsumption } from './processes.ts';
import { itemFields, listFields } from './scenarios.ts';
import { type Stage, setStage } from './stage.ts';
import { median } from './statistics.ts';

/** What the command line says. */
export interface GraphqlOptions {
  readonly rounds: number;
  readonly effort: Effort;
}

/** Requests per second by GraphQL against those over REST that the project sets out to reach. */
const leastShare = 0.85;

/** One kind of request: addresses, and the same as variables of one document. */
interface Scenario {
  readonly name: string;
  readonly document: string;
  readonly questions: readonly { readonly path: string; readonly variables: object }[];
}

const newest = 'sort: ["-published_at", "-id"]';

function listScenarios(articles: readonly string[]): readonly Scenario[] {
  const offsets = Array.from({ length: 20 }, (_, offset) => offset);
  const select = (fields: string): string =>
    fields.replace('author_id', 'author_id { id }').replace('category_id', 'category_id { id }').replaceAll(',', ' ');
  const byKey = itemFields.replace('author_id', 'author_id.id').replace('category_id', 'category_id.id');
  const list = listFields.replace(',author_id', '');
  const nested =
    'id,title,published_at,author_id.id,author_id.name,comments.id,comments.body,comments.created_at,tags.name';
  const filter = 'filter[status][_eq]=published&sort=-published_at,-id';
  return [
    {
      name: 'by-key',
      document: `query ($id: ID!) { articles_by_id(id: $id) { ${select(itemFields)} } }`,
      questions: articles.map((id) => ({ path: `/items/articles/${id}?fields=${byKey}`, variables: { id } })),
    },
    {
      name: 'list',
      document: `query ($s: String, $o: Int) { articles(filter: { status: { _eq: $s } }, ${newest}, limit: 100, offset: $o) { ${select(list)} } }`,
      questions: offsets.map((o) => ({
        path: `/items/articles?fields=${list}&${filter}&limit=100&offset=${o}`,
        variables: { s: 'published', o },
      })),
    },
    {
      name: 'nested',
      document: `query ($o: Int) { articles(filter: { status: { _eq: "published" } }, ${newest}, limit: 20, offset: $o) { id title published_at author_id { id name } comments(sort: ["-created_at", "-id"], limit: 5) { id body created_at } tags { name } } }`,
      questions: offsets.map((o) => ({
        path: `/items/articles?fields=${nested}&${filter}&limit=20&offset=${o}&deep[comments][_limit]=5&deep[comments][_sort]=-created_at,-id`,
        variables: { o },
      })),
    },
  ];
}

/** Measures and prints; the notes on the way go to the standard error. */
export async function benchGraphql({ rounds, effort }: GraphqlOptions): Promise<void> {
  const stage = await setStage((text) => process.stderr.write(`${text} …\n`));
  try {
    process.stdout.write('scenario        REST/s  GraphQL/s   ratio   REST µs  GraphQL µs\n');
    for (const scenario of listScenarios(stage.keys.articles)) await measure(stage, scenario, rounds, effort);
  } finally {
    await stage.close();
  }
}

async function measure(
  stage: Stage,
  { name, document, questions }: Scenario,
  rounds: number,
  effort: Effort,
): Promise<void> {
  const { url, pid } = stage.open;
  await compare(url, document, questions.slice(0, 10));
  const paths = questions.map(({ path }) => path);
  const asked = questions.map(({ variables }) => `POST /graphql ${JSON.stringify({ query: document, variables })}`);
  const results: { readonly rest: Rate; readonly graphql: Rate }[] = [];
  for (let round = 0; round < rounds; round++) {
    results.push({ rest: await load(url, pid, paths, effort), graphql: await load(url, pid, asked, effort) });
  }
  const of = (take: (result: (typeof results)[number]) => number): number => median(results.map(take));
  const ratio = of(({ rest, graphql }) => graphql.perSecond / rest.perSecond);
  const columns = [
    of(({ rest }) => rest.perSecond)
      .toFixed(0)
      .padStart(8),
    of(({ graphql }) => graphql.perSecond)
      .toFixed(0)
      .padStart(10),
    ratio.toFixed(2).padStart(7),
    of(({ rest }) => rest.micros)
      .toFixed(0)
      .padStart(9),
    of(({ graphql }) => graphql.micros)
      .toFixed(0)
      .padStart(11),
  ];
  const verdict = ratio >= leastShare ? 'reached' : `below ${leastShare}`;
  process.stdout.write(`${name.padEnd(14)}${columns.join(' ')}   ${verdict}\n`);
}

interface Rate {
  readonly perSecond: number;
  /** Processor time of the server per request, in microseconds. */
  readonly micros: number;
}

async function load(url: string, pid: number, lines: readonly string[], effort: Effort): Promise<Rate> {
  const before = readConsumption(pid)?.cpuMicros ?? 0;
  const { requests, errors, seconds } = await driveOwn(url, lines, effort);
  const after = readConsumption(pid)?.cpuMicros ?? 0;
  if (errors > 0) throw new Error(`${errors} requests failed, such as ${lines[0]}.`);
  return { perSecond: requests / seconds, micros: (after - before) / requests };
}

/** Both have to give the same items. */
async function compare(url: string, query: string, questions: Scenario['questions']): Promise<void> {
  for (const { path, variables } of questions) {
    const rest = dataOf(await (await fetch(url + path)).json());
    const body = JSON.stringify({ query, variables });
    const headers = { 'content-type': 'application/json' };
    const asked = await fetch(`${url}/graphql`, { method: 'POST', headers, body });
    const [value] = Object.values(dataOf(await asked.json()) ?? {});
    if (!isDeepStrictEqual(value, rest)) throw new Error(`${path} answers something else by ${query}.`);
  }
}

function dataOf(answer: unknown): object | null {
  if (typeof answer !== 'object' || answer === null || !('data' in answer)) return null;
  return typeof answer.data === 'object' ? answer.data : null;
}
