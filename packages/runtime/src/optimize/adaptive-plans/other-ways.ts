/** Other texts for pages of rows that have many links: these are followed for all rows at once. */
import { createNote } from '../../database/notes.ts';
import type { ReadQuery } from '../../query/authorise/read-query.ts';
import type { Selected } from '../../query/authorise/selection.ts';
import { orderBy } from '../../query/plan/plan-order.ts';
import { createPage, outerOrder } from '../../query/plan/plan-page.ts';
import { hidden, nameOf, type ReadParts, type ReadPass } from '../../query/plan/plan-read.ts';
import { answerList, printSelection } from '../../query/plan/plan-selection.ts';
import type { PageOfRows } from '../../sql/page-links.ts';

/** A text that gives the same answer as a statement's own with the same parameters, under a name of its own. */
export interface OtherWay {
  readonly name: string;
  readonly text: string;
  /** Tables that it may read as a whole, as SQL names them: it is for small ones only. */
  readonly whole?: readonly string[];
}

/** Other texts of a statement, of which one may cost less where it takes long. */
export const otherWays = createNote<readonly OtherWay[]>('other ways');

/** Name of all statements that differ by the page they read: times of the ways of one hold for all. */
export const pageFamily = createNote<string>('family of pages');

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
  const family = nameOf(withoutOffset(ways[0]?.text ?? '', parts.bounds));
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
  { row, from, listed, order, bounds }: ReadParts,
  targets: PageOfRows['targets'],
): Required<Omit<OtherWay, 'name'>> | undefined {
  const { selection, nested } = query;
  const rows = createPage(row);
  const outer = outerOrder(rows, order);
  const page: PageOfRows = { name: row.statement.alias(), row: rows.row, targets, tables: [], queries: [], joins: [] };
  const { expressions, fields } = printSelection(rows.row, selection, { ...nested, page });
  if (page.queries.length === 0) return undefined;
  const columns = answerList(row.statement, hidden(query, row, outer), expressions, fields);
  const source = `SELECT * FROM ${rows.print(() => from, listed, order, bounds)}`;
  const queries = [`${page.name} AS MATERIALIZED (${source})`, ...page.queries].join(', ');
  const list = `SELECT ${columns} FROM ${page.name} ${rows.alias}${page.joins.join('')}${orderBy(outer)}`;
  return { text: `WITH ${queries} ${list}`, whole: page.tables };
}

function readsThroughLinks(part: Selected): boolean {
  const isList = part.kind === 'keys' || part.kind === 'nested' || part.kind === 'aggregate';
  return isList && part.relation.descriptor.kind === 'm2m';
}
