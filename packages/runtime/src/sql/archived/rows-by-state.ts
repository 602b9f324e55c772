/** Archived items: rows that DELETE has marked, which reads pass over unless a request asks for them. */
import {
  type AccessRule,
  both,
  type CollectionDescriptor,
  type Condition,
  type Operand,
} from '../../language/index.ts';

/** Items that a read asks for beside the live ones, or in their place. */
export type Archived = 'include' | 'only';

/** The condition of live rows, and that of archived ones; undefined where DELETE removes items. */
function archiving({ softDelete, fields }: CollectionDescriptor) {
  const field = fields.find(({ name }) => name === softDelete?.field);
  if (softDelete === undefined || field === undefined) return undefined;
  const { name, nullable } = field;
  const { value } = softDelete;
  const isNull = (holds: boolean): Condition => compare(name, holds ? '_null' : '_nnull', true);
  if (value === undefined) return { live: isNull(true), archived: isNull(false) };
  const other = compare(name, '_neq', value);
  const live: Condition = nullable ? { kind: 'or', of: [isNull(true), other] } : other;
  return { live, archived: compare(name, '_eq', value) };
}

function compare(field: string, operator: '_null' | '_nnull' | '_eq' | '_neq', value: string | boolean): Condition {
  return { kind: 'compare', field, operator, operand: { kind: 'literal', value } };
}

export function archivingValue({ softDelete }: CollectionDescriptor): Operand {
  const value = softDelete?.value;
  return value === undefined ? { kind: 'now', offset: 'P0D' } : { kind: 'literal', value };
}

export interface RowsByState {
  /** A row is readable when one of these holds. */
  readonly rows: readonly Condition[];
  /** The condition of rows that are not archived, which is part of `rows`; absent where DELETE removes items. */
  readonly live?: Condition;
  /** The rows that `archived` asks for, where the class may see which items are archived. */
  readonly archived?: Readonly<Record<Archived, readonly Condition[]>>;
}

/** Rows of a collection under rules, and those that `archived` asks for where some rule lists the field that tells. */
export function rowsOf(descriptor: CollectionDescriptor, rules: readonly AccessRule[]): RowsByState {
  const kinds = archiving(descriptor);
  if (kinds === undefined) return { rows: rules.map(({ where }) => where) };
  const { live, archived } = kinds;
  const rows = rules.map(({ where }) => both(live, where));
  // Archived rows are shown by the rules alone that show that they are archived.
  const listing = rules.filter(({ fields }) => fields.includes(descriptor.softDelete?.field ?? ''));
  if (listing.length === 0) return { rows, live };
  const only = listing.map(({ where }) => both(archived, where));
  const all = listing.length === rules.length;
  return { rows, live, archived: { only, include: all ? rules.map(({ where }) => where) : [...rows, ...only] } };
}
