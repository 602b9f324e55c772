/** Removal of stored rows: which ones rules allow to remove, and what archives them where they stay. */
import { allOf, anyOf } from '../../dialects/fragment.ts';
import type { AccessRule } from '../../language/index.ts';
import { isLive } from '../../sql/archived/other-rows.ts';
import { archivingValue } from '../../sql/archived/rows-by-state.ts';
import type { Row } from '../../sql/row.ts';
import { ruleHolds } from '../../sql/rules.ts';
import type { Drafting } from '../plan/statement.ts';
import { printPreset } from './presets.ts';

/** The rules by which rows are removed. `purge`: for good, archived ones as well. */
export interface Removal {
  readonly rules: readonly AccessRule[];
  readonly purge: boolean;
}

/** A removal as a statement prints it. */
export interface Removed {
  /** SQL predicate that is true on rows that may be removed. */
  allowedOn(row: Row): string;
  /** Assignment that archives a row, with something before its column; null where rows are deleted. */
  readonly sets: ((before: string) => string) | null;
}

export function removal(drafting: Drafting, { rules, purge }: Removal): Removed {
  const { descriptor } = drafting.written.writable.collection;
  const field = purge ? undefined : descriptor.fields.find(({ name }) => name === descriptor.softDelete?.field);
  return {
    allowedOn: (row) => removable(row, { rules, purge }),
    sets:
      field === undefined
        ? null
        : (before) => `${before}${field.column} = ${printPreset(drafting, field, archivingValue(descriptor))}`,
  };
}

/** SQL predicate that is true on rows that rules allow to remove: live ones, unless they are purged. */
export function removable(row: Row, { rules, purge }: Removal): string {
  return allOf([...(purge ? [] : [isLive(row)]), anyOf(rules.map(({ where }) => ruleHolds(row, where)))]);
}
