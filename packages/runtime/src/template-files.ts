/** Files of templates that a server prints: the platform's own, which a project may replace one by one by their names. */
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Purpose of templates; the folder of that name holds them. */
type TemplateKind = 'mail' | 'pages';

/**
 * Thrown for templates that cannot be used, with the name of the file.
 * @example
 * await serve(api).catch((error: unknown) => {
 *   if (error instanceof TemplateError) console.error(error.message);
 * });
 */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
}

/** Options for compiling templates: an undefined value is an error. */
export const strictly = { strict: true, knownHelpersOnly: true } as const;

/** Beside the published code, or at the top of the repository: there a copy beside built code may be old. */
const inRepository = import.meta.url.endsWith('.ts');
const ownFolder = fileURLToPath(new URL(inRepository ? '../../../templates/' : '../templates/', import.meta.url));

const things = { mail: 'a mail', pages: 'the pages' } as const;

/** Texts of the named files, those in `folder` first. Throws `TemplateError` for a file that replaces none. */
export function readTemplates(
  kind: TemplateKind,
  folder: string | null,
  fileNames: readonly string[],
): ReadonlyMap<string, string> {
  const kinds = new Set(fileNames.map((name) => extname(name)));
  const defaults = readFolder(join(ownFolder, kind), kinds);
  const replacing = folder === null ? [] : readFolder(folder, kinds);
  const unknown = replacing.find(([name]) => !fileNames.includes(name))?.[0];
  if (unknown === undefined) return new Map([...defaults, ...replacing]);
  throw new TemplateError(`"${unknown}" replaces no template of ${things[kind]}. They are ${fileNames.join(', ')}.`);
}

/** The text of one of them. Throws `TemplateError` where it is missing. */
export function textOf(texts: ReadonlyMap<string, string>, name: string): string {
  const text = texts.get(name);
  if (text === undefined) throw new TemplateError(`The template "${name}" is missing.`);
  return text;
}

/** Files of other kinds may lie there for other reasons. */
function readFolder(folder: string, kinds: ReadonlySet<string>): readonly (readonly [name: string, text: string])[] {
  const names = readdirSync(folder).filter((name) => kinds.has(extname(name)));
  return names.sort().map((name) => [name, readFileSync(join(folder, name), 'utf8')] as const);
}
