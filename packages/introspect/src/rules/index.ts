import type { Diagnostic } from '../diagnostic.ts';
import type { Schema } from '../schema.ts';
import { collectionNames } from './collection-names.ts';
import { fieldNames } from './field-names.ts';
import { relationNames } from './relation-names.ts';
import { reservedNames } from './reserved-names.ts';
import type { Rule, RuleSources } from './rule.ts';

/** Every law, in the order of its diagnostics: names, configuration, permissions, choices made. */
export const rules: readonly Rule[] = [collectionNames, fieldNames, relationNames, reservedNames];

/** Asks every rule; all complaints are collected. */
export function checkSchema(schema: Schema, sources: RuleSources): readonly Diagnostic[] {
  return rules.flatMap((rule) => rule(schema, sources));
}
