/** Functions and procedures of the schema → what generated code states of them. */
import type { Column, RoutineResult, RoutineValue, Schema, ServedFunction } from '@tablewright/introspect/schema';
import {
  type ArgumentDescriptor,
  dialectFacts,
  type FunctionDescriptor,
  type FunctionResult,
  quoteName,
  quoteTable,
  type ResultMember,
} from '@tablewright/runtime/language';
import type { ApiFunction, MemberEnum } from '../api.ts';
import type { NativeForm } from './composite-form.ts';
import { geojsonArgument, geojsonResult } from './geometry-form.ts';
import type { SchemaIndex } from './schema-index.ts';
import { nativeForm, textForm } from './value-form.ts';

export function resolveFunctions({ functions = [], dialect }: Schema, index: SchemaIndex): readonly ApiFunction[] {
  return functions.map((served) => ({
    ...enumsOf(served, index),
    descriptor: describe(served, dialect),
    note: served.routine.comment,
    source: `${served.routine.kind} ${served.routine.signature}`,
  }));
}

function enumsOf({ routine }: ServedFunction, index: SchemaIndex): Pick<ApiFunction, 'graphqlEnums'> {
  const { returns } = routine;
  const members = returns.kind === 'objects' ? returns.members : returns.kind === 'value' ? [returns.value] : [];
  const found = (part: MemberEnum['part'], values: readonly RoutineValue[]): readonly MemberEnum[] =>
    values.flatMap(({ name, type }) => {
      const named = index.graphqlEnum(type.enum ?? type.element?.enum ?? '');
      return named === undefined ? [] : [{ part, name, type: named }];
    });
  const all = [...found('argument', routine.arguments), ...found('result', members)];
  return all.length === 0 ? {} : { graphqlEnums: all };
}

function describe({ name, routine, collection }: ServedFunction, dialect: Schema['dialect']): FunctionDescriptor {
  return {
    name,
    routine: quoteTable(dialect, routine),
    reads: routine.reads,
    ...(routine.kind === 'procedure' && { procedure: true as const }),
    arguments: routine.arguments.map((argument) => ({
      ...argumentOf(dialect, argument),
      ...(argument.optional && { optional: true as const }),
    })),
    ...(routine.parameters && { parameters: routine.parameters }),
    returns: resultOf(dialect, routine.returns, collection),
  };
}

function resultOf(dialect: Schema['dialect'], returns: RoutineResult, collection: string | undefined): FunctionResult {
  if (returns.kind === 'nothing') return { kind: 'nothing' };
  const many = returns.many ? ({ many: true } as const) : {};
  if (returns.kind === 'value') return { kind: 'value', ...many, value: memberOf(dialect, returns.value) };
  if (collection !== undefined) return { kind: 'items', ...many, collection };
  return { kind: 'objects', ...many, members: returns.members.map((member) => memberOf(dialect, member)) };
}

function plainFacts({ name, type }: RoutineValue, { attributes, composite }: NativeForm) {
  const values = type.values ?? type.element?.values;
  return {
    name,
    column: quoteName(name),
    type: type.portable,
    ...(values && { values }),
    ...(type.portable === 'array' && type.element && { element: type.element.portable }),
    ...(attributes && { attributes }),
    ...(composite !== undefined && { composite }),
  };
}

/** A value becomes exactly of the argument's type, so that the database finds the function meant. */
function argumentOf(dialect: Schema['dialect'], argument: RoutineValue): ArgumentDescriptor {
  const { type, nativeType } = argument;
  const form = formOf(dialect, argument);
  const { native } = form;
  const read = form.geometry ? geojsonArgument(dialect, type, form) : form.vector && form.stored;
  if (!dialectFacts[dialect].binaryRows)
    return { ...plainFacts(argument, form), native, ...(read && { stored: read }) };
  const isExact = type.domains.length === 0 && (native === type.base || type.enum !== null);
  const stored = read === undefined ? nativeType : `(${read})::${nativeType}`;
  return { ...plainFacts(argument, form), native, ...(!isExact && { stored }) };
}

function memberOf(dialect: Schema['dialect'], value: RoutineValue): ResultMember {
  const form = formOf(dialect, value);
  const wire = form.geometry && dialectFacts[dialect].binaryRows ? geojsonResult(value.type, form) : form.wire;
  return { ...plainFacts(value, form), native: form.native, wire };
}

/** A value has the form of a column of its type. */
function formOf(dialect: Schema['dialect'], { name, nativeType, type }: RoutineValue): NativeForm {
  const { binaryRows, hasSpatialReferences } = dialectFacts[dialect];
  if (binaryRows) return nativeForm(type, type.portable);
  const column: Column = {
    ...{ name, nativeType, type, nullable: true, fill: { kind: 'none' }, collation: null },
    ...{ comment: null, source: null, updatable: false },
  };
  return textForm(column, type.portable, hasSpatialReferences);
}
