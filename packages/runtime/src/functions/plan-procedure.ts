/** Calls of procedures where neither arguments have names nor the call itself answers what it gives. */
import type { Binder } from '../database/binder.ts';
import type { ParameterForm, StatementPart } from '../database/database.ts';
import { cast } from '../dialects/casts.ts';
import type { ResultMember } from '../language/index.ts';
import type { ReadPlan } from '../query/plan/plan.ts';
import { statementOf } from '../query/plan/plan-read.ts';
import type { Printing } from '../sql/row.ts';
import type { Scope } from '../sql/scope.ts';
import { createStatement } from '../sql/statement.ts';
import { printArguments, type RequestedCall } from './print-call.ts';
import { fieldOf } from './result-fields.ts';

/**
 * Plans the call. Values that the procedure gives are variables of the session, which are set before where it also takes
 * them, and read afterwards. Without such values the answer is that of the call: its first rows as JSON.
 */
export function planProcedure(
  open: Scope,
  call: RequestedCall,
): Pick<ReadPlan, 'statement' | 'binders' | 'fields' | 'bare'> {
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
