import { meansSystemTable } from '../passes/system-tables.ts';
import { configError } from './config-problem.ts';
import type { Rule } from './rule.ts';

/** What the platform's own tables are and how they are related to each other is fixed. */
export const configSystem: Rule = ({ tables, collections }, { config }) => {
  const system = new Set(collections.filter((one) => one.system !== undefined).map(({ name }) => name));
  const fixed = collections.flatMap(({ name: owner, relations }) =>
    relations.flatMap(({ name, target }) => (system.has(owner) && system.has(target) ? [`${owner}.${name}`] : [])),
  );
  const ownTables = Object.keys(config.collections ?? {}).filter((name) => meansSystemTable(name, tables, config));
  const ownRelations = Object.keys(config.relations ?? {}).filter((name) => fixed.includes(name));
  return [
    ...ownTables.map((name) => refusal('collections', name)),
    ...ownRelations.map((name) => refusal('relations', name)),
  ];
};

function refusal(section: string, name: string) {
  const message = `"${name}" belongs to the platform and takes no configuration.`;
  return configError([section, name], 'system-table', message, 'Remove the entry.');
}
