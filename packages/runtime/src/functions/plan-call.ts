/** Statements of calls that do not read items: values and objects as the function gives them, or the keys of items. */
import type { Binder } from '../database/binder.ts';
import type { ParameterForm, Statement, StatementPart } from '../database/database.ts';
import { cast } from '../dialects/fragment.ts';
import type { Shape, ShapeField } from '../json/shape.ts';
import type { FieldDescriptor, ResultMember } from '../language/index.ts';
import type { Bounds } from '../query/parse/request.ts';
import type { ReadPlan } from '../query/plan/plan.ts';
import { boundValues, printBounds } from '../query/plan/plan-bounds.ts';
import { isStreamed, statementOf } from '../query/plan/plan-read.ts';
import type { Printing } from '../sql/row.ts';
import type { Scope } from '../sql/scope.ts';
import { createStatement } from '../sql/statement.ts';
import { printArguments, printCall, type RequestedCall, valuesOf } from './print-call.ts';

/** A plan of a call, with the values that the call left open. */
export type PlannedCall = Pick<ReadPlan, 'statement' | 'binders'>;

/** Plans a call whose answer is a value, objects, or nothing; `open` is the scope without rules. */
export function planCall(open: Scope, call: RequestedCall, bounds: Bounds): ReadPlan {
  const { returns, procedure } = call.descriptor;
  const statement = createStatement(new Map(), open.dialect);
  const text = printCall({ statement, scope: open }, call, 0);
  const plain = { cost: 0, many: false, fields: [], meta: [], streamed: false } as const;
  if (procedure === true && !open.dialect.namesArguments) return { ...plain, ...planProcedure(open, call) };
  if (procedure === true) {
    const fields = returns.kind === 'objects' ? returns.members.map(fieldOf) : [];
    return { ...plain, ...statementOf(statement.finish(`CALL ${text}`)), fields };
  }
  if (returns.kind === 'nothing') return { ...plain, ...statementOf(statement.finish(`SELECT ${text}`)) };
  const limits = printBounds(statement, bounds, valuesOf(call).length);
  if (returns.kind === 'value') {
    const { value, many } = returns;
    const field: ShapeField = { key: 'data', shape: shapeOf(value, many) };
    const single = `SELECT ${cast(`(${text})`, value.wire.cast)}`;
    const all = `SELECT ARRAY(SELECT ${cast('t.v', value.wire.cast)} FROM ${text} AS t(v)${limits})`;
    return { ...plain, ...statementOf(statement.finish(many ? all : single)), fields: [field], bare: true };
  }
  const members = returns.kind === 'objects' ? returns.members : [];
  const names = members.map((_, index) => `c${index}`);
  const columns = members.map(({ wire }, index) => cast(`t.c${index}`, wire.cast));
  const rows = `SELECT ${columns.join(', ')} FROM ${text} AS t(${names.join(', ')})`;
  const many = returns.kind === 'objects' && returns.many === true;
  return {
    ...plain,
    ...statementOf(statement.finish(many ? rows + limits : rows)),
    many,
    fields: members.map(fieldOf),
    streamed: many && isStreamed(bounds.limit, undefined),
  };
}

/** Values of the parameters of `planCall`. */
export function callValues(call: RequestedCall, bounds: Bounds): readonly string[] {
  const { returns, procedure } = call.descriptor;
  const isList = procedure !== true && 'many' in returns && returns.many === true;
  return isList ? [...valuesOf(call), ...boundValues(bounds)] : valuesOf(call);
}

/** Plans a call that changes something and gives rows of a table: only their keys, so that it always runs to its end. */
export function planKeys(open: Scope, call: RequestedCall, key: readonly FieldDescriptor[]): PlannedCall {
  const statement = createStatement(new Map(), open.dialect);
  const text = printCall({ statement, scope: open }, call, 0);
  const { count, collectedArray, place: numbered } = open.dialect.input;
  const columns = key.map(({ column, comparison }, index) => `${cast(`t.${column}`, comparison)} AS k${index}`);
  const present = key.map(({ column }) => `t.${column} IS NOT NULL`);
  const arrays = key.map((field, index) => collectedArray({ value: `k.k${index}`, settled: 'k.n', field }));
  const rows = `SELECT ${columns.join(', ')}${numbered('')} FROM ${text} AS t WHERE ${present.join(' AND ')}`;
  return statementOf(statement.finish(`SELECT NULL, ${[count(), ...arrays].join(', ')} FROM (${rows}) k`));
}

/** The same statement for callers without a token. */
export function forPublic<Planned extends { readonly statement: Statement }>(planned: Planned): Planned {
  return { ...planned, statement: { ...planned.statement, isPublic: true } };
}

/**
 * Plans the call. Values that the procedure gives are variables of the session, which are set before where it also takes
 * them, and read afterwards. Without such values the answer is that of the call: its first rows as JSON.
 */
function planProcedure(open: Scope, call: RequestedCall): Pick<ReadPlan, 'statement' | 'binders' | 'fields' | 'bare'> {
  const { routine, arguments: args, parameters = [], returns } = call.descriptor;
  const members = returns.kind === 'objects' ? returns.members : [];
  const variables = new Map(members.map(({ name }, index) => [name, `@platform_${index}`]));
  const taken = args.flatMap(({ name }) => {
    const variable = variables.get(name);
    return variable === undefined ? [] : [{ name, variable }];
  });
  const parts: PrintedPart[] = [];
  const add = (print: (printing: Printing) => string, more: Pick<StatementPart, 'call'> = {}): void => {
    const statement = createStatement(new Map(), open.dialect);
    const {
      text,
      binders,
      forms = binders.map(() => 'text' as const),
    } = statement.finish(print({ statement, scope: open }));
    parts.push({ part: { text, parameters: binders.length, ...more }, binders, forms });
  };
  if (taken.length > 0) {
    add((printing) => {
      const values = printArguments(printing, call, 0);
      return `SET ${taken.map(({ name, variable }) => `${variable} = ${values.get(name) ?? 'NULL'}`).join(', ')}`;
    });
  }
  add(
    (printing) => {
      const values = printArguments(printing, call, 0);
      return `CALL ${routine}(${parameters.map((name) => variables.get(name) ?? values.get(name) ?? 'NULL').join(', ')})`;
    },
    { call: true },
  );
  if (members.length > 0) {
    add(() => `SELECT ${members.map((member) => readVariable(member, variables)).join(', ')}`);
  }
  const { statement, binders } = statementOf({
    text: parts.map(({ part }) => part.text).join('; '),
    tables: [],
    binders: parts.flatMap((part) => part.binders),
    forms: parts.flatMap((part) => part.forms),
  });
  const listed = { ...statement, parts: parts.map(({ part }) => part) };
  if (returns.kind !== 'value') return { statement: listed, binders, fields: members.map(fieldOf) };
  return { statement: listed, binders, fields: [{ key: 'data', shape: { kind: 'scalar', wire: 'json' } }], bare: true };
}

interface PrintedPart {
  readonly part: StatementPart;
  readonly binders: readonly Binder[];
  readonly forms: readonly ParameterForm[];
}

function readVariable({ name, wire }: ResultMember, variables: ReadonlyMap<string, string>): string {
  return cast(variables.get(name) ?? 'NULL', wire.cast);
}

/** The field of a member of a result. */
function fieldOf(member: ResultMember): ShapeField {
  return { key: member.name, shape: shapeOf(member, false) };
}

/** The shape of a value, or of a list of them. */
function shapeOf({ wire }: ResultMember, many: boolean | undefined): Shape {
  if (many === true || wire.array === true) return { kind: 'array', element: wire.kind };
  return { kind: 'scalar', wire: wire.kind };
}
