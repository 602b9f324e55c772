/**
 * Chooses the way of statements that have several: row by row, or for a whole page at once.
 *
 * The first costs less where rows have few links, others where they have many, and neither the request nor the statistics
 * of the database tell. So the time that a statement took decides. All give the same answer, so a wrong choice costs time only.
 */
import type { Chosen, ServerState } from '../../database/connection-seams.ts';
import { createNote, type Parameter, type Statement } from '../../database/database.ts';
import { orderBy } from '../../dialects/fragment.ts';
import type { Selected } from '../../query/authorise/selection.ts';
import type { ReadQuery } from '../../query/plan/plan.ts';
import { createPage, outerOrder } from '../../query/plan/plan-page.ts';
import { hidden, nameOf, type ReadParts, type ReadPass } from '../../query/plan/plan-read.ts';
import { answerList, printSelection } from '../../query/plan/plan-selection.ts';
import type { PageOfRows } from '../../sql/page-links.ts';

/** Runs of a statement by one way. */
interface Runs {
  count: number;
  /** Milliseconds of the last ones, the newest at the end. */
  readonly recent: number[];
  /** A quarter of these took less. */
  lowMs: number;
  /** Their average without the longest tenth. */
  averageMs: number;
  /** Least `lowMs` so far, which grows where later ones are longer: other work makes times longer only, but data changes. */
  leastMs: number;
  /** Timed runs by all ways, and their milliseconds, when this one was last taken. */
  last: Pick<Times, 'count' | 'spentMs'>;
}

interface Times {
  /** The statement's own way first; undefined before the first run. */
  readonly ways: (Runs | undefined)[];
  /** Timed runs by all ways, and their milliseconds. */
  count: number;
  spentMs: number;
  /** Rows of the tables when the ways were last tried because of them; empty before they are known. */
  statistics: readonly number[];
}

/**
 * A statement of which a quarter of the runs take less, in milliseconds, has too few links for another way to be worth it.
 * Other work on the machine makes many runs in a row longer, but hardly all of them.
 */
const slowMs = 1;
/** From such an average on, in milliseconds, averages decide: other work adds little to them, and few pages may cost most. */
const heavyMs = 5;
/** Runs before another way is tried: more of a statement that other work may have made slow. */
const firstRuns = { heavy: 8, light: 24 };
/** Runs of another way: one may have waited for something else. */
const triedRuns = 3;
/** Rows up to which their number makes no other plan. */
const fewRows = 100;
/** Runs that a time is made of. */
const recentRuns = 64;
/** Growth of a least time with each `recentRuns` later ones that took longer, and with each try in vain. */
const growth = 1.15;
/**
 * Another way is not tried again at once where it takes so many times as long. One run counts less: the first prepares the
 * statement as well, and any may have waited for other work.
 */
const hopeless = { once: 8, twice: 2 };
/**
 * A slower way is tried again after so many runs, because data changes. They have to have taken so many times as long as
 * it loses. So tries of a way add 0.33 % at most, and 0.5 % to statements that other work may have made slow.
 */
const betweenTries = 32;
const worthATry = { heavy: 300, light: 200 };
/** Lists, and statements of all lists, whose times are remembered; those that came first are forgotten first. */
const maxRemembered = 1_000;
/** Timed runs after which a list goes by times of its own. Before it goes by those of all lists of its statement. */
const ownRuns = 8;
/** Characters of values that name a list: those of longer ones have no times of their own. */
const maxValues = 256;

/** Remembers the times of statements by each of their ways. */
export class AdaptivePlans {
  readonly #times = new Map<string, Times>();
  /** The same of lists by their values; pages of one list share them. */
  readonly #lists = new Map<string, Times>();
  readonly #state: ServerState;

  constructor(state: ServerState) {
    this.#state = state;
  }

  chooseFor(statement: Statement, parameters: readonly Parameter[] = []): Chosen {
    const others = otherWays.of(statement);
    if (others === undefined) return { statement };
    const { name, bounds } = pageFamily.of(statement) ?? { name: statement.name, bounds: [] };
    const isTimed = this.#state.isCalm();
    // Statements that have always been quick, nearly all of them, need no name for their values.
    const list = this.#times.has(name) ? nameList(name, parameters, bounds) : undefined;
    const listTimes = list === undefined ? undefined : this.#lists.get(list);
    const isKnown = listTimes !== undefined && listTimes.count >= ownRuns;
    const way = this.#choose(isKnown ? listTimes : this.#times.get(name), others, isTimed);
    const took = (ms: number): void => {
      if (!this.#state.isCalm()) return;
      note(this.#times, name, way, ms);
      if (list !== undefined) note(this.#lists, list, way, ms);
    };
    const { merges, ...other } = others[way - 1] ?? {};
    const chosen = way === 0 ? statement : this.#state.planForMany({ ...statement, ...other }, merges);
    return { statement: chosen, ...(isTimed && { took }) };
  }

  /** The way of a statement's next run, by its name: 0 for its own, then those of the others from 1. */
  choose(name: string, others: readonly OtherWay[]): number {
    return this.#choose(this.#times.get(name), others, true);
  }

  #choose(times: Times | undefined, others: readonly OtherWay[], isTimed: boolean): number {
    const byRow = times?.ways[0];
    if (times === undefined || byRow === undefined) return 0;
    const isHeavy = byRow.averageMs >= heavyMs;
    if (byRow.count < (isHeavy ? firstRuns.heavy : firstRuns.light)) return 0;
    const msOf = (way: number): number => {
      const runs = times.ways[way];
      return (isHeavy ? runs?.averageMs : runs?.leastMs) ?? Number.POSITIVE_INFINITY;
    };
    const facts = others.map(({ whole }) => (whole === undefined ? undefined : this.#state.factsOf(whole)));
    const ways = [0, ...facts.flatMap((fact, index) => (fact?.areSmall === false ? [] : [index + 1]))];
    renew(
      times,
      facts.flatMap((fact) => fact?.statistics ?? []),
    );
    const best = ways.reduce((left, right) => (msOf(right) < msOf(left) ? right : left));
    const isQuick = !isHeavy && byRow.leastMs < slowMs;
    return isTimed && !isQuick ? (nextTry(times, ways, best, msOf) ?? best) : best;
  }

  /** Takes what a run took, in milliseconds. */
  note(name: string, way: number, ms: number): void {
    note(this.#times, name, way, ms);
  }
}

/** The way that is worth a try now; undefined where the best one so far is to run. */
function nextTry(
  times: Times,
  ways: readonly number[],
  best: number,
  msOf: (way: number) => number,
): number | undefined {
  const isPromising = (way: number): boolean => {
    const { count = 0 } = times.ways[way] ?? {};
    return count === 0 || msOf(way) < msOf(best) * (count === 1 ? hopeless.once : hopeless.twice);
  };
  const untried = ways.find((way) => (times.ways[way]?.count ?? 0) < triedRuns && isPromising(way));
  if (untried !== undefined) return untried;
  // One that was quicker is tried sooner: its time may have risen while the machine was busy.
  const wasQuicker = (way: number): boolean => (times.ways[way]?.leastMs ?? 0) < msOf(best) && msOf(best) < heavyMs;
  const lostBy = (way: number): number => (wasQuicker(way) ? 0 : msOf(way) - msOf(best));
  const due = ways.find((way) => way !== best && isDue(times, way, lostBy(way)));
  const runs = due === undefined ? undefined : times.ways[due];
  // Its older runs may have been with other data. The last one stays, since the new one may be at a busy time.
  if (runs !== undefined) {
    runs.recent.splice(0, runs.recent.length - 1);
    runs.leastMs *= growth;
    runs.last = { count: times.count, spentMs: times.spentMs };
  }
  return due;
}

/** Has every way tried once more where the database has counted far other rows: it may plan each in another way now. */
function renew(times: Times, statistics: readonly number[]): void {
  const { statistics: before } = times;
  const isSame =
    before.length === statistics.length && statistics.every((rows, index) => areAlike(rows, before[index] ?? 0));
  if (statistics.length === 0 || isSame) return;
  times.statistics = statistics;
  if (before.length === 0) return;
  const last = { count: Number.NEGATIVE_INFINITY, spentMs: Number.NEGATIVE_INFINITY };
  for (const runs of times.ways) if (runs !== undefined) runs.last = last;
}

/** True for numbers of rows of which none is twice the other: autovacuum may count a few more each minute. */
function areAlike(left: number, right: number): boolean {
  const [less, more] = [Math.min(left, right), Math.max(left, right)];
  return more < 2 * Math.max(less, fewRows);
}

/** Adds a run. Statements that have always been quick row by row, nearly all of them, are not remembered. */
function note(all: Map<string, Times>, name: string, way: number, ms: number): void {
  const earlier = all.get(name);
  if (earlier === undefined && way === 0 && ms < slowMs) return;
  const times = earlier ?? { ways: [], count: 0, spentMs: 0, statistics: [] };
  times.count++;
  times.spentMs += ms;
  const runs = times.ways[way] ?? createRuns();
  addRun(runs, ms);
  runs.last = { count: times.count, spentMs: times.spentMs };
  times.ways[way] = runs;
  if (earlier !== undefined) return;
  all.set(name, times);
  const [first] = all.keys();
  if (all.size > maxRemembered && first !== undefined) all.delete(first);
}

function createRuns(): Runs {
  const last = { count: 0, spentMs: 0 };
  return { count: 0, recent: [], lowMs: 0, averageMs: 0, leastMs: Number.POSITIVE_INFINITY, last };
}

function addRun(runs: Runs, ms: number): void {
  const { recent } = runs;
  if (recent.length === recentRuns) recent.shift();
  recent.push(ms);
  runs.count++;
  // Once there are many, one more changes little.
  if (recent.length === recentRuns && runs.count % 8 !== 0) return;
  const sorted = recent.toSorted((left, right) => left - right);
  const kept = sorted.slice(0, Math.max(1, Math.floor(sorted.length * 0.9)));
  runs.lowMs = sorted[Math.floor(sorted.length / 4)] ?? ms;
  const grows = sorted.length < recentRuns || runs.count % recentRuns === 0 ? growth : 1;
  runs.leastMs = Math.min(runs.leastMs * grows, runs.lowMs);
  runs.averageMs = kept.reduce((sum, each) => sum + each, 0) / kept.length;
}

/** Names a list by the values of its filters and rules; undefined where there are none, or long ones. */
function nameList(name: string, parameters: readonly Parameter[], bounds: readonly number[]): string | undefined {
  const values = parameters.filter((_, position) => !bounds.includes(position)).join('\0');
  return values === '' || values.length > maxValues ? undefined : `${name} ${values}`;
}

/** True if a way that loses so many milliseconds is worth another try. */
function isDue({ count, spentMs, ways }: Times, way: number, lostMs: number): boolean {
  const last = ways[way]?.last ?? { count: 0, spentMs: 0 };
  const worth = (ways[0]?.averageMs ?? 0) < heavyMs ? worthATry.light : worthATry.heavy;
  return count - last.count >= betweenTries && spentMs - last.spentMs >= lostMs * worth;
}

/** A text that gives the same answer as a statement's own with the same parameters, under a name of its own. */
export interface OtherWay {
  readonly name: string;
  readonly text: string;
  /** Tables that it may read as a whole, as SQL names them: it is for small ones only. */
  readonly whole?: readonly string[];
  /** True if it joins rows in order, and not by hashes: the database expects hashes to take less where they take more. */
  readonly merges?: true;
}

/** Other texts of a statement, of which one may cost less where it takes long. */
export const otherWays = createNote<readonly OtherWay[]>('other ways');

/** Statements that differ by the page they read: times of the ways of one hold for all. */
interface PageFamily {
  readonly name: string;
  /** Positions of the parameters that choose the page. */
  readonly bounds: readonly number[];
}
export const pageFamily = createNote<PageFamily>('family of pages');

/** Adds the other texts to pages of rows with links. */
export const planOtherWays: ReadPass = (plan, { query, parts, renumber }) => {
  const { meta, singleton, selector, streamed, selection, source } = query;
  const isPage = selector === 'list' && !streamed && !singleton && meta.length === 0 && source === undefined;
  const followsLinks = parts.row.statement.dialect.looksUp && selection.parts.some(readsThroughLinks);
  const ways = isPage && followsLinks ? printForLinks(query, parts) : [];
  const others = ways.flatMap((way): OtherWay[] => {
    const text = renumber(way.text);
    if (text === undefined) return [];
    const name = nameOf(text);
    // The same text has other plans under other names.
    return [{ ...way, name, text }, ...(way.whole ? [{ ...way, name: `${name}_m`, text, merges: true } as const] : [])];
  });
  if (others.length === 0) return plan;
  const [first = ''] = ways.map(({ text }) => text);
  const bounds = renumber(`${first}\n${parts.bounds}`)?.split('\n').at(-1) ?? '';
  const positions = [...bounds.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number) - 1);
  const family = { name: nameOf(withoutOffset(first, parts.bounds)), bounds: positions };
  return { ...plan, statement: pageFamily.on(otherWays.on(plan.statement, others), family) };
};

/** The text of the first page, whose rows take as long as those of others. Parameters have other numbers there. */
function withoutOffset(text: string, bounds: string): string {
  return text.replace(bounds, bounds.replace(/ OFFSET .*/, '')).replaceAll(/\$\d+/g, '$');
}

function printForLinks(query: ReadQuery, parts: ReadParts): readonly Omit<OtherWay, 'name'>[] {
  const byKeys = printPageOfLinks(query, parts, 'keys');
  const whole = byKeys && printPageOfLinks(query, parts, 'whole');
  return [...(byKeys ? [{ text: byKeys.text }] : []), ...(whole ? [whole] : [])];
}

/** The same in one way, with the tables of targets; undefined where nothing is followed for all rows. */
function printPageOfLinks(
  query: ReadQuery,
  { row, listed, order, bounds }: ReadParts,
  targets: PageOfRows['targets'],
): Required<Pick<OtherWay, 'text' | 'whole'>> | undefined {
  const { selection, nested } = query;
  const rows = createPage(row);
  const outer = outerOrder(rows, order);
  const page: PageOfRows = { name: row.statement.alias(), row: rows.row, targets, tables: [], queries: [], joins: [] };
  const { expressions, fields } = printSelection(rows.row, selection, { ...nested, page });
  if (page.queries.length === 0) return undefined;
  const columns = answerList(row.statement, hidden(query, row, outer), expressions, fields);
  const source = `SELECT * FROM ${rows.print(() => listed.from, listed.predicate, order, bounds)}`;
  const queries = [`${page.name} AS MATERIALIZED (${source})`, ...page.queries].join(', ');
  const list = `SELECT ${columns} FROM ${page.name} ${rows.alias}${page.joins.join('')}${orderBy(outer)}`;
  return { text: `WITH ${queries} ${list}`, whole: page.tables };
}

function readsThroughLinks(part: Selected): boolean {
  const isList = part.kind === 'keys' || part.kind === 'nested' || part.kind === 'aggregate';
  return isList && part.relation.descriptor.kind === 'm2m';
}
