/** Routes of the project's own code: what they take and give, as types. */
import type { CustomRoute, ObjectShape, Shape } from '@platform/runtime/contract';
import type { Member } from '../print/declaration.ts';
import { propertyKey, stringLiteral } from '../print/text.ts';

/** One member for each route, by method and path, with the input first and then the output. */
export function routeMembers(routes: readonly CustomRoute[]): readonly Member[] {
  return routes.map((route) => ({
    name: `${route.method} ${route.path}`,
    optional: false,
    notes: [],
    type: { kind: 'generic', name: 'Route', of: [inputOf(route), outputOf(route)] },
  }));
}

function inputOf({ params, query, body }: CustomRoute): string {
  const parts = [
    ...(params && params.members.length > 0 ? [`params: ${typeOf(params, 'taken')}`] : []),
    ...(query && query.members.length > 0 ? [`query${isFree(query) ? '?' : ''}: ${typeOf(query, 'taken')}`] : []),
    ...(body ? [`body: ${typeOf(body, 'taken')}`] : []),
  ];
  return parts.length === 0 ? 'Record<never, never>' : `{ ${parts.join('; ')} }`;
}

function isFree({ members }: ObjectShape): boolean {
  return members.every(({ optional, shape }) => optional === true || shape.kind === 'array');
}

function outputOf({ response }: CustomRoute): string {
  return response === undefined ? 'undefined' : typeOf(response, 'given');
}

/** A time is text in JSON; requests may have a `Date` for it. */
function typeOf(shape: Shape, side: 'taken' | 'given'): string {
  switch (shape.kind) {
    case 'json':
      return 'JsonValue';
    case 'date':
      return side === 'given' ? 'string' : 'string | Date';
    case 'literal':
      return shape.values
        .map((value) => (typeof value === 'string' ? stringLiteral(value) : String(value)))
        .join(' | ');
    case 'array': {
      const of = typeOf(shape.of, side);
      const whole = /^\w+$/.test(of) ? of : `(${of})`;
      return side === 'given' ? `${whole}[]` : `readonly ${whole}[]`;
    }
    case 'union':
      return shape.of.map((one) => typeOf(one, side)).join(' | ');
    case 'object':
      return objectOf(shape, side);
    default:
      return shape.kind;
  }
}

function objectOf({ members, rest }: ObjectShape, side: 'taken' | 'given'): string {
  const own = members.map(
    ({ name, optional, shape }) => `${propertyKey(name)}${optional === true ? '?' : ''}: ${typeOf(shape, side)}`,
  );
  const others = rest ? [`[name: string]: ${members.length > 0 ? 'unknown' : typeOf(rest, side)}`] : [];
  return own.length + others.length === 0 ? 'Record<never, never>' : `{ ${[...own, ...others].join('; ')} }`;
}
