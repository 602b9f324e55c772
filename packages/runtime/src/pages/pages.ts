/** The pages for people: their addresses, and their files. These are Handlebars, a style and an icon that a project may replace. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Handlebars from 'handlebars';
import { readTemplates, strictly, TemplateError, textOf } from '../template-files.ts';

export const pageNames = ['accept-invite', 'reset-password', 'login', 'two-factor'] as const;

type PageName = (typeof pageNames)[number];

/** Addresses of the page that lists the features of a server; for programs there is no such route. */
export const homePaths = ['/', '/admin'] as const;

export function pagePath(name: PageName): string {
  return `/admin/${name}`;
}

export const pagePaths: readonly string[] = pageNames.map(pagePath);

interface Paged {
  readonly docs: boolean;
  readonly graphiql: boolean;
  readonly accounts: boolean;
}

/** Paths of the pages that people begin with. */
export function startPaths({ docs, graphiql, accounts }: Paged): readonly string[] {
  return ['/', ...(docs ? ['/docs'] : []), ...(graphiql ? ['/graphql'] : []), ...(accounts ? [pagePath('login')] : [])];
}

export const assetsPath = '/admin/assets';

/** Values that a template may print. */
export interface PageView extends Paged {
  readonly project: string;
  /** PASSWORD_MIN_LENGTH. */
  readonly passwordMinLength: number;
  /** False if sign-in by password is off: AUTH_DISABLE_DEFAULT. */
  readonly passwords: boolean;
}

/** A page by the name of its template; `home` lists the features of a server. */
export type TemplateName = PageName | 'home';

/** Style, icon and templates, loaded from their files. */
export type PageTemplates = ReturnType<typeof loadPageTemplates>;

const templateNames: readonly TemplateName[] = ['home', ...pageNames];
const partials = ['layout', 'messages'] as const;
const style = 'style.css';
const icon = 'icon.svg';
const fileNames: readonly string[] = [...partials.map(fileOf), ...templateNames.map(fileOf), style, icon];

/**
 * Reads and compiles the templates, those in `folder` in place of the platform's own; null for none. Throws
 * `TemplateError` for a file that replaces none, and for one that cannot be printed.
 */
export function loadPageTemplates(folder: string | null) {
  const texts = readTemplates('pages', folder, fileNames);
  const engine = Handlebars.create();
  const compile = (name: string) => engine.compile<PageView>(textOf(texts, fileOf(name)), strictly);
  for (const name of partials) engine.registerPartial(name, compile(name));
  const writers = new Map(templateNames.map((name) => [name, compile(name)]));
  const print = (name: TemplateName, view: PageView): string => writers.get(name)?.(view) ?? '';
  // The platform's own are printed by tests: compiling them is left to the first request.
  if (folder !== null) for (const name of templateNames) check(name, print);
  return { style: textOf(texts, style), icon: textOf(texts, icon), print };
}

/** Prints a page once, because errors of its template show only then. */
function check(name: TemplateName, print: PageTemplates['print']): void {
  try {
    const all = { passwords: true, docs: true, graphiql: true, accounts: true };
    print(name, { project: 'Project', passwordMinLength: 8, ...all });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new TemplateError(`The templates of the page "${name}" cannot be printed: ${reason}`);
  }
}

function fileOf(name: string): string {
  return `${name}.html.hbs`;
}

/** Beside the code, in the repository as in the published package. */
const folder = fileURLToPath(new URL('../../browser/', import.meta.url));

/** Other people's modules that the scripts import, each one file without imports of its own. */
const libraries: ReadonlyMap<string, string> = new Map([['uqr', import.meta.resolve('uqr')]]);

export function readScripts(): ReadonlyMap<string, string> {
  const names = readdirSync(folder).filter((name) => name.endsWith('.js'));
  const scripts = names.map((name) => [name, withPaths(readFileSync(join(folder, name), 'utf8'))] as const);
  const others = [...libraries].map(
    ([name, url]) => [libraryFile(name), readFileSync(fileURLToPath(url), 'utf8')] as const,
  );
  return new Map([...scripts, ...others]);
}

/** Browsers import by path; names of packages mean nothing to them. */
function withPaths(text: string): string {
  return [...libraries.keys()].reduce(
    (result, name) => result.replaceAll(`from '${name}'`, `from './${libraryFile(name)}'`),
    text,
  );
}

function libraryFile(name: string): string {
  return `library-${name}.js`;
}
