import type { Diagnostic } from '../../diagnostic.ts';
import { namedIn } from '../../passes/lookup.ts';
import { literalMisfit, nowMisfit } from '../../passes/permissions/preset-misfits.ts';
import type { Key, Schema, Table } from '../../schema.ts';
import { type Rule, tablePlace } from '../rule.ts';
import { configError } from './config-problem.ts';
import { configuredTables } from './configured.ts';

/** The field of archived items takes the value that DELETE sets, and those that restore them. */
export const configSoftDelete: Rule = (schema, sources) =>
  configuredTables(schema, sources).flatMap(({ name, config: { softDelete }, table, collection }) => {
    const field = softDelete && collection && namedIn(collection.fields, softDelete.field);
    const column = table.columns.find((candidate) => candidate.name === field?.column);
    if (softDelete === undefined || field === undefined || column === undefined) return [];
    const refuse = (key: string, message: string) => [
      configError(['collections', name, 'softDelete', key], 'soft-delete', `The field "${field.name}" ${message}.`),
    ];
    const { value, restore = null } = softDelete;
    if (column.fill.kind === 'generated' || !column.updatable) return refuse('field', 'cannot be written');
    if (!table.writable.update) return refuse('field', 'is of rows that the database does not allow to update');
    const set = value === undefined ? nowMisfit(field) : literalMisfit(field, column, value);
    if (set !== null) return refuse(value === undefined ? 'field' : 'value', set);
    const back = restore === null && value !== undefined ? null : literalMisfit(field, column, restore);
    if (back !== null) return refuse(restore === null ? 'field' : 'restore', back);
    return table.uniques.filter(({ columns }) => !columns.includes(column.name)).map((key) => open(schema, table, key));
  });

/** An archived item keeps its values, so a new one with the same is refused. */
function open(schema: Schema, table: Table, { name }: Key): Diagnostic {
  return {
    code: 'unique-with-soft-delete',
    severity: 'warning',
    place: tablePlace(schema, table),
    message: `The unique key "${name}" counts archived items: a value of one cannot be used again.`,
    hint: 'Make it a unique index over live rows alone.',
  };
}
