import { selectList, where } from '../../dialects/fragment.ts';
import { type Row, selectColumns } from '../../sql/row.ts';
import { orderBy, type PrintedTerm } from './plan-order.ts';

/**
 * A page: the rows of a list, cut to its limit, with just the columns that what is selected needs.
 *
 * Nested parts are computed outside it, so only for the rows that remain. The order is repeated outside, because SQL
 * promises none for a subquery (a server can see that the rows are sorted already). This form, with nested data as
 * scalar subqueries of records, measured 30 % faster than LATERAL joins that aggregate one array per leaf column.
 */
export interface Page {
  /** The row as it is seen outside the page. */
  readonly row: Row;
  readonly alias: string;
  /** Selects an expression of the inner row and returns how it is named outside. */
  extra(expression: string): string;
  /** Prints the page as a derived table with its alias. */
  print(from: () => string, predicate: string, order: readonly PrintedTerm[], bounds: string): string;
}

/** Starts a page over the rows that `inner` stands for. */
export function createPage(inner: Row): Page {
  const alias = inner.statement.alias();
  const columns = new Set<string>();
  const extras: string[] = [];
  const free = freePrefix(inner);
  const column = (quoted: string): string => {
    columns.add(quoted);
    return `${alias}.${quoted}`;
  };
  return {
    row: { ...inner, column },
    alias,
    extra(expression) {
      const name = `"${free}${extras.length}"`;
      extras.push(`${expression} AS ${name}`);
      return `${alias}.${name}`;
    },
    print(from, predicate, order, bounds) {
      const selected = selectList([...selectColumns(inner, columns), ...extras]);
      return `(SELECT ${selected === '' ? inner.statement.dialect.noColumns : selected} FROM ${from()}${where(predicate)}${orderBy(order)}${bounds}) ${alias}`;
    },
  };
}

/** A prefix that no column of the table starts with. */
function freePrefix({ collection }: Row): string {
  let prefix = 'x';
  while (collection.descriptor.fields.some(({ column }) => column.startsWith(`"${prefix}`))) prefix += '_';
  return prefix;
}

/** The order of a page as it is repeated outside: columns as they are, everything else selected by the page. */
export function outerOrder(page: Page, order: readonly PrintedTerm[]): readonly PrintedTerm[] {
  return order.map((term) => ({
    ...term,
    expression: term.column === undefined ? page.extra(term.expression) : page.row.column(term.column),
  }));
}
