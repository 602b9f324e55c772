/** A column of MySQL or MariaDB that gets another type. */

import { failedValidation } from '../../../json/problems.ts';
import type { FoundColumn, ModelStep, NewType } from '../../../model/model-sql.ts';
import type { ColumnDefinition } from '../../../model/table-parts.ts';
import { ticked } from './names.ts';
import { identifierText, type MysqlKind } from './types.ts';

const uuidPattern = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$';

/** Plans it: conditions on the values, and the new definition. */
export function retyped(
  { isMariadb, hasUuid }: MysqlKind,
  { collection, field, descriptor, column }: FoundColumn,
  { type, sql, valueSource: backfill, refusal }: NewType,
): readonly ModelStep[] {
  const location = { collection, field };
  const table = ticked(descriptor.table);
  const name = ticked(column.column);
  const steps: ModelStep[] = [];
  if (type === 'uuid' && !hasUuid) {
    // They are texts there, of which the type would take any.
    const misfit = failedValidation({ collection, index: undefined }, field, 'check', 'has values that do not fit');
    const check = `SELECT NOT EXISTS (SELECT 1 FROM ${table} WHERE NOT (${name} REGEXP '${uuidPattern}'))`;
    steps.push({ kind: 'check', sql: check, place: location, refusal: misfit });
  }
  if (refusal !== null) {
    const fitting = type === 'boolean' ? `${sql} CHECK (fresh IN (0, 1))` : sql;
    steps.push({ kind: 'fit', table, column: name, type: fitting, place: location, refusal });
  }
  const to = (now: ColumnDefinition): ColumnDefinition => ({
    ...now,
    type: sql === 'json' && isMariadb ? 'json' : sql + collationOf(now.type, sql),
    default: backfill,
    // MariaDB has JSON as texts with a check.
    check: now.check !== null && /^\(\s*json_valid\(`/i.test(now.check) ? null : now.check,
  });
  steps.push({
    kind: 'alter',
    table,
    part: { kind: 'modify', column: name, to, lossy: refusal === null },
    place: location,
  });
  return steps;
}

const texts = /^(?:(?:var)?char|(?:tiny|medium|long)?text)\b/i;

/** Texts go on being compared as they were. */
function collationOf(before: string, after: string): string {
  if (!texts.test(before) || !texts.test(after) || after === identifierText) return '';
  const [clause = ''] = / (?:CHARACTER SET|CHARSET|COLLATE) .*$/is.exec(before) ?? [];
  return clause;
}
