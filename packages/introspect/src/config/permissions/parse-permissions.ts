import type { Diagnostic } from '../../diagnostic.ts';
import { entriesOf, isKnownKey, isNothing } from '../yaml/form.ts';
import { readYaml } from '../yaml/read-yaml.ts';
import type { SourceNode } from '../yaml/source.ts';
import { parseCalls } from './parse-calls.ts';
import { parseRoles } from './parse-roles.ts';
import { parseRules } from './parse-rules.ts';
import type { PermissionDocument } from './permission-document.ts';

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
