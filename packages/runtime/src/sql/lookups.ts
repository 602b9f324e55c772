/**
 * Far sides of many-to-many relations, looked up by key.
 *
 * A server plans the list of every parent alike, for the number of links that parents have on average or, before ANALYZE, for
 * a guess. A plain join lets it read the whole target table for each parent, or walk through it in the order of the list. A
 * fenced subquery beside each link leaves the lookup by key only, whose cost depends on the links of the parent alone.
 */

import { allOf, selectList, sqlTrue, where } from '../dialects/fragment.ts';
import { type Condition, type ManyToMany, types } from '../language/index.ts';
import { guarded } from './cell.ts';
import { readable } from './readable.ts';
import { type Junction, joinJunction, joinsOf, type Reach, reach } from './related.ts';
import { type Row, selectColumns } from './row.ts';
import { granted } from './rules.ts';
import type { RelationScope } from './scope.ts';
import { findSought, printSought } from './sought.ts';

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

/**
 * True if a condition may leave so few rows of the target that an index on them beats looking up every link. Such a
 * condition names the values of a column that can have many.
 */
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
