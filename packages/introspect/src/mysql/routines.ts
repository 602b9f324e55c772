import { sortedBy } from '../order.ts';
import type { ColumnType, Routine, RoutineResult, RoutineValue } from '../schema.ts';
import { tableId } from '../table-names.ts';
import { type ColumnRow, type MysqlCatalog, type ParameterRow, type RoutineRow, schemaOf } from './catalog.ts';
import { columnType } from './columns.ts';

export function buildMysqlRoutines(catalog: MysqlCatalog, rows: NonNullable<MysqlCatalog['routines']>) {
  const parameters = Map.groupBy(rows.parameters, keyOf);
  const built = rows.routines.map((row) => buildRoutine(catalog, row, parameters.get(keyOf(row)) ?? []));
  return sortedBy(
    built,
    ({ signature }) => signature,
    ({ kind }) => kind,
  );
}

/** A function and a procedure may share a name. */
function keyOf({ routine_schema: schema, specific_name: name, routine_type: type }: RoutineName): string {
  return JSON.stringify([schema, name, type]);
}

type RoutineName = Pick<ParameterRow, 'routine_schema' | 'specific_name' | 'routine_type'>;

function buildRoutine(catalog: MysqlCatalog, row: RoutineRow, parameters: readonly ParameterRow[]): Routine {
  const named = parameters
    .filter(({ ordinal_position: position }) => position > 0)
    .toSorted((left, right) => left.ordinal_position - right.ordinal_position);
  const isProcedure = row.routine_type === 'PROCEDURE';
  const inputs = named.filter(({ parameter_mode: mode }) => mode !== 'OUT').map(readValue);
  const schema = schemaOf(catalog, row.routine_schema);
  const unsupported = reasonOf(inputs);
  const types = inputs.map(({ nativeType }) => nativeType).join(', ');
  return {
    schema,
    name: row.routine_name,
    signature: `${tableId(schema, row.routine_name)}(${types})`,
    kind: isProcedure ? 'procedure' : 'function',
    reads: !isProcedure && (row.sql_data_access === 'NO SQL' || row.sql_data_access === 'READS SQL DATA'),
    arguments: inputs.map((input) => ({ ...input, optional: false })),
    ...(isProcedure && { parameters: named.map(({ parameter_name: name }) => name ?? '') }),
    returns: isProcedure ? resultOf(row, named) : returnOf(parameters),
    ...(unsupported !== null && { unsupported }),
    comment: row.routine_comment === '' ? null : row.routine_comment,
  };
}

function returnOf(parameters: readonly ParameterRow[]): RoutineResult {
  const row = parameters.find(({ ordinal_position: position }) => position === 0);
  return row === undefined
    ? { kind: 'nothing' }
    : { kind: 'value', many: false, value: { ...readValue(row), name: 'value' } };
}

/** Values that a procedure gives are members. Else it may answer rows of any form, where its text can make some. */
function resultOf({ answers }: RoutineRow, parameters: readonly ParameterRow[]): RoutineResult {
  const members = parameters.filter(({ parameter_mode: mode }) => mode !== 'IN').map(readValue);
  if (members.length > 0) return { kind: 'objects', many: false, members };
  return answers === 0
    ? { kind: 'nothing' }
    : { kind: 'value', many: true, value: { name: 'value', nativeType: 'json', type: json } };
}

const json: ColumnType = {
  ...({ portable: 'json', base: 'json', category: 'base', domains: [], element: null, enum: null } as const),
  ...{ values: null, maxLength: null, precision: null, scale: null },
};

function readValue(row: ParameterRow): RoutineValue {
  const like: ColumnRow = { ...asColumn, ...row, column_type: row.dtd_identifier, table_schema: '', table_name: '' };
  return { name: row.parameter_name ?? '', nativeType: row.dtd_identifier, type: columnType(like, false) };
}

/** Facts of columns that parameters do not have. */
const asColumn = {
  ...{
    column_name: '',
    column_default: null,
    is_nullable: 'YES',
    srs_id: null,
    srs_planar: null,
    collation_name: null,
  },
  ...{ extra: '', column_comment: '', generation_expression: null },
} as const;

function reasonOf(inputs: readonly RoutineValue[]): string | null {
  if (inputs.length > maxArguments) return `has more than ${maxArguments} arguments`;
  return inputs.some(({ name }) => name === 'access_token')
    ? 'has an argument "access_token", which is the name of the token in a query'
    : null;
}

const maxArguments = 50;
