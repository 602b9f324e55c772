/** The pages as files: Handlebars, a style and an icon that a project may replace, one by one, by files of the same name. */
import Handlebars from 'handlebars';
import { readTemplates, strictly, TemplateError, textOf } from '../template-files.ts';
import { type Paged, type PageName, pageNames } from './page-paths.ts';

/** Values that a template may print. */
export interface PageView extends Paged {
  /** Name of the project. */
  readonly project: string;
  /** PASSWORD_MIN_LENGTH. */
  readonly passwordMinLength: number;
  /** False if sign-in by password is off: AUTH_DISABLE_DEFAULT. */
  readonly passwords: boolean;
}

/** A page by the name of its template; `home` lists the features of a server. */
export type TemplateName = PageName | 'home';

/** Style, icon and templates, loaded from their files. */
export interface PageTemplates {
  readonly style: string;
  readonly icon: string;
  /** Prints a page. */
  print(name: TemplateName, view: PageView): string;
}

const templateNames: readonly TemplateName[] = ['home', ...pageNames];
const partials = ['layout', 'messages'] as const;
const style = 'style.css';
const icon = 'icon.svg';
const fileNames: readonly string[] = [...partials.map(fileOf), ...templateNames.map(fileOf), style, icon];

/**
 * Reads and compiles the templates, those in `folder` in place of the platform's own; null for none. Throws
 * `TemplateError` for a file that replaces none, and for one that cannot be printed.
 */
export function loadPageTemplates(folder: string | null): PageTemplates {
  const texts = readTemplates('pages', folder, fileNames);
  const engine = Handlebars.create();
  const compile = (name: string) => engine.compile<PageView>(textOf(texts, fileOf(name)), strictly);
  for (const name of partials) engine.registerPartial(name, compile(name));
  const writers = new Map(templateNames.map((name) => [name, compile(name)]));
  const print: PageTemplates['print'] = (name, view) => writers.get(name)?.(view) ?? '';
  for (const name of templateNames) check(name, print);
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
