/** Dashboards of Grafana against the types that Grafana publishes, and the names in queries of Prometheus. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** A panel, as far as tests look into it. */
export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly options?: object;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

const root = join(import.meta.dirname, '../..');
const library = '@grafana/grafana-foundation-sdk';

/** Mistakes that the compiler finds in a dashboard, its queries and the options of its panels. */
export function dashboardMistakes(text: string): readonly string[] {
  const { panels = [] }: { readonly panels?: readonly Panel[] } = JSON.parse(text);
  const optionsOf = (wanted: string): readonly (object | undefined)[] =>
    panels.filter(({ type }) => type === wanted).map(({ options }) => options);
  const kinds = ['stat', 'timeseries'];
  const source = [
    `import type { Dashboard } from '${library}/dashboard';`,
    `import type { Dataquery } from '${library}/prometheus';`,
    ...kinds.map((kind) => `import type { Options as ${kind} } from '${library}/${kind}';`),
    `export const dashboard: Dashboard = ${text};`,
    `export const queries: Dataquery[] = ${JSON.stringify(panels.flatMap(({ targets = [] }) => targets))};`,
    ...kinds.map((kind) => `export const ${kind}s: Partial<${kind}>[] = ${JSON.stringify(optionsOf(kind))};`),
  ];
  const unknown = panels.filter(({ type }) => type !== 'row' && !kinds.includes(type));
  return [...unknown.map(({ type }) => `No options are known of ${type}.`), ...mistakesIn(source.join('\n'))];
}

function mistakesIn(source: string): readonly string[] {
  // In the repository, so that the package is found; the file itself is never written.
  const path = join(root, 'test/support/dashboard-of-test.ts');
  const options: ts.CompilerOptions = {
    ...{ strict: true, noEmit: true, skipLibCheck: true, types: [], lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'] },
    ...{ target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext },
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  };
  const host = ts.createCompilerHost(options);
  host.readFile = (name) => (name === path ? source : ts.sys.readFile(name));
  host.fileExists = (name) => name === path || ts.sys.fileExists(name);
  host.getSourceFile = (name, language) => {
    const read = host.readFile(name);
    return read === undefined ? undefined : ts.createSourceFile(name, asPlainTypes(name, read), language);
  };
  const program = ts.createProgram([path], options, host);
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
}

/** JSON has texts and numbers where the library has members of enumerations, and no methods. */
function asPlainTypes(name: string, text: string): string {
  if (!name.includes(library)) return text;
  return text
    .replaceAll(/export declare enum (\w+) \{([^}]*)\}/g, (_, type: string, members: string) => {
      const values = [...members.matchAll(/= ([^,\n]+)/g)].map(([, value]) => value);
      return `export type ${type} = ${values.join(' | ')};`;
    })
    .replaceAll(/\b([A-Z]\w*)\.[A-Z]\w*;/g, '$1;')
    .replaceAll('_implementsDataqueryVariant(): void;', '');
}

/** A metric in a query, with the labels and values that are asked of it. */
export interface Selector {
  readonly metric: string;
  readonly labels: readonly { readonly name: string; readonly values: readonly string[] }[];
}

/** Names in a query: metrics with their labels, and labels by which values are grouped. */
export interface QueryNames {
  readonly selectors: readonly Selector[];
  readonly groups: readonly string[];
}

const words = new Set(['or', 'and', 'unless', 'on', 'ignoring', 'by', 'without', 'bool', 'offset']);

/** Finds them; regular expressions of labels give their alternatives, where these are plain words. */
export function namesInQuery(query: string): QueryNames {
  const groups = [...query.matchAll(/\b(?:by|on|without|ignoring) \(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(/,\s*/),
  );
  const ungrouped = query.replaceAll(/\b(?:by|on|without|ignoring) \([^)]*\)/g, ' ');
  const selectors = [...ungrouped.matchAll(/(?<![\w"$.[])([a-z_]\w*)(?:\{([^}]*)\})?(?![\w"]|\s*\()/g)]
    .filter(([, name = '']) => !words.has(name))
    .map(([, metric = '', inner = '']) => ({ metric, labels: labelsIn(inner) }));
  return { selectors, groups };
}

function labelsIn(text: string): Selector['labels'] {
  return [...text.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)].map(([, name = '', operator, value = '']) => {
    const alternatives = value.split('|').filter((one) => /^\w+$/.test(one));
    return { name, values: operator === '=' || operator === '=~' ? alternatives : [] };
  });
}

/** The text of a file of `templates/deploy/grafana`. */
export function grafanaFile(name: string): string {
  return readFileSync(join(root, 'templates/deploy/grafana', name), 'utf8');
}
