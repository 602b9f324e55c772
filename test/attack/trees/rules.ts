/** The rules of a world as its users would have written them. */
import type { TreeWorld, WriteRule } from './draw-world.ts';

/** The permissions file, in JSON, which is YAML too. The role is that of requests without a token. */
export function rulesOf({ rules, writes }: TreeWorld): string {
  if (writes === null) return JSON.stringify({ permissions: {} });
  const collections = [...writes].map(([name, { create, update, delete: removed }]) => [
    name,
    withoutEmpty({
      read: (rules.get(name) ?? []).map(({ fields, filter }) => ({ fields, ...(filter && { filter }) })),
      create: create.map((rule) => ruleText({ ...rule, filter: null })),
      update: update.map(ruleText),
      delete: removed.map(({ filter }) => (filter === null ? {} : { filter })),
    }),
  ]);
  return JSON.stringify({ permissions: { public: Object.fromEntries(collections) } }, null, 1);
}

function ruleText({ fields, filter, validation, presets }: WriteRule): object {
  return {
    fields,
    ...(filter && { filter }),
    ...(validation && { validation }),
    ...(Object.keys(presets).length > 0 && { presets }),
  };
}

function withoutEmpty(actions: Readonly<Record<string, readonly object[]>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(actions).filter(([, list]) => list.length > 0));
}
