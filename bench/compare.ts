/** Whether both servers answer the same, because only then a comparison of their speed says something. */
import type { GraphqlQuestion } from './graphql-scenarios.ts';
import type { Question } from './scenarios.ts';
import { uniqueText } from './write-scenarios.ts';

/** Asks both servers some of the questions; throws with the first one they answer differently. */
export async function compareAnswers(
  compiledUrl: string,
  handwrittenUrl: string,
  questions: readonly Question[],
): Promise<void> {
  for (const { compiled, handwritten } of questions) {
    const [ours, theirs] = await Promise.all([
      readAnswer(`${compiledUrl}${compiled}`),
      readAnswer(`${handwrittenUrl}${handwritten}`),
    ]);
    if (ours !== theirs) throw new Error(`The answers to ${compiled} differ:\n${ours}\n${theirs}`);
  }
}

/** The same with questions that write, as lines: both servers write, so what the database numbers and dates differs. */
export async function compareWrites(
  compiledUrl: string,
  handwrittenUrl: string,
  questions: readonly Question[],
): Promise<void> {
  for (const { compiled, handwritten } of questions) {
    const ours = await writeAnswer(compiledUrl, compiled);
    const theirs = await writeAnswer(handwrittenUrl, handwritten);
    if (ours !== theirs) throw new Error(`The answers to ${compiled} differ:\n${ours}\n${theirs}`);
  }
}

/** The same with documents as lines, whose data is also that of the answer over REST. */
export async function compareDocuments(
  compiledUrl: string,
  handwrittenUrl: string,
  questions: readonly GraphqlQuestion[],
): Promise<void> {
  for (const { compiled, handwritten, rest } of questions) {
    const ours = await documentAnswer(compiledUrl, compiled);
    const others = [await documentAnswer(handwrittenUrl, handwritten), await dataOf(`${compiledUrl}${rest}`)];
    const other = others.find((answer) => answer !== ours);
    if (other !== undefined) throw new Error(`The answers to ${compiled} differ:\n${ours}\n${other}`);
  }
}

/** The value of the only root field. */
async function documentAnswer(url: string, line: string): Promise<string> {
  const [method = '', path = '', ...rest] = line.split(' ');
  const headers = { 'content-type': 'application/json' };
  const answer = JSON.parse(await readAnswer(`${url}${path}`, { method, headers, body: rest.join(' ') }));
  if (Object.keys(answer).join() !== 'data') throw new Error(`${line} failed: ${JSON.stringify(answer)}`);
  return JSON.stringify(Object.values(answer.data)[0]);
}

async function dataOf(url: string): Promise<string> {
  return JSON.stringify(JSON.parse(await readAnswer(url)).data);
}

async function writeAnswer(url: string, line: string): Promise<string> {
  const [method = '', path = '', ...rest] = line.split(' ');
  const body = rest.join(' ').replace(uniqueText, crypto.randomUUID());
  const headers = { 'content-type': 'application/json' };
  return (await readAnswer(`${url}${path}`, { method, headers, body })).replace(givenByDatabase, '');
}

/** Keys and times of new rows, and the text that no other request has, on the lines of `readAnswer`. */
const givenByDatabase = /^ *"(?:id|created_at|slug)": .*\n/gm;

async function readAnswer(url: string, request: RequestInit = {}): Promise<string> {
  const response = await fetch(url, request);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${url} answered ${response.status}: ${text}`);
  return JSON.stringify(sorted(JSON.parse(text)), null, 1);
}

/** The order of keys means nothing, and points in time may be spelled in different zones and precisions. */
function sorted(value: unknown): unknown {
  if (typeof value === 'string') return instantPattern.test(value) ? new Date(value).toISOString() : value;
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, sorted(inner)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

const instantPattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|\+00:00)$/;
