/** Compiled forms of an operation for each set of values of its `@skip` and `@include` variables. */
import type { DocumentNode } from 'graphql';
import { createPlanCache } from '../../database/plan-cache.ts';
import type { OperationSource } from '../documents/operation.ts';
import { type Collecting, conditionVariables, fragmentsOf } from './collect.ts';
import type { Variables } from './input.ts';

/** One set of values, with what documents are collected with under it. */
export interface Variant {
  readonly collecting: Collecting;
  /** One character per variable. */
  readonly name: string;
}

/** Sets of values kept per operation: at most twice as many. */
const maxVariants = 8;

/** Makes what finds the compiled form for the variables of a request, each made when it is first asked for. */
export function createVariants<T>(
  { document, schema }: OperationSource,
  compile: (variant: Variant) => T,
): (variables: Variables) => T {
  const names = conditionVariables(document);
  const fragments = fragmentsOf(document);
  const cache = createPlanCache<T>(maxVariants);
  let only: T | undefined;

  function create(variables: Variables, name: string): T {
    const isTrue = (variable: string): boolean => variables[variable] === true;
    const compiled = compile({ collecting: { schema: schema.schema, fragments, isTrue }, name });
    if (names.length === 0) only = compiled;
    else cache.set(name, compiled);
    return compiled;
  }

  return function find(variables) {
    if (only !== undefined) return only;
    const name = names.map((variable) => (variables[variable] === true ? '1' : '0')).join('');
    return cache.get(name) ?? create(variables, name);
  };
}

/** Context that collects a document as if every condition included its fields. */
export function collectingAll(document: DocumentNode, schema: Collecting['schema']): Collecting {
  return { schema, fragments: fragmentsOf(document), isTrue: null };
}
