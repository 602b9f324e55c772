/** The routes of extensions as they are registered: address and roles, which decide who is of one access class. */
import type { Diagnostic } from '@tablewright/introspect';
import { didYouMean } from '@tablewright/introspect/did-you-mean';
import type { Schema } from '@tablewright/introspect/schema';
import type { CustomMethod } from '@tablewright/runtime/language';
import type { CallExpression, Node } from 'ts-morph';
import { loadTsMorph } from '../print/libraries.ts';
import { type ExtensionSource, literalText, placeOf, problem, registrationsIn } from './files.ts';

/** A route before its types are read. */
export interface RouteHead {
  readonly method: CustomMethod;
  /** `/reports/:year` */
  readonly path: string;
  /** Names of roles that may call it, beside administrators. */
  readonly roles: readonly string[];
  /** The file, and the position in it, where the call stands. */
  readonly file: string;
  readonly start: number;
  /** The same for people. */
  readonly place: string;
}

/** The names of all roles of a schema, with the two that no file lists. */
export function roleNames({ roles }: Schema): ReadonlySet<string> {
  return new Set(['admin', 'public', ...roles.map(({ name }) => name)]);
}

/** Reads the routes. `roles` are the names of all roles. A file that does not parse has none. */
export function readRoutes(roles: ReadonlySet<string>, sources: readonly ExtensionSource[]) {
  const requested = sources.filter(({ text }) => text.includes('route'));
  if (requested.length === 0) return { heads: [], diagnostics: [] };
  const { Project } = loadTsMorph();
  const project = new Project({ useInMemoryFileSystem: true, skipLoadingLibFiles: true });
  const diagnostics: Diagnostic[] = [];
  const heads = requested.flatMap(({ path, text }) => {
    const calls = registrationsIn(project.createSourceFile(`/${path}`, text)).filter(({ tool }) => tool === 'route');
    return calls.flatMap(({ call }) => readCall(call, path, roles, diagnostics));
  });
  return { heads, diagnostics: [...diagnostics, ...collisions(heads)] };
}

function readCall(
  call: CallExpression,
  file: string,
  roles: ReadonlySet<string>,
  diagnostics: Diagnostic[],
): readonly RouteHead[] {
  const [address, options] = call.getArguments();
  const location = placeOf(address ?? call, file);
  const text = literalText(address);
  const [, method, path = ''] = /^(GET|POST|PUT|PATCH|DELETE) (\/.*)$/.exec(text ?? '') ?? [];
  if (!isMethod(method)) {
    const hint = "Write method and path as text: 'GET /reports/:year'.";
    diagnostics.push(problem('extension-route', location, 'The address of a route is none.', hint));
    return [];
  }
  const complaint = pathComplaint(path);
  if (complaint !== null) diagnostics.push(problem('extension-route', location, ...complaint));
  const granted = readRoles(options, placeOf(options ?? call, file), roles, diagnostics);
  return complaint === null ? [{ method, path, roles: granted, file, start: call.getStart(), place: location }] : [];
}

function isMethod(text: string | undefined): text is CustomMethod {
  return text !== undefined;
}

/** First parts of paths that the platform has or will have, see API specification, sections 2, 3 and 10 to 14. */
const reserved: ReadonlySet<string> = new Set([
  'activity',
  'admin',
  'assets',
  'auth',
  'collections',
  'comments',
  'fields',
  'files',
  'folders',
  'graphql',
  'items',
  'permissions',
  'presets',
  'relations',
  'revisions',
  'roles',
  'server',
  'settings',
  'users',
  'utils',
  'websocket',
]);

function pathComplaint(path: string): readonly [message: string, hint: string] | null {
  const [first = '', ...rest] = path.slice(1).split('/');
  const fits = (part: string): boolean =>
    /^:?[A-Za-z_][A-Za-z0-9_]*$/.test(part) || /^[A-Za-z0-9~_.-]*[A-Za-z0-9]$/.test(part);
  if (first.startsWith(':') || ![first, ...rest].every(fits)) {
    const hint = 'A path begins with a fixed part; its parts are letters, digits, "-", "_", "." or ":name".';
    return [`The path "${path}" cannot be used.`, hint];
  }
  if (reserved.has(first)) return [`The path "/${first}" is the platform's own.`, 'Begin it with another word.'];
  const names = rest.filter((part) => part.startsWith(':'));
  if (new Set(names).size === names.length) return null;
  return [`The path "${path}" has a parameter twice.`, 'Give each parameter a name of its own.'];
}

function readRoles(
  options: Node | undefined,
  location: string,
  roles: ReadonlySet<string>,
  diagnostics: Diagnostic[],
): readonly string[] {
  const { Node } = loadTsMorph();
  const property = Node.isObjectLiteralExpression(options) ? options.getProperty('roles') : undefined;
  const list = Node.isPropertyAssignment(property) ? property.getInitializer() : undefined;
  const names = Node.isArrayLiteralExpression(list) ? list.getElements().map(literalText) : [undefined];
  return names.flatMap((name) => {
    if (name !== undefined && roles.has(name)) return [name];
    const near = name === undefined ? null : didYouMean(name, roles);
    const message = name === undefined ? 'The roles of a route are not written down' : `There is no role "${name}"`;
    const hint = near === null ? "Write who may call it: { roles: ['public'] }." : `Did you mean "${near}"?`;
    diagnostics.push(problem('extension-route', location, message, hint));
    return [];
  });
}

/** Two routes of one address, and one place in a path under two names. */
function collisions(heads: readonly RouteHead[]): readonly Diagnostic[] {
  const byForm = Map.groupBy(heads, ({ path }) => path.replaceAll(/:\w+/g, ':'));
  return [...byForm.values()].flatMap(([first, ...others]) => {
    const taken = new Set([first?.method]);
    return others.flatMap(({ method, path, place: location }) => {
      if (taken.has(method)) {
        const hint = `The other one stands at ${first?.place}.`;
        return [problem('extension-route', location, `There are two routes "${method} ${path}".`, hint)];
      }
      taken.add(method);
      if (path === first?.path) return [];
      const hint = `Call them as in "${first?.path}" at ${first?.place}.`;
      return [problem('extension-route', location, `The path "${path}" gives other names to its parameters.`, hint)];
    });
  });
}
