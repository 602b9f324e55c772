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

interface Times {
  /** Milliseconds of the runs so far by each way, the statement's own first; undefined before the first. */
  readonly ms: (number | undefined)[];
  readonly runs: number[];
  /** Timed runs by all ways, and their milliseconds. */
  count: number;
  spentMs: number;
  /** The same when each way was last taken. */
  readonly last: (Pick<Times, 'count' | 'spentMs'> | undefined)[];
  /** Least time of a quick run row by row. */
  quickMs?: number;
}

/** Statements that take less, in milliseconds, have too few links for another way to be worth it. */
const slowMs = 1;
/** Runs in a row that take as long before another way is tried, and runs of that: one may have waited for something else. */
const slowRuns = 3;
/** Another way is not tried again at once where it takes so many times as long. */
const hopeless = 2;
/**
 * A slower way is tried again after so many runs, because data changes. They have to have taken so many times as long as
 * it loses, so that tries of a way add half a hundredth at most.
 */
const betweenTries = 32;
const worthATry = 200;
/**
 * Weight of a run that took longer than those before it. The chosen way runs more often than others, and meets more of
 * what makes it longer on a busy machine. With a large weight it would lose to ways that were tried at a good moment.
 */
const weight = 1 / 32;
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
    const isKnown = listTimes !== undefined && listTimes.runs.reduce((sum, runs) => sum + runs, 0) >= ownRuns;
    const way = this.#choose(isKnown ? listTimes : this.#times.get(name), others, isTimed);
    const took = (ms: number): void => {
      if (!this.#state.isCalm()) return;
      note(this.#times, name, way, ms);
      if (list !== undefined) note(this.#lists, list, way, ms, true);
    };
    const chosen = way === 0 ? statement : this.#state.planForMany({ ...statement, ...others[way - 1] });
    return { statement: chosen, ...(isTimed && { took }) };
  }

  /** The way of a statement's next run, by its name: 0 for its own, then those of the others from 1. */
  choose(name: string, others: readonly OtherWay[]): number {
    return this.#choose(this.#times.get(name), others, true);
  }

  #choose(times: Times | undefined, others: readonly OtherWay[], isTimed: boolean): number {
    if (times === undefined || (times.runs[0] ?? 0) < slowRuns) return 0;
    const isOpen = ({ whole }: OtherWay): boolean => whole === undefined || this.#state.areSmall(whole);
    const ways = [0, ...others.flatMap((other, index) => (isOpen(other) ? [index + 1] : []))];
    const msOf = (way: number): number => times.ms[way] ?? Number.POSITIVE_INFINITY;
    const best = ways.reduce((left, right) => (msOf(right) < msOf(left) ? right : left));
    if (!isTimed) return best;
    const isPromising = (way: number): boolean => (times.ms[way] ?? 0) < msOf(best) * hopeless;
    const untried = ways.find((way) => (times.runs[way] ?? 0) < slowRuns && isPromising(way));
    // Rows that were quick are tried sooner: their time may have risen while the machine was busy.
    const lostBy = (way: number): number => (isQuicker(times, way, msOf(best)) ? 0 : msOf(way) - msOf(best));
    const next = untried ?? ways.find((way) => way !== best && isDue(times, way, lostBy(way))) ?? best;
    times.count++;
    times.last[next] = { count: times.count, spentMs: times.spentMs };
    return next;
  }

  /**
   * Takes what a run took, in milliseconds. A quick run row by row has the next ones go that way, unless another is quicker.
   * The times of others are kept: statements about as quick would try slow ones again and again.
   */
  note(name: string, way: number, ms: number): void {
    note(this.#times, name, way, ms);
  }
}

/** Adds a run. Lists of values keep their quick times: their pages are alike, so that long runs in a row are chance. */
function note(all: Map<string, Times>, name: string, way: number, ms: number, keepsQuick = false): void {
  const before = all.get(name);
  const others = before?.ms.slice(1).filter((other) => other !== undefined) ?? [];
  if (way === 0 && ms < Math.min(slowMs, ...others)) {
    if (before === undefined) return;
    [before.runs[0], before.ms[0]] = [0, keepsQuick ? averaged(before.ms[0], ms) : undefined];
    if (keepsQuick) before.quickMs = Math.min(ms, before.quickMs ?? ms);
    return;
  }
  const times = before ?? { ms: [], runs: [], count: 0, spentMs: 0, last: [] };
  times.spentMs += ms;
  times.runs[way] = (times.runs[way] ?? 0) + 1;
  times.ms[way] = averaged(times.ms[way], ms);
  all.set(name, times);
  if (all.size <= maxRemembered) return;
  const [first] = all.keys();
  if (first !== undefined) all.delete(first);
}

/** Names a list by the values of its filters and rules; undefined where there are none, or long ones. */
function nameList(name: string, parameters: readonly Parameter[], bounds: readonly number[]): string | undefined {
  const values = parameters.filter((_, position) => !bounds.includes(position)).join('\0');
  return values === '' || values.length > maxValues ? undefined : `${name} ${values}`;
}

/** True if a way that loses so many milliseconds is worth another try. */
function isDue({ count, spentMs, last }: Times, way: number, lostMs: number): boolean {
  const before = last[way] ?? { count: 0, spentMs: 0 };
  return count - before.count >= betweenTries && spentMs - before.spentMs >= lostMs * worthATry;
}

function isQuicker({ quickMs = Number.POSITIVE_INFINITY }: Times, way: number, ms: number): boolean {
  return way === 0 && quickMs < ms;
}

/** A shorter time counts at once: other work on the machine makes times longer only. */
function averaged(before: number | undefined, ms: number): number {
  return before === undefined || ms < before ? ms : before + (ms - before) * weight;
}

/** A text that gives the same answer as a statement's own with the same parameters, under a name of its own. */
export interface OtherWay {
  readonly name: string;
  readonly text: string;
  /** Tables that it may read as a whole, as SQL names them: it is for small ones only. */
  readonly whole?: readonly string[];
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
    return text === undefined ? [] : [{ ...way, name: nameOf(text), text }];
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
): Required<Omit<OtherWay, 'name'>> | undefined {
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
