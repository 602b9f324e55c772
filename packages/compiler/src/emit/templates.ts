/** Handlebars files for what has a fixed shape. They decide nothing; a project may replace each by name. */
import type { Diagnostic } from '@tablewright/introspect';
import Handlebars from 'handlebars';
import { commentText } from '../print/text.ts';

/** Names of the templates that the compiler needs. `header` is a partial that the others begin with. */
export const templateNames = [
  'header',
  'collection',
  'routes',
  'access',
  'fingerprint',
  'functions',
  'extension',
  'extensionTypes',
  'extensions',
  'server',
  'serverTypes',
  'main',
  'client',
  'clientTypes',
  'clientCollection',
] as const;

/** The name of a template. */
export type TemplateName = (typeof templateNames)[number];

/** Variables of a template: printed text by the names that the template uses. */
type TemplateVariables = Readonly<Record<string, string | number>>;

/** Prints a view by the template of that name. Throws `TemplateError` when the template asks for what is not there. */
export type Render = (name: TemplateName, view: TemplateVariables) => string;

/** A template that cannot be used, named, with the reason of the template engine. */
export class TemplateError extends Error {
  readonly diagnostic: Diagnostic;

  constructor(name: string, reason: string) {
    super(reason);
    this.name = 'TemplateError';
    this.diagnostic = {
      code: 'template',
      severity: 'error',
      place: `template ${name}.hbs`,
      message: reason.endsWith('.') ? reason : `${reason}.`,
      hint: `The names that a template may use are those of the template it replaces; see templates/${name}.hbs.`,
    };
  }
}

/** Compiles the templates once. Throws `TemplateError` for one that is missing, unknown or malformed. */
export function compileTemplates(texts: ReadonlyMap<string, string>): Render {
  const key = JSON.stringify([...texts]);
  if (latest?.key !== key) latest = { key, render: compileAll(texts) };
  return latest.render;
}

/** Templates of the last time, because they are nearly always the same. */
let latest: { readonly key: string; readonly render: Render } | undefined;

function compileAll(texts: ReadonlyMap<string, string>): Render {
  const engine = Handlebars.create();
  const options: CompileOptions = { strict: true, noEscape: true, knownHelpersOnly: true };
  const templates = new Map(templateNames.map((name) => [name, engine.compile(textOf(texts, name), options)]));
  const unknown = [...texts.keys()].find(
    (name) => !templateNames.some((templateName) => `${templateName}.hbs` === name),
  );
  if (unknown !== undefined)
    throw new TemplateError(unknown.replace(/\.hbs$/, ''), `There is no template "${unknown}" to replace`);
  engine.registerPartial('header', engine.compile(textOf(texts, 'header'), options));
  return (name, view) => {
    try {
      return `${(templates.get(name) ?? missing(name))(view).trimEnd()}\n`;
    } catch (error) {
      throw new TemplateError(name, error instanceof Error ? error.message : String(error));
    }
  };
}

function textOf(texts: ReadonlyMap<string, string>, name: TemplateName): string {
  const text = texts.get(`${name}.hbs`);
  if (text === undefined) return missing(name);
  try {
    Handlebars.parse(text);
  } catch (error) {
    throw new TemplateError(name, error instanceof Error ? error.message : String(error));
  }
  return text;
}

function missing(name: string): never {
  throw new TemplateError(name, `Template "${name}" is missing`);
}

export interface ModuleText {
  readonly imports: string;
  readonly declarations: string;
}

interface Rendered {
  readonly render: Render;
  readonly about: string;
  readonly text: string;
}

const rendered = new WeakMap<ModuleText, readonly Rendered[]>();

/** Text of a module by the template of its kind, under a heading; one string while the module is one object. */
export function renderModule(render: Render, template: TemplateName, about: string, module: ModuleText): string {
  const all = rendered.get(module)?.filter((entry) => entry.render === render) ?? [];
  const cached = all.find((entry) => entry.about === about);
  if (cached !== undefined) return cached.text;
  const text = render(template, { about: commentText(about), ...module });
  rendered.set(module, [...all, { render, about, text }]);
  return text;
}
