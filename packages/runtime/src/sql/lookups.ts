/**
 * Far sides of many-to-many relations, looked up by key.
 *
 * A server plans the list of every parent alike, for the number of links that parents have on average or, before ANALYZE, for
 * a guess. A plain join lets it read the whole target table for each parent, or walk through it in the order of the list. A
 * fenced subquery beside each link leaves the lookup by key only, whose cost depends on the links of the parent alone.
 */
import { allOf, selectList, sqlTrue, where } from '../dialects/fragment.ts';
import { type Condition, type FieldDescriptor, type ManyToMany, types } from '../language/index.ts';
import { guarded } from './cell.ts';
import { comparedType, printValue } from './operand.ts';
import { readable } from './readable.ts';
import { type Junction, joinJunction, joinsOf, type Reach, reach } from './related.ts';
import { joined, type Row, selectColumns } from './row.ts';
import { granted } from './rules.ts';
import type { CollectionScope, FieldScope, RelationScope } from './scope.ts';

/** Follows a relation to the rows that belong to one parent, narrowed by a condition. */
export function reachListed(row: Row, relation: RelationScope, condition?: Condition): Reach | undefined {
  const { descriptor } = relation;
  if (descriptor.kind === 'm2m' && canLookUp(row, descriptor)) {
    const isSought = findSought(row, descriptor, condition) !== undefined;
    if (isSought || !isSelective(row, descriptor, condition)) return lookedUp(row, relation, descriptor, condition);
  }
  const reached = reach(row, relation);
  return reached && narrowed(reached, condition);
}

/** The number of related rows the caller can read; null on a row whose cell of the relation is hidden. */
export function printCount(row: Row, relation: RelationScope): string {
  const reached = reachLinks(row, relation) ?? reachListed(row, relation);
  const { dialect } = row.statement;
  if (reached === undefined) return dialect.nothing('int8');
  const count = `(SELECT ${dialect.countRows} FROM ${reached.from()}${where(allOf(joinsOf(reached)))})`;
  return guarded(granted(row, relation.grant), count);
}

/** The links of one parent, where they are as many as the targets that the caller can read. */
function reachLinks(row: Row, relation: RelationScope): Pick<Reach, 'from' | 'links' | 'own'> | undefined {
  const { descriptor } = relation;
  if (descriptor.kind !== 'm2m' || descriptor.unbroken !== true) return undefined;
  const junction = row.statement.dialect.keepsForeignKeys ? joinJunction(row, descriptor, relation) : undefined;
  if (junction === undefined || readable(junction.target) !== sqlTrue) return undefined;
  return { from: () => `${descriptor.junctionTable} ${junction.alias}`, links: junction.links, own: junction.visible };
}

/** The rows that also meet a condition. */
export function narrowed(reached: Reach, condition: Condition | undefined): Reach {
  if (condition === undefined) return reached;
  return { ...reached, own: [...reached.own, reached.target.statement.print.condition(reached.target, condition)] };
}

/** Targets by the keys that the links of a parent hold. */
function lookedUp(
  row: Row,
  relation: RelationScope,
  descriptor: ManyToMany,
  condition: Condition | undefined,
): Reach | undefined {
  const junction = joinJunction(row, descriptor, relation);
  if (junction === undefined) return undefined;
  const { visible, target } = junction;
  const rule = readable(target);
  const sought = findSought(row, descriptor, condition);
  const few = sought && printSought(row, descriptor, junction.alias, sought);
  if (few !== undefined) return narrowed(byLinks(descriptor, junction, [...visible, few], [rule]), condition);
  const found = [rule, ...(condition ? [target.statement.print.condition(target, condition)] : [])];
  return isOnce(row, descriptor)
    ? byKeys(descriptor, junction, visible, found)
    : byLinks(descriptor, junction, visible, found);
}

/** True if the keys of a parent's links say all about its list: each stands there once, and nothing else orders the list. */
function isOnce(row: Row, { target, far, paired, sort }: ManyToMany): boolean {
  const fields = row.scope.collections.get(target)?.descriptor.fields ?? [];
  const key = fields.find(({ column }) => column === far[0]?.to);
  return paired === true && far.length === 1 && sort === undefined && row.statement.dialect.sortsAlike(key?.native);
}

/** Looks all keys of a parent up at once, in the order of their index, which costs less than one after the other. */
function byKeys(
  { junctionTable, far }: ManyToMany,
  { alias, links, target, targetAlias, table }: Junction,
  visible: readonly string[],
  found: readonly string[],
): Reach {
  const rows = `${junctionTable} ${alias}${where(allOf(joinsOf({ links, own: visible })))}`;
  const keys = far.map(({ from, to }) => `${target.column(to)} = ANY (ARRAY(SELECT ${alias}.${from} FROM ${rows}))`);
  const from = (): string => `${table} ${targetAlias}`;
  return { from, links: [], own: [...keys, ...found], target, junction: undefined };
}

/** Looks each link up in a subquery, which selects the columns that were asked of the target by the time it is printed. */
function byLinks(
  { junctionTable }: ManyToMany,
  { alias, links, far, target, targetAlias, table }: Junction,
  visible: readonly string[],
  found: readonly string[],
): Reach {
  const columns = new Set<string>();
  const { fence } = target.statement.dialect;
  return {
    from() {
      const selected = selectList(selectColumns(target, columns));
      const lookup = `SELECT ${selected} FROM ${table} ${targetAlias}${where(allOf([...far, ...found]))}${fence}`;
      return `${junctionTable} ${alias} CROSS JOIN LATERAL (${lookup}) ${targetAlias}`;
    },
    links,
    own: visible,
    target: {
      ...target,
      column(quoted) {
        columns.add(quoted);
        return `${targetAlias}.${quoted}`;
      },
    },
    junction: alias,
    isFenced: true,
  };
}

/** Views and rows that a statement has just written have no index, so a lookup would read all of them for each link. */
export function canLookUp(row: Row, descriptor: ManyToMany): boolean {
  const isTable = row.scope.collections.get(descriptor.target)?.descriptor.opaque !== true;
  return row.statement.dialect.looksUp && isTable;
}

/** True if a condition may leave few rows, so that an index beats following links: it names values of such a column. */
function isSelective(row: Row, descriptor: ManyToMany, condition: Condition | undefined): boolean {
  const target = row.scope.collections.get(descriptor.target);
  const names = (part: Condition): boolean => {
    if (part.kind === 'and') return part.of.some(names);
    if (part.kind === 'or') return part.of.length > 0 && part.of.every(names);
    if (part.kind === 'related' || part.function !== undefined || part.path !== undefined) return false;
    const type = target?.fields.get(part.field)?.descriptor.type;
    return (
      (part.operator === '_eq' || part.operator === '_in') && type !== undefined && types[type].hasFewValues !== true
    );
  };
  return condition !== undefined && names(condition);
}

type Comparison = Extract<Condition, { kind: 'compare' }>;

/** Targets by a value: the column of it, what it is compared with, and the key that links hold. */
interface Sought {
  readonly table: string;
  readonly column: string;
  readonly value: string;
  readonly native: string;
  readonly key: FieldDescriptor;
  /** Column of the junction that holds the key. */
  readonly link: string;
}

/** Targets that are looked for in the links of every parent; to read them takes about as long as a hundred lookups. */
const maxTargets = 100;

/** The value by which an index finds all targets under a condition, and another one the links to them; undefined without. */
function findSought(row: Row, relation: ManyToMany, condition: Condition | undefined): Sought | undefined {
  const target = row.scope.collections.get(relation.target);
  const [far] = relation.far;
  const comparison = target && condition && soughtValue(relation, target, condition);
  const key = target?.descriptor.fields.find(({ column }) => column === far?.to);
  const field = target?.fields.get(comparison?.field ?? '')?.descriptor;
  if (target === undefined || far === undefined || comparison === undefined || field === undefined) return undefined;
  const { statement } = row;
  if (key === undefined || !statement.dialect.sortsAlike(key.native)) return undefined;
  const type = comparedType(field, comparison);
  const value = printValue(statement, type, comparison.operator, comparison.operand);
  return { table: target.descriptor.table, column: field.column, value, native: type.native, key, link: far.from };
}

/** The comparison with one value by which an index finds targets, among those that all of them meet. */
function soughtValue(relation: ManyToMany, target: CollectionScope, condition: Condition): Comparison | undefined {
  if (condition.kind === 'and') return condition.of.map((part) => soughtValue(relation, target, part)).find(Boolean);
  if (condition.kind !== 'compare' || condition.operator !== '_eq') return undefined;
  const { field: name, function: call, path, operand } = condition;
  const field = target.fields.get(name);
  const isPlain = call === undefined && path === undefined && operand.kind === 'literal';
  return isPlain && relation.sought?.includes(name) && field && isBare(field) ? condition : undefined;
}

/** True if comparisons see the column itself, as an index does. */
function isBare({ descriptor, grant, secret }: FieldScope): boolean {
  return grant === null && !secret && descriptor.comparison === undefined && descriptor.folds !== true;
}

/** A predicate that holds of the links to such targets, and of all links of the parent where the targets are many. */
function printSought(row: Row, relation: ManyToMany, links: string, sought: Sought): string | undefined {
  const found = printFound(row, sought);
  const alias = row.statement.alias();
  const near = joined(relation.near, row.column, alias).join(' AND ');
  const junctionKeys = `SELECT ${alias}.${sought.link}::${sought.key.native} FROM ${relation.junctionTable} ${alias} WHERE ${near}`;
  return found && `${links}.${sought.link} = ANY (COALESCE(${found}, ARRAY(${junctionKeys})))`;
}

/**
 * The keys of all targets with the value as an array; null when they are too many. They are read in the order of the
 * value, but the server is not told that there is one value. So it takes the index of the value and stops early.
 */
function printFound({ statement }: Row, { table, column, value, native, key }: Sought): string | undefined {
  const { dialect } = statement;
  const [alias, few] = [statement.alias(), statement.alias()];
  const named = dialect.pageLink(`${alias}.${column}`, value, native);
  const order = `ORDER BY ${alias}.${column} LIMIT ${maxTargets + 1}`;
  const rows = `SELECT ${alias}.${key.column} AS k FROM ${table} ${alias} WHERE ${named} ${order}`;
  const keys = `COALESCE(pg_catalog.array_agg(${few}.k), '{}')`;
  return named && `(SELECT CASE WHEN ${dialect.countRows} <= ${maxTargets} THEN ${keys} END FROM (${rows}) ${few})`;
}
