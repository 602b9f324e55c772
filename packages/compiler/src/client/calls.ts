/** Functions of the database and routes of the project's own code: types of their input and output. */
import type { ArgumentDescriptor, CustomRoute, ObjectShape, ResultMember, Shape } from '@tablewright/runtime/language';
import { type DeclaredMember, member } from '../print/declarations.ts';
import { propertyKey, stringLiteral } from '../print/text.ts';
import { array, generic, list, nullable, object, type Type, type TypeMember, union } from '../print/type.ts';
import type { RoleFunction } from '../role-view/role-view.ts';
import type { ClientCollections } from './client-collections.ts';
import { sentType, takenType } from './values.ts';

/** One member for each function: the type of its call. */
export function functionMembers(
  functions: readonly RoleFunction[],
  collections: ClientCollections,
): readonly DeclaredMember[] {
  return functions.map((called) =>
    member(called.name, overload(called, collections), called.note ? [called.note] : []),
  );
}

function overload(called: RoleFunction, collections: ClientCollections): Type {
  const { name, returns } = called;
  const start = [stringLiteral(name), argumentsType(called.arguments)] as const;
  if (returns.kind === 'items') {
    const facts = collections.get(returns.collection)?.names.facts ?? 'never';
    return generic('ItemsCall', ...start, 'Schema', facts, returns.many === true ? 'true' : 'false');
  }
  return generic('ValueCall', ...start, outputType(returns));
}

function argumentsType(args: readonly ArgumentDescriptor[]): Type {
  if (args.length === 0) return generic('Record', 'never', 'never');
  return object(
    args.map(({ name, optional, values, ...argument }) => ({
      name: propertyKey(name),
      optional: optional === true,
      type: nullable(takenType({ ...argument, wire: { kind: 'text' } }, values ?? null)),
    })),
  );
}

function outputType(returns: Exclude<RoleFunction['returns'], { kind: 'items' }>): Type {
  if (returns.kind === 'nothing') return 'undefined';
  const single = returns.kind === 'value' ? memberType(returns.value) : objectType(returns.members);
  return returns.many === true ? array(single) : single;
}

function objectType(members: readonly ResultMember[]): Type {
  return object(
    members.map((member) => ({ name: propertyKey(member.name), optional: false, type: memberType(member) })),
  );
}

function memberType({ values, ...member }: ResultMember): Type {
  return nullable(sentType(member, values ?? null));
}

/** One member for each route, by method and path, with the input first and then the output. */
export function routeMembers(routes: readonly CustomRoute[]): readonly DeclaredMember[] {
  return routes.map((route) =>
    member(`${route.method} ${route.path}`, generic('Route', inputOf(route), outputOf(route))),
  );
}

function inputOf({ params, query, body }: CustomRoute): Type {
  const parts: readonly TypeMember[] = [
    ...(params && params.members.length > 0 ? [part('params', false, typeOf(params, 'taken'))] : []),
    ...(query && query.members.length > 0 ? [part('query', isFree(query), typeOf(query, 'taken'))] : []),
    ...(body ? [part('body', false, typeOf(body, 'taken'))] : []),
  ];
  return parts.length === 0 ? nothing : object(parts);
}

function part(name: string, optional: boolean, type: Type): TypeMember {
  return { name, optional, type };
}

const nothing = generic('Record', 'never', 'never');

function isFree({ members }: ObjectShape): boolean {
  return members.every(({ optional, shape }) => optional === true || shape.kind === 'array');
}

function outputOf({ response }: CustomRoute): Type {
  return response === undefined ? 'undefined' : typeOf(response, 'given');
}

/** A time is text in JSON; requests may have a `Date` for it. */
function typeOf(shape: Shape, side: 'taken' | 'given'): Type {
  switch (shape.kind) {
    case 'json':
      return 'JsonValue';
    case 'date':
      return side === 'given' ? 'string' : union('string', 'Date');
    case 'literal':
      return union(...shape.values.map((value) => (typeof value === 'string' ? stringLiteral(value) : String(value))));
    case 'array':
      return side === 'given' ? array(typeOf(shape.of, side)) : list(typeOf(shape.of, side));
    case 'union':
      return union(...shape.of.map((alternative) => typeOf(alternative, side)));
    case 'object':
      return objectOf(shape, side);
    default:
      return shape.kind;
  }
}

/** An index stands for every name, so beside others it cannot say what is behind it. */
function objectOf({ members, rest }: ObjectShape, side: 'taken' | 'given'): Type {
  const listed = members.map(({ name, optional, shape }) =>
    part(propertyKey(name), optional === true, typeOf(shape, side)),
  );
  const others = rest ? [part('[name: string]', false, members.length > 0 ? 'unknown' : typeOf(rest, side))] : [];
  return listed.length + others.length === 0 ? nothing : object([...listed, ...others]);
}
