import { systemCollection } from '@tablewright/runtime/language';
import { meansSystemTable } from '../../passes/system-tables.ts';
import type { Collection } from '../../schema.ts';
import type { Rule } from '../rule.ts';
import { configError } from './config-problem.ts';

/** The platform's own tables and their relations are fixed. */
export const configSystem: Rule = ({ tables, collections }, { config }) => {
  const ownTables = Object.keys(config.collections ?? {}).filter((name) => meansSystemTable(name, tables, config));
  const fixed = new Set(collections.flatMap(fixedRelations));
  const ownRelations = Object.keys(config.relations ?? {}).filter((name) => fixed.has(name));
  return [
    ...ownTables.map((name) => refusal('collections', name)),
    ...ownRelations.map((name) => refusal('relations', name)),
  ];
};

/**
 * Keys of the relations to other collections of the platform: all that lead through a field, and the named inverses.
 */
function fixedRelations({ name: owner, system, fields }: Collection): readonly string[] {
  if (system === undefined) return [];
  const inverses = Object.keys(systemCollection(owner)?.inverses ?? {});
  return [...fields.map(({ name }) => name), ...inverses].map((name) => `${owner}.${name}`);
}

function refusal(section: string, name: string) {
  const message = `"${name}" belongs to the platform and takes no configuration.`;
  return configError([section, name], 'system-table', message, 'Remove the entry.');
}
