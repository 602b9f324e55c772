/** The types of routes, read from the code of extensions with all that they import. */
import { posix } from 'node:path';
import type { Diagnostic } from '@tablewright/introspect';
import type { CustomRoute, ObjectShape, Shape, ShapeMember } from '@tablewright/runtime/language';
import type { CallExpression, Node, Project, Type } from 'ts-morph';
import type { Api } from '../api.ts';
import { canonicalJson } from '../print/json.ts';
import { loadTsMorph } from '../print/libraries.ts';
import { type ModuleSource, placeOf, problem, registrationsIn } from './files.ts';
import type { RouteHead } from './read-routes.ts';

/** A route with its types, before it is known which classes may call it. */
export type TypedRoute = Omit<CustomRoute, 'access'> & Pick<RouteHead, 'roles'>;

/** Reads the types of routes; `files` are those of the extensions, their imports and the generated ones, by path. */
export function typeRoutes(heads: readonly RouteHead[], files: readonly ModuleSource[]) {
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

/** Takes what cannot be said: where in the type it stands, and why, as the rest of a sentence. */
type ReportMismatch = (path: string, reason: string) => void;

interface Reading {
  /** Node at which the type is asked for. */
  readonly at: Node;
  readonly reportError: ReportMismatch;
  readonly around: readonly Type[];
  readonly path: string;
}

/** Nesting beyond any intended type. */
const deepest = 32;

/** The shape of a type. A type that JSON cannot express is reported, and becomes an open shape. */
function readShape(type: Type, node: Node, path: string, report: ReportMismatch): Shape {
  return shapeOf(type, { at: node, reportError: report, around: [], path });
}

function shapeOf(type: Type, reading: Reading): Shape {
  if (type.getAliasSymbol()?.getName() === 'JsonValue' || type.isUnknown()) return anything;
  const scalar = scalarOf(type);
  if (scalar !== null) return scalar;
  const reason = refusal(type, reading);
  if (reason !== null) {
    reading.reportError(reading.path, reason);
    return anything;
  }
  const below = { ...reading, around: [...reading.around, type] };
  if (type.isUnion()) return unionOf(type.getUnionTypes(), reading);
  if (type.isArray() || type.isReadonlyArray()) {
    const [element] = type.getTypeArguments();
    return element === undefined
      ? anything
      : { kind: 'array', of: shapeOf(element, { ...below, path: `${reading.path}[]` }) };
  }
  return isLibrary(type, 'Date') ? { kind: 'date' } : objectOf(type, below);
}

const anything: Shape = { kind: 'json' };

function scalarOf(type: Type): Shape | null {
  if (type.isNull()) return { kind: 'null' };
  if (type.isString()) return { kind: 'string' };
  if (type.isNumber()) return { kind: 'number' };
  if (type.isBoolean()) return { kind: 'boolean' };
  if (type.isBooleanLiteral()) return { kind: 'literal', values: [type.getText() === 'true'] };
  const value = type.isLiteral() ? type.getLiteralValue() : undefined;
  return typeof value === 'string' || typeof value === 'number' ? { kind: 'literal', values: [value] } : null;
}

/** Reason why JSON cannot say a type; null when it can. */
function refusal(type: Type, { around }: Reading): string | null {
  if (type.isAny()) return 'is "any", or of a type that is not known here';
  if (around.length > deepest || around.includes(type)) return 'leads back to itself';
  if (type.isTuple()) return 'is a tuple';
  if (type.isUnion() || type.isArray() || type.isReadonlyArray() || isLibrary(type, 'Date')) return null;
  if (type.getCallSignatures().length > 0 || type.getConstructSignatures().length > 0) return 'is a function';
  if (!type.isObject() && !type.isIntersection()) return `is "${type.getText()}", which JSON has not`;
  if (type.isIntersection() && !type.getIntersectionTypes().every((part) => part.isObject())) {
    return 'is no object, but a combination of types';
  }
  if (type.isClass() || isLibrary(type)) return `is an object of the class "${type.getSymbol()?.getName()}"`;
  return null;
}

/** True if a type is a class or interface of the standard library, of that name if given. */
function isLibrary(type: Type, name?: string): boolean {
  const symbol = type.getSymbol();
  if (symbol === undefined || symbol.getName().startsWith('__')) return false;
  const isLibraryType = symbol
    .getDeclarations()
    .some((declaration) => declaration.getSourceFile().getFilePath().includes('/typescript/lib/'));
  return isLibraryType && (name === undefined || symbol.getName() === name);
}

/** Paths of values that are there always: elements, bodies and answers. */
const isNeeded = /(?:\[\]|^body|^response)$/;

/** Literals become one part; parts are ordered by what they say, so that nothing else decides their order. */
function unionOf(types: readonly Type[], reading: Reading): Shape {
  const present = types.filter((type) => !type.isUndefined());
  if (present.length < types.length && isNeeded.test(reading.path))
    reading.reportError(reading.path, 'may be undefined');
  const shapes = present.map((type) => shapeOf(type, reading));
  const values = shapes.flatMap((shape) => (shape.kind === 'literal' ? shape.values : []));
  const truths = values.filter((value) => typeof value === 'boolean');
  const others = values.filter((value) => typeof value !== 'boolean');
  const literals = truths.length > 1 ? others : values;
  const parts: readonly Shape[] = [
    ...(literals.length > 0 ? [{ kind: 'literal', values: [...literals].sort(byText) } as const] : []),
    ...(truths.length > 1 ? [{ kind: 'boolean' } as const] : []),
    ...shapes.filter(({ kind }) => kind !== 'literal'),
  ];
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  return { kind: 'union', of: [...parts].sort((a, b) => byText(canonicalJson(a), canonicalJson(b))) };
}

/** Texts by their characters, numbers by size, and by the names of their types what is of different ones. */
function byText(a: string | number | boolean, b: string | number | boolean): number {
  if (typeof a !== typeof b) return typeof a < typeof b ? -1 : 1;
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return String(a) < String(b) ? -1 : 1;
}

function objectOf(type: Type, reading: Reading): ObjectShape {
  const members = type.getProperties().map((property): ShapeMember => {
    const name = property.getName();
    const memberType = property.getTypeAtLocation(reading.at);
    const path = `${reading.path}.${name}`;
    if (name === '__proto__') reading.reportError(path, 'has a name that no body may have');
    const optional =
      property.isOptional() ||
      memberType.isUndefined() ||
      memberType.getUnionTypes().some((part) => part.isUndefined());
    return { name, ...(optional && { optional }), shape: shapeOf(memberType, { ...reading, path }) };
  });
  const others = type.getStringIndexType();
  return {
    kind: 'object',
    members,
    ...(others && { rest: shapeOf(others, { ...reading, path: `${reading.path}[]` }) }),
  };
}
