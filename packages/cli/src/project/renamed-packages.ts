/** Imports of packages by the names that they had before: those belong to other people, so nothing of them is ever loaded. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Diagnostic } from '@tablewright/introspect';
import { DiagnosticsError } from '../errors/exit-codes.ts';
import { configName } from '../modules/import-config.ts';

/** Throws where the configuration or an extension of a project imports such a name. Reads the texts and runs nothing. */
export async function refuseRenamed(folder: string): Promise<void> {
  const found = filesOf(folder).flatMap((path) => renamedImports(path, readFileSync(join(folder, path), 'utf8')));
  if (found.length === 0) return;
  const { printDiagnostics } = await import('@tablewright/introspect/resolve');
  throw new DiagnosticsError(found, `${printDiagnostics(found, { color: false })}\nNothing was written.`);
}

function filesOf(folder: string): readonly string[] {
  const config = configName(folder);
  const extensions = join(folder, 'extensions');
  const entries = existsSync(extensions) ? readdirSync(extensions, { recursive: true, withFileTypes: true }) : [];
  const code = entries
    .filter((entry) => entry.isFile() && /\.m?[jt]s$/.test(entry.name) && !entry.parentPath.includes('node_modules'))
    .map((entry) => join('extensions', entry.parentPath.slice(extensions.length), entry.name));
  return [...(config === undefined ? [] : [config]), ...code.sort()];
}

/** One for each line of a file that imports such a name, with the line to write instead. */
export function renamedImports(path: string, text: string): readonly Diagnostic[] {
  return text.split('\n').flatMap((line, index): readonly Diagnostic[] => {
    const name = imported.exec(line)?.[1];
    if (name === undefined) return [];
    const now = nameNow(name);
    return [
      {
        code: 'renamed-package',
        severity: 'error',
        place: `${path}:${index + 1}`,
        message: `"${name}" is "${now}" now; the old name belongs to another product.`,
        hint: `Write: ${line.replace(name, now).trim()}`,
      },
    ];
  });
}

const imported = /(?:\bfrom|\bimport|\brequire)\s*\(?\s*['"](@platform\/[\w./-]+)['"]/;

function nameNow(name: string): string {
  return name.replace(/^@platform\/cli\b/, 'tablewright').replace(/^@platform\//, '@tablewright/');
}
