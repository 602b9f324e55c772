/** What the script of a client states: all that a class may do, and nothing that it may not. */
import { data, object, printOpen, type Value } from '../print/value.ts';
import { ownMethods, type Parts } from './parts.ts';
import { rightsOf } from './rights.ts';
import type { ClientCollection } from './surface.ts';

/** Prints the argument of `bindClient`. */
export function printAbilities(parts: Parts): string {
  const abilities = abilitiesOf(parts);
  return abilities.kind === 'object' && abilities.entries.length === 0 ? '{}' : printOpen(abilities, 0);
}

function abilitiesOf(parts: Parts): Value {
  const rights = (ones: readonly ClientCollection[]) => {
    const groups = [...Map.groupBy(ones, (one) => rightsOf(one).join()).values()];
    const listed = groups.map((same) => ({
      names: same.map(({ view }) => view.name),
      rights: same[0] === undefined ? [] : rightsOf(same[0]),
    }));
    return listed.length === 0 ? undefined : data(listed);
  };
  const some = (list: readonly string[]) => (list.length === 0 ? undefined : data(list));
  const users = parts.system.find(([name]) => name === 'users');
  const system = parts.system.map(([name, one]) => [name, data(one === null ? [] : rightsOf(one))] as const);
  return object([
    ['items', rights(parts.items)],
    ['singletons', rights(parts.singletons)],
    ['system', system.length === 0 ? undefined : object(system)],
    ['me', users ? data(ownMethods(users[1])) : undefined],
    ['invites', users ? data(parts.invites) : undefined],
    ['comments', parts.system.some(([name]) => name === 'activity') ? some(parts.comments) : undefined],
    ['utils', some(parts.utils)],
    ['handlers', some(parts.handlers)],
    ['routes', some(parts.routes.map(({ method, path }) => `${method} ${path}`))],
  ]);
}
