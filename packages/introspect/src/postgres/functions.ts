import type { PortableType } from '@tablewright/runtime/language';
import { sortedBy } from '../order.ts';
import type { Routine, RoutineArgument, RoutineResult, RoutineValue } from '../schema.ts';
import { tableId } from '../table-names.ts';
import type { FunctionCatalog, FunctionRow } from './catalog.ts';
import { buildColumnType, type TypesByOid } from './types.ts';

type Parameter = FunctionRow['parameters'][number];

export function buildRoutines({ functions, types }: FunctionCatalog): readonly Routine[] {
  const byOid: TypesByOid = new Map(types.map((row) => [row.oid, row]));
  return sortedBy(
    functions.map((row) => buildRoutine(row, byOid)),
    ({ signature }) => signature,
  );
}

function buildRoutine(row: FunctionRow, types: TypesByOid): Routine {
  const inputs = row.parameters.filter(({ mode }) => mode === 'i' || mode === 'b' || mode === 'v');
  const required = inputs.length - row.pronargdefaults;
  const readValue = ({ type, nativeType }: Parameter, name: string): RoutineValue => ({
    name,
    nativeType,
    type: buildColumnType(types, type, -1),
  });
  const args = inputs.map(
    (parameter, index): RoutineArgument => ({
      ...readValue(parameter, parameter.name ?? ''),
      optional: index >= required,
    }),
  );
  const [table, ...others] = inputs.map((parameter) => parameter.row);
  const unsupported = reasonOf(row, inputs, types);
  return {
    schema: row.nspname,
    name: row.proname,
    signature: `${tableId(row.nspname, row.proname)}(${inputs.map(({ nativeType }) => nativeType).join(', ')})`,
    kind: row.prokind === 'p' ? 'procedure' : 'function',
    reads: row.prokind !== 'p' && row.provolatile !== 'v',
    ...(row.prosecdef && { definer: row.ownPath ? ('fixed' as const) : ('open' as const) }),
    arguments: args,
    returns: resultOf(row, types, readValue),
    ...(table && others.length === 0 && { row: tableId(...table) }),
    ...(unsupported !== null && { unsupported }),
    comment: row.description,
  };
}

function resultOf(
  row: FunctionRow,
  types: TypesByOid,
  readValue: (parameter: Parameter, name: string) => RoutineValue,
): RoutineResult {
  const many = row.proretset;
  const outputs = row.parameters
    .map((parameter, index) => ({ parameter, name: parameter.name ?? `column${index + 1}` }))
    .filter(({ parameter }) => isOutput(parameter));
  if (outputs.length > 0)
    return { kind: 'objects', many, members: outputs.map(({ parameter, name }) => readValue(parameter, name)) };
  if (row.prokind === 'p' || types.get(row.prorettype)?.typname === 'void') return { kind: 'nothing' };
  if (row.attributes !== null && row.relation !== null && row.relationSchema !== null) {
    const members = row.attributes.map(({ name, type, typmod, nativeType }) => ({
      name,
      nativeType,
      type: buildColumnType(types, type, typmod),
    }));
    return { kind: 'rows', many, table: tableId(row.relationSchema, row.relation), members };
  }
  return {
    kind: 'value',
    many,
    value: { name: 'value', nativeType: row.resultType, type: buildColumnType(types, row.prorettype, -1) },
  };
}

/** Pseudotypes that are no value of a request or an answer; `void` is no result. */
function reasonOf(row: FunctionRow, inputs: readonly Parameter[], types: TypesByOid): string | null {
  const pseudo = (oid: string): string | null => {
    const type = types.get(oid);
    return type?.typtype === 'p' && type.typname !== 'void' ? type.typname : null;
  };
  if (row.prokind === 'a' || row.prokind === 'w') return 'is an aggregate or a window function';
  if (row.variadic) return 'is variadic';
  const result = pseudo(row.prorettype);
  if (row.prokind !== 'p' && result !== null && !(result === 'record' && hasOutputs(row))) return `returns "${result}"`;
  if (types.get(row.prorettype)?.typname === 'refcursor') return 'returns "refcursor"';
  const taken = row.parameters.map(({ type }) => pseudo(type)).find((name) => name !== null);
  if (taken != null) return `has an argument of type "${taken}"`;
  const isOfRow = inputs.length === 1 && inputs[0]?.row != null;
  if (inputs.some(({ name }) => name === null) && !isOfRow) return 'has an argument without a name';
  const names = inputs.map(({ name }) => name);
  if (new Set(names).size < names.length) return 'has two arguments of one name';
  if (inputs.length > maxArguments) return `has more than ${maxArguments} arguments`;
  if (names.includes('access_token'))
    return 'has an argument "access_token", which is the name of the token in a query';
  const isNested = types.get(row.prorettype)?.element !== null && types.get(row.prorettype)?.typtype === 'b';
  if (row.proretset && isNested && !hasOutputs(row)) return 'returns a set of arrays';
  const listed = [...row.parameters.map(({ type }) => type), row.prorettype].map((oid) => elementOf(types, oid));
  const unlisted = listed.find((portable) => portable === 'geometry' || portable === 'vector');
  if (unlisted) return `takes or returns an array of type "${unlisted}"`;
  const unread =
    row.prokind === 'p' && row.parameters.find((parameter) => isOutput(parameter) && !isPlain(types, parameter));
  return unread ? `gives a value of type "${unread.nativeType}", which CALL does not give as text` : null;
}

/** Types whose binary form is read as it is. Others are selected as text, which the result of a CALL cannot be. */
const plainTypes: ReadonlySet<string> = new Set([
  ...['bool', 'int2', 'int4', 'int8', 'text', 'varchar', 'bpchar', 'name', 'uuid', 'bytea', 'json', 'jsonb'],
  ...['date', 'time', 'timestamp', 'timestamptz'],
]);

function isPlain(types: TypesByOid, { type: oid }: Parameter): boolean {
  const type = buildColumnType(types, oid, -1);
  const scalar = type.element ?? type;
  if (scalar !== type && scalar.domains.length > 0) return false;
  return scalar.category === 'enum' || (scalar.category === 'base' && plainTypes.has(scalar.base));
}

/** Type of the elements of an array; undefined for any other type. */
function elementOf(types: TypesByOid, oid: string): PortableType | undefined {
  return types.has(oid) ? buildColumnType(types, oid, -1).element?.portable : undefined;
}

function isOutput({ mode }: Parameter): boolean {
  return mode === 'o' || mode === 'b' || mode === 't';
}

function hasOutputs({ parameters }: FunctionRow): boolean {
  return parameters.some(isOutput);
}

const maxArguments = 50;
