/** TypeScript types → shapes: the part of them that JSON can express. */
import type { ObjectShape, Shape, ShapeMember } from '@tablewright/runtime/language';
import type { Node, Type } from 'ts-morph';
import { canonicalJson } from '../print/json.ts';

/** Takes what cannot be said: where in the type it stands, and why, as the rest of a sentence. */
export type ReportMismatch = (path: string, reason: string) => void;

interface Reading {
  /** Where the type is asked for. */
  readonly at: Node;
  readonly reportError: ReportMismatch;
  /** Types around the one that is read. */
  readonly around: readonly Type[];
  readonly path: string;
}

/** Nesting beyond any intended type. */
const deepest = 32;

/** The shape of a type. A type that JSON cannot express is reported, and becomes an open shape. */
export function readShape(type: Type, node: Node, path: string, report: ReportMismatch): Shape {
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

/** Why JSON cannot say a type; null when it can. */
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

/** Literals become one part; parts are ordered by what they say, so that nothing else decides their order. */
function unionOf(types: readonly Type[], reading: Reading): Shape {
  const present = types.filter((type) => !type.isUndefined());
  if (present.length < types.length && reading.path.endsWith('[]'))
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
