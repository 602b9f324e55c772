/** The types of routes, read from the code of extensions with all that they import. */
import { posix } from 'node:path';
import type { Diagnostic } from '@tablewright/introspect';
import type { CustomRoute, ObjectShape, Shape } from '@tablewright/runtime/language';
import type { CallExpression, Node, Project, Type } from 'ts-morph';
import type { Api } from '../api.ts';
import { loadTsMorph } from '../print/libraries.ts';
import { type ModuleSource, placeOf, problem, registrationsIn } from './files.ts';
import type { RouteHead } from './read-routes.ts';
import { type ReportMismatch, readShape } from './type-shape.ts';

/** A route with its types, before it is known which classes may call it. */
export type TypedRoute = Omit<CustomRoute, 'access'> & Pick<RouteHead, 'roles'>;

/** Typed routes, and every mistake in them. */
interface RoutesTyped {
  readonly routes: readonly TypedRoute[];
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Reads the types of routes. `files` are those of the extensions, what these import, and the generated ones, by their
 * paths from the project's folder on.
 */
export function typeRoutes(heads: readonly RouteHead[], files: readonly ModuleSource[]): RoutesTyped {
  if (heads.length === 0) return { routes: [], diagnostics: [] };
  const project = openProject(files);
  const diagnostics: Diagnostic[] = [];
  const routes = heads.map((head): TypedRoute => {
    const file = project.getSourceFileOrThrow(pathIn(head.file));
    const found = registrationsIn(file).find(({ call }) => call.getStart() === head.start);
    const types = found === undefined ? {} : readTypes(found.call, head, diagnostics);
    return { method: head.method, path: head.path, roles: head.roles, ...types };
  });
  return { routes, diagnostics };
}

/** Deep enough for paths that leave the project's folder. */
const root = '/a/b/c/d/project';

function pathIn(path: string): string {
  return posix.join(root, path);
}

/** A program in memory: with the standard library, and of the runtime the types that generated files name. */
function openProject(files: readonly ModuleSource[]): Project {
  const { ModuleKind, ModuleResolutionKind, Project, ScriptTarget } = loadTsMorph();
  const project = new Project({
    useInMemoryFileSystem: true,
    compilerOptions: {
      strict: true,
      exactOptionalPropertyTypes: true,
      target: ScriptTarget.ES2024,
      lib: ['lib.es2024.d.ts'],
      module: ModuleKind.NodeNext,
      moduleResolution: ModuleResolutionKind.NodeNext,
      allowImportingTsExtensions: true,
      noEmit: true,
    },
  });
  project.createSourceFile('/a/node_modules/@tablewright/runtime/index.d.ts', runtimeTypes);
  for (const { path, text } of files) project.createSourceFile(pathIn(path), text, { overwrite: true });
  return project;
}

const runtimeTypes = `export type FloatValue = number | 'NaN' | 'Infinity' | '-Infinity';
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };
`;

const partNames = ['params', 'query', 'body', 'response'] as const;

function readTypes(
  call: CallExpression,
  head: RouteHead,
  diagnostics: Diagnostic[],
): Pick<CustomRoute, (typeof partNames)[number]> {
  const [argument] = call.getTypeArguments();
  const node = argument ?? call;
  const location = placeOf(node, head.file);
  const report: ReportMismatch = (path, reason) => {
    const hint =
      'Routes take and give what JSON has: objects, arrays, texts, numbers, booleans, null, literals and Date.';
    diagnostics.push(problem('extension-route', location, `"${path}" ${reason}.`, hint));
  };
  const parts = partsOf(argument?.getType(), node, report);
  const params = objectPart(parts.get('params'), 'params', report);
  const query = objectPart(parts.get('query'), 'query', report);
  const body = parts.get('body');
  const response = parts.get('response');
  checkParams(head, params, report);
  checkQuery(query, report);
  if (body !== undefined && head.method === 'GET') report('body', 'is what a GET has not');
  return {
    ...(params && { params }),
    ...(query && { query }),
    ...(body && { body }),
    ...(response && { response }),
  };
}

function partsOf(type: Type | undefined, node: Node, report: ReportMismatch): ReadonlyMap<string, Shape> {
  const parts = new Map<string, Shape>();
  for (const property of type?.getProperties() ?? []) {
    const name = property.getName();
    const partType = property.getTypeAtLocation(node);
    if (!partNames.some((partName) => partName === name)) report(name, 'is no part of a route');
    else if (!partType.isUndefined() && !partType.isVoid()) parts.set(name, readShape(partType, node, name, report));
  }
  return parts;
}

function objectPart(shape: Shape | undefined, name: string, report: ReportMismatch): ObjectShape | undefined {
  if (shape === undefined) return undefined;
  if (shape.kind === 'object' && shape.rest === undefined) return shape;
  report(name, 'must be an object with the names that there are');
  return undefined;
}

/** The path says which there are, the type what they are. */
function checkParams({ path }: RouteHead, params: ObjectShape | undefined, report: ReportMismatch): void {
  const names = path.split('/').flatMap((part) => (part.startsWith(':') ? [part.slice(1)] : []));
  const members = params?.members ?? [];
  for (const name of names) {
    if (!members.some((member) => member.name === name)) report(`params.${name}`, 'stands in the path and has no type');
  }
  for (const { name, optional, shape } of members) {
    if (!names.includes(name)) report(`params.${name}`, 'does not stand in the path');
    else if (optional || !isText(shape)) report(`params.${name}`, 'must be one value, which a path always has');
  }
}

function checkQuery(query: ObjectShape | undefined, report: ReportMismatch): void {
  for (const { name, shape } of query?.members ?? []) {
    const value = shape.kind === 'array' ? shape.of : shape;
    if (!isText(value)) report(`query.${name}`, 'must be a value, or an array of values');
    else if (name === 'access_token') report(`query.${name}`, 'is where tokens stand');
  }
}

/** True if a text in a URL can be a value of the shape. */
function isText(shape: Shape): boolean {
  if (shape.kind === 'union') return shape.of.every(isText);
  return ['string', 'number', 'boolean', 'date', 'literal'].includes(shape.kind);
}

/** Tells which classes may call each route; roles of one class may call the same. */
export function grantRoutes({ access }: Pick<Api, 'access'>, routes: readonly TypedRoute[]): readonly CustomRoute[] {
  const granted = routes.map(({ method, path, roles, ...types }): CustomRoute => {
    const classes = access.filter(
      ({ access: candidate }) => candidate.admin || candidate.roles.some((role) => roles.includes(role)),
    );
    return { method, path, access: classes.map(({ access: granted }) => granted.name), ...types };
  });
  const order = ({ method, path }: CustomRoute): string => `${path} ${method}`;
  return granted.sort((a, b) => (order(a) < order(b) ? -1 : 1));
}
