/** Follows columns of a view to those they are read from, and notes the joins: outer joins make columns nullable. */

/** Origin of a column of a view: a column of a relation (which may be a view again). */
export interface Origin {
  /** `pg_class.oid`. */
  readonly relation: string;
  /** `pg_attribute.attnum`. */
  readonly attnum: number;
  /** True when an outer join or a grouping set may put null in its place. */
  readonly outer: boolean;
}

/** Facts of a view's query about its rows. */
export interface ViewTrace {
  /** By the view's own column numbers. */
  readonly origins: ReadonlyMap<number, Origin>;
  /** The one relation of which every row appears at most once; null for joins, groups, unions and so on. */
  readonly rowsOf: string | null;
}

/** Traces the query of a view, `pg_rewrite.ev_action` as text. */
export function traceView(action: string): ViewTrace {
  const actions = parseNodeTree(action);
  const query = isList(actions) ? asNode(actions[0]) : null;
  if (query?.tag !== 'QUERY') return { origins: new Map(), rowsOf: null };
  const origins = targets(query).flatMap((entry): [number, Origin][] => {
    const attnum = numberField(entry, 'resno');
    const origin = traceQuery(query, attnum, []);
    return origin ? [[attnum, origin]] : [];
  });
  return { origins: new Map(origins), rowsOf: singleRelation(query) };
}

/** `RTEKind` of src/include/nodes/parsenodes.h. */
const rangeKind = { relation: 0, subquery: 1, join: 2, cte: 6, group: 9 } as const;

/** `JoinType` of src/include/nodes/nodes.h. */
const joinType = { left: 1, full: 2, right: 3 } as const;

/** The query of the expression first, then those around it. */
type Queries = readonly [TreeNode, ...TreeNode[]];

/** Columns of the result: junk entries only order and group. */
function targets(query: TreeNode): readonly TreeNode[] {
  return nodesField(query, 'targetList').filter((entry) => atomField(entry, 'resjunk') !== 'true');
}

function traceExpression(expression: TreeNode | null, queries: Queries): Origin | null {
  const [query] = queries;
  // A column of an outer query, inside a lateral subquery, is none of this query's joins' concern: not followed.
  if (expression?.tag !== 'VAR' || numberField(expression, 'varlevelsup') !== 0) return null;
  const number = numberField(expression, 'varno');
  const range = nodesField(query, 'rtable')[number - 1];
  const origin = range ? traceRange(range, numberField(expression, 'varattno'), queries) : null;
  if (!origin) return null;
  return { ...origin, outer: origin.outer || isNulled(query, number) };
}

function traceRange(range: TreeNode, attnum: number, queries: Queries): Origin | null {
  switch (numberField(range, 'rtekind')) {
    case rangeKind.relation:
      // Zero is the whole row, negative numbers are system columns.
      return attnum > 0 ? { relation: atomField(range, 'relid') ?? '', attnum, outer: false } : null;
    case rangeKind.subquery:
      return traceQuery(nodeField(range, 'subquery'), attnum, queries);
    case rangeKind.join:
      return traceExpression(itemNode(range.fields.get('joinaliasvars'), attnum), queries);
    case rangeKind.group:
      return traceExpression(itemNode(range.fields.get('groupexprs'), attnum), queries);
    case rangeKind.cte:
      return traceCte(range, attnum, queries);
    default:
      return null;
  }
}

function itemNode(list: NodeValue | undefined, position: number): TreeNode | null {
  return isList(list) ? asNode(list[position - 1]) : null;
}

/** Traces a column of a query's result; `outer` are the queries around it. */
function traceQuery(query: TreeNode | null, attnum: number, outer: readonly TreeNode[]): Origin | null {
  // The columns of a union come from several places.
  if (query?.tag !== 'QUERY' || query.fields.get('setOperations') !== null) return null;
  const entry = targets(query).find((target) => numberField(target, 'resno') === attnum);
  return entry ? traceExpression(nodeField(entry, 'expr'), [query, ...outer]) : null;
}

function traceCte(range: TreeNode, attnum: number, queries: Queries): Origin | null {
  const outer = queries.slice(numberField(range, 'ctelevelsup'));
  const [owner] = outer;
  const name = atomField(range, 'ctename');
  const cte = owner && nodesField(owner, 'cteList').find((item) => atomField(item, 'ctename') === name);
  if (!cte || atomField(cte, 'cterecursive') === 'true') return null;
  return traceQuery(nodeField(cte, 'ctequery'), attnum, outer);
}

/** True when null can stand for the columns of this range: it is the optional side of a join, or grouping sets apply. */
function isNulled(query: TreeNode, range: number): boolean {
  if (query.fields.get('groupingSets') !== null) return true;
  const tree = nodeField(query, 'jointree');
  return tree !== null && nodesField(tree, 'fromlist').some((item) => nulledRanges(item, false).includes(range));
}

function nulledRanges(item: TreeNode | null, nulled: boolean): readonly number[] {
  if (item?.tag === 'RANGETBLREF') return nulled ? [numberField(item, 'rtindex')] : [];
  if (item?.tag !== 'JOINEXPR') return [];
  const type = numberField(item, 'jointype');
  const ranges = [
    ...nulledRanges(nodeField(item, 'larg'), nulled || type === joinType.right || type === joinType.full),
    ...nulledRanges(nodeField(item, 'rarg'), nulled || type === joinType.left || type === joinType.full),
  ];
  return nulled ? [...ranges, numberField(item, 'rtindex')] : ranges;
}

/** The relation of a query that reads exactly one, and each of its rows at most once. */
function singleRelation(query: TreeNode): string | null {
  const from = nodeField(query, 'jointree');
  const [item, ...others] = from ? nodesField(from, 'fromlist') : [];
  if (item?.tag !== 'RANGETBLREF' || others.length > 0 || multipliesRows(query)) return null;
  const range = nodesField(query, 'rtable')[numberField(item, 'rtindex') - 1];
  if (!range || numberField(range, 'rtekind') !== rangeKind.relation) return null;
  return atomField(range, 'relid');
}

/** Grouping loses the rows, a set-returning function in the select list repeats them. */
function multipliesRows(query: TreeNode): boolean {
  return (
    ['setOperations', 'groupClause', 'groupingSets'].some((name) => query.fields.get(name) !== null) ||
    ['hasAggs', 'hasTargetSRFs'].some((name) => atomField(query, name) === 'true')
  );
}

/** A node with its fields by name; a list; an atom; or null. */
type NodeValue = TreeNode | readonly NodeValue[] | string | null;

/** A node: its tag in capitals and its fields. */
export interface TreeNode {
  readonly tag: string;
  readonly fields: ReadonlyMap<string, NodeValue>;
}

interface Reader {
  readonly tokens: readonly string[];
  next: number;
}

/** Levels that a tree may have; bounds the stack of those who read it. */
const maxDepth = 1_000;

/**
 * Parses one value. Text after it is ignored, a tree that breaks off ends its lists and nodes early. A tree of more
 * than a thousand levels reads as null.
 *
 * Reads PostgreSQL's node trees (`pg_node_tree`), the form in which it keeps the queries of views.
 *
 * A tree is written `{VAR :varno 3 :varattno 1 …}` with lists in parentheses, and `<>` for null. A backslash stands
 * before characters of texts that have a meaning here. Source: src/backend/nodes/read.c and outfuncs.c of PostgreSQL.
 */
export function parseNodeTree(text: string): NodeValue {
  // Blanks and the brackets ( ) { } separate; a backslash takes the character after it into the word.
  const tokens = text.match(/[(){}]|(?:\\[\s\S]|[^\s(){}\\])+/gu) ?? [];
  return isTooDeep(tokens) ? null : readValue({ tokens, next: 0 });
}

function isTooDeep(tokens: readonly string[]): boolean {
  let depth = 0;
  for (const token of tokens) {
    if (token === '(' || token === '{') depth += 1;
    else if (token === ')' || token === '}') depth -= 1;
    if (depth > maxDepth) return true;
  }
  return false;
}

export function nodeField(node: TreeNode, name: string): TreeNode | null {
  return asNode(node.fields.get(name));
}

/** The nodes in a field that is a list of nodes; empty for null. */
export function nodesField(node: TreeNode, name: string): readonly TreeNode[] {
  const value = node.fields.get(name);
  return isList(value) ? value.flatMap((item) => asNode(item) ?? []) : [];
}

export function atomField(node: TreeNode, name: string): string | null {
  const value = node.fields.get(name);
  return typeof value === 'string' ? value : null;
}

/** The field of a node when it is a number; 0 when it is absent, as in PostgreSQL. */
export function numberField(node: TreeNode, name: string): number {
  return Number(atomField(node, name) ?? 0);
}

function asNode(value: NodeValue | undefined): TreeNode | null {
  return value !== undefined && value !== null && typeof value === 'object' && 'tag' in value ? value : null;
}

function isList(value: NodeValue | undefined): value is readonly NodeValue[] {
  return Array.isArray(value);
}

function readValue(reader: Reader): NodeValue {
  const token = reader.tokens[reader.next];
  reader.next += 1;
  if (token === undefined || token === '<>') return null;
  if (token === '(') return readList(reader);
  if (token === '{') return readNode(reader);
  return token.replaceAll(/\\([\s\S])/gu, '$1');
}

function readList(reader: Reader): readonly NodeValue[] {
  const items: NodeValue[] = [];
  while (!atEnd(reader, ')')) items.push(readValue(reader));
  reader.next += 1;
  return items;
}

function readNode(reader: Reader): TreeNode {
  const tag = reader.tokens[reader.next] ?? '';
  reader.next += 1;
  const fields = new Map<string, NodeValue>();
  while (!atEnd(reader, '}')) readField(reader, fields);
  reader.next += 1;
  return { tag, fields };
}

/** The first token after a field's name is its value even if it begins with a colon: a column may be called so. */
function readField(reader: Reader, fields: Map<string, NodeValue>): void {
  const name = reader.tokens[reader.next]?.slice(1) ?? '';
  reader.next += 1;
  fields.set(name, readValue(reader));
  // Constants are several tokens: `:constvalue 4 [ 1 0 0 0 ]`. Their bytes are of no interest here.
  while (!atEnd(reader, '}') && !reader.tokens[reader.next]?.startsWith(':')) readValue(reader);
}

function atEnd(reader: Reader, bracket: string): boolean {
  const token = reader.tokens[reader.next];
  return token === undefined || token === bracket;
}
