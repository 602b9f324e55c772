/** Links by key to items of which the caller may read only some. Source: API specification, section 7.1. */
import { allOf, anyOf, sqlTrue, where } from '../../dialects/fragment.ts';
import type { ManyToOne } from '../../language/index.ts';
import { joinsOf, reach } from '../../sql/related.ts';
import type { Row } from '../../sql/row.ts';
import type { CollectionScope, RelationScope, Scope } from '../../sql/scope.ts';
import { countedScope } from '../access/scope.ts';
import type { Check, CheckedRow, Written } from './check.ts';
import { isEveryRow, isLate } from './late.ts';

/** A check of a link, with the relation and the columns that hold it. */
interface LinkCheck extends Check {
  readonly link: {
    readonly relation: RelationScope;
    readonly descriptor: ManyToOne;
    readonly places: readonly number[];
  };
}

/**
 * The item that a payload links must be one that the caller may read. Where all can be read the foreign key says it, and
 * where none can, decoding has. A key of several columns is no link then, but its item must be of the caller's tenant.
 */
export function linkChecks(written: Written): readonly LinkCheck[] {
  const { scope, writable } = written;
  return [...writable.collection.relations.values()].flatMap((relation): readonly LinkCheck[] => {
    const link = relation.descriptor;
    const counted = countedScope(scope, link.target);
    const target = counted.collections.get(link.target);
    if (link.kind !== 'm2o' || target === undefined || target.rows.some(isEveryRow)) return [];
    const places = columnsOf(written, link);
    // A request may link the items that it wrote itself.
    const isLinked = places.some((index) => written.columns[index]?.linked === true);
    if (isLinked || places.length === 0) return [];
    const check = linkCheck(written, relation, link, counted, target, places);
    return [{ ...check, link: { relation, descriptor: link, places } }];
  });
}

/**
 * Links by key to rows of another tenant where the check above waits until everything is written. A foreign key refuses a
 * missing row at once, so that another tenant's has to be refused as early.
 */
export function tenantLinkChecks(written: Written): readonly Check[] {
  const { open } = written.scope;
  return linkChecks(written).flatMap(({ late, link: { relation, descriptor, places } }) => {
    const target = late ? open.collections.get(descriptor.target) : undefined;
    if (target === undefined || target.rows.some(isEveryRow)) return [];
    return [linkCheck(written, relation, descriptor, open, target, places)];
  });
}

/** Places of the columns that hold a part of the link. */
function columnsOf({ writable, columns }: Written, link: ManyToOne): readonly number[] {
  const parts = writable.collection.descriptor.fields.filter(({ column }) =>
    link.on.some(({ from }) => from === column),
  );
  return parts.flatMap(({ name }) => {
    const index = columns.findIndex(({ field }) => field.descriptor.name === name);
    return index < 0 ? [] : [index];
  });
}

function linkCheck(
  written: Written,
  relation: RelationScope,
  link: ManyToOne,
  counted: Scope,
  target: CollectionScope,
  places: readonly number[],
): Check {
  const { scope, collections, columns } = written;
  const always = places.some((index) => columns[index]?.complete === true);
  const late =
    collections.has(link.target) || target.rows.some((rule) => isLate(scope.open, target, rule, collections));
  return {
    permissionCheck: { kind: 'refused', requirement: null },
    late,
    rules: [],
    columns: always ? [] : places,
    fails(judged: CheckedRow) {
      const requested = always ? sqlTrue : anyOf(places.map(judged.present));
      const row: Row = { ...judged.row, scope: counted };
      const linked = link.on.map(({ from }) => `${row.column(from)} IS NOT NULL`);
      const reached = reach(row, relation);
      const hidden = reached && `NOT EXISTS (SELECT 1 FROM ${reached.from()}${where(allOf(joinsOf(reached)))})`;
      return allOf([requested, ...linked, hidden ?? sqlTrue]);
    },
  };
}
