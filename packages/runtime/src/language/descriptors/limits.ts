/** Maximum sizes of the parts of one request. Source: API specification, sections 5.1 and 16. */
export interface QueryLimits {
  /** MAX_RELATIONAL_DEPTH: names in one path of `fields`, `filter` or `sort`. */
  readonly relationalDepth: number;
  /** QUERYSTRING_MAX_PARSE_DEPTH: brackets of one parameter name. */
  readonly parseDepth: number;
  /** QUERYSTRING_ARRAY_LIMIT: elements of `fields`, `sort`, `meta`, and of a list in bracket form. */
  readonly arrayLimit: number;
  /** Nesting of a filter written as JSON; bounds the stack. */
  readonly filterDepth: number;
  /** Comparisons in one filter; keeps a statement below the protocol's 65,535 parameters. */
  readonly comparisons: number;
  /** Relations that the filters of one request may look through or count; each is a subquery of its own. */
  readonly filterRelations: number;
  /** Relations one request may select, wildcards expanded; bounds the size of a statement. */
  readonly relations: number;
  /** Values in the lists of all filters of one request. */
  readonly listValues: number;
  /** Characters in all texts of one request that are looked for within others (`_contains`, `_iends_with`, …). */
  readonly patternLength: number;
  /** Characters of one `search`. */
  readonly searchLength: number;
}

/** The limits that hold when nothing is configured. */
export const defaultQueryLimits: QueryLimits = {
  relationalDepth: 10,
  parseDepth: 10,
  arrayLimit: 500,
  filterDepth: 64,
  comparisons: 10_000,
  filterRelations: 200,
  relations: 2_000,
  // 0.3 s on a table of 250 texts; the time grows with both.
  listValues: 10_000,
  // 50 ms on 250 texts of 5,000 characters, a hundred times that for a megabyte.
  patternLength: 10_000,
  searchLength: 1_000,
};

/** QUERY_ROWS_MAX and QUERY_COST_MAX where nothing is configured. */
export const defaultQueryBounds = { maxRows: 1_000_000, maxCost: 5_000 } as const;
