/** Removal of items by key where a write cannot be part of a query. Rules stand in WHERE, or are asked before. */

import { where } from '../../dialects/fragment.ts';
import type { Written } from '../checks/check.ts';
import { type Removal, removable, removal } from '../checks/removal.ts';
import {
  type Drafting,
  finishWrite,
  inputTable,
  keyInputs,
  keysMatch,
  ruleRow,
  startWrite,
} from '../plan/statement.ts';
import type { StepPlans } from '../plan/step-plans.ts';
import { allowedInput, looksAway, planLook } from './look.ts';

/** Plans the DELETE of items, as far as some rule allows it; of archived ones an UPDATE. */
export function planRemoval(written: Written, removed: Removal): Pick<StepPlans, 'look' | 'write'> {
  const drafting = startWrite(written);
  const alias = drafting.statement.alias();
  const column = (quoted: string): string => `${alias}.${quoted}`;
  const permitted = (draft: Drafting, columnOf: (quoted: string) => string): string => {
    return removable(ruleRow(draft, columnOf), removed);
  };
  const may = permitted(drafting, column);
  const apart = looksAway([may]);
  const keys = keyInputs(drafting);
  const named = keys.map(({ name }) => `i.${name}`);
  const { join } = drafting.statement.dialect.input;
  const { table } = written.writable.collection.descriptor;
  const input = inputTable(drafting, apart ? [...keys, allowedInput] : keys, 'i');
  const rows = `${input}${join}${table} AS ${alias} ON ${keysMatch(drafting, column, named)}`;
  const { sets } = removal(drafting, removed);
  const change = sets === null ? `DELETE ${alias} FROM ${rows}` : `UPDATE ${rows} SET ${sets(`${alias}.`)}`;
  const write = finishWrite(
    drafting,
    `${change}${where(apart ? 'i.ok' : may)}`,
    sets === null ? { kind: 'delete' } : {},
  );
  if (!apart) return { write };
  const look = planLook(written, [], (draft, columnOf) => ({ rules: [], allowed: permitted(draft, columnOf) }));
  return { look, write };
}
