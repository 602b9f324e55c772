import type { Diagnostic } from '../../diagnostic.ts';
import { entriesOf, formError, isKnownKey, textOf } from '../yaml/form.ts';
import { placedValue } from '../yaml/placed-value.ts';
import type { PlacedName, SourceEntry, SourceNode } from '../yaml/source.ts';
import { isKnownRole } from './parse-roles.ts';
import type { CallSource, RoleSource } from './permission-document.ts';

/** Reads the section `functions`: role → a list of names, or names with `true` or the arguments that the server sets. */
export function parseCalls(
  section: SourceNode | undefined,
  roles: readonly RoleSource[],
  diagnostics: Diagnostic[],
): readonly CallSource[] {
  if (section === undefined) return [];
  return entriesOf(section, 'The section "functions"', diagnostics)
    .filter((role) => isKnownRole(role, roles, diagnostics))
    .flatMap(({ key: role, value }) => {
      if (value.kind !== 'list') {
        const entries = entriesOf(value, `The role "${role.name}"`, diagnostics);
        return entries.flatMap((entry) => parseCall(role, entry, diagnostics));
      }
      return value.items.flatMap((item) => {
        const name = textOf(item, diagnostics);
        return name === null ? [] : [{ role, function: { name, place: item.place }, args: [] }];
      });
    });
}

function parseCall(role: PlacedName, { key, value }: SourceEntry, diagnostics: Diagnostic[]): readonly CallSource[] {
  if (value.kind === 'scalar' && value.value === true) return [{ role, function: key, args: [] }];
  if (value.kind !== 'map') {
    const message = `The function "${key.name}" needs \`true\`, or \`{ args: … }\`.`;
    diagnostics.push(formError(value.place, message, 'To forbid it, leave it out.'));
    return [];
  }
  const args = value.entries
    .filter((entry) => isKnownKey(entry.key, ['args'], diagnostics))
    .flatMap((entry) => entriesOf(entry.value, 'The arguments', diagnostics))
    .map((entry) => ({ field: entry.key, value: placedValue(entry.value) }));
  return [{ role, function: key, args }];
}
