import type { Diagnostic } from '../../diagnostic.ts';
import { entriesOf, formError, isKnownKey, isNothing, placedValue, textOf } from '../yaml/placed-value.ts';
import { readYaml } from '../yaml/read-yaml.ts';
import type { PlacedName, SourceEntry, SourceNode } from '../yaml/source.ts';
import { isKnownRole, parseRoles } from './parse-roles.ts';
import { parseRules } from './parse-rules.ts';
import type { CallSource, PermissionDocument, RoleSource } from './permission-document.ts';

/**
 * Reads the text of a permissions file. An empty text is the document of an absent file: administrators only.
 *
 * Names of collections and fields are looked up later; here the form is judged. A part that is wrong is left out and
 * reported with its line and column.
 */
export function parsePermissions(
  text: string,
  fileName: string,
): { readonly document: PermissionDocument; readonly diagnostics: readonly Diagnostic[] } {
  const { root, diagnostics: problems } = readYaml(text, fileName);
  const diagnostics = [...problems];
  const sections = root === null || isNothing(root) ? new Map<string, SourceNode>() : readSections(root, diagnostics);
  const roles = parseRoles(sections.get('roles'), diagnostics);
  const rules = parseRules(sections.get('permissions'), roles, diagnostics);
  const functions = parseCalls(sections.get('functions'), roles, diagnostics);
  return { document: { fileName, roles, rules, ...(functions.length > 0 && { functions }) }, diagnostics };
}

function readSections(root: SourceNode, diagnostics: Diagnostic[]): ReadonlyMap<string, SourceNode> {
  return new Map(
    entriesOf(root, 'The file', diagnostics).flatMap(({ key, value }) =>
      isKnownKey(key, ['roles', 'permissions', 'functions'], diagnostics) ? [[key.name, value] as const] : [],
    ),
  );
}

/** Reads the section `functions`: role → a list of names, or names with `true` or the arguments that the server sets. */
function parseCalls(
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
