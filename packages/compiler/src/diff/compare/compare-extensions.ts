/**
 * Compares the project's own code, as the generated files of both versions list it. These are routes as a role may call
 * them, and hooks that take part in its writes.
 */
import type { ObjectShape, Shape } from '@tablewright/runtime/language';
import type { ListedExtensions } from '../../extensions/listed.ts';
import type { TypedRoute } from '../../extensions/type-routes.ts';
import type { Direction } from '../change.ts';
import type { Found, Side } from '../side.ts';
import { compareHooks } from './compare-hooks.ts';
import { type Fitting, shapeFits } from './shape-fits.ts';

/** Those of both versions. */
export interface ExtensionsOfBoth {
  readonly before: ListedExtensions;
  readonly after: ListedExtensions;
}

/** Compares them for a role. */
export function compareExtensions(
  role: string,
  was: Side,
  is: Side,
  { before, after }: ExtensionsOfBoth,
): readonly Found[] {
  return [
    ...compareRoutes(role, was, is, before.routes, after.routes),
    ...compareHooks(was, is, before.hooks, after.hooks),
  ];
}

function compareRoutes(
  role: string,
  was: Side,
  is: Side,
  before: readonly TypedRoute[],
  after: readonly TypedRoute[],
): readonly Found[] {
  const mayCall = ({ access }: Side, { roles }: TypedRoute): boolean => access.admin || roles.includes(role);
  const fresh = new Map(after.map((route) => [formOf(route), route]));
  const previous = new Set(before.map(formOf));
  const permissions = (direction: Direction) => (was.access.admin || is.access.admin ? {} : { rights: direction });
  return [
    ...before.flatMap((route): readonly Found[] => {
      const now = fresh.get(formOf(route));
      const [could, can] = [mayCall(was, route), now !== undefined && mayCall(is, now)];
      const name = nameOf(route);
      if (could && now === undefined) {
        return [
          {
            ...placeOf(route, 'route-removed'),
            message: `There is no route "${name}" any more.`,
            ...permissions('narrowing'),
          },
        ];
      }
      if (could && !can) {
        return [
          {
            ...placeOf(route, 'route-revoked'),
            message: `"${name}" is no route of the role any more.`,
            ...permissions('narrowing'),
          },
        ];
      }
      if (now === undefined || !can) return [];
      if (!could)
        return [
          {
            ...placeOf(now, 'route-granted'),
            message: `"${name}" is a route of the role.`,
            ...permissions('widening'),
          },
        ];
      return compareTypes(route, now);
    }),
    ...after.flatMap((route): readonly Found[] =>
      previous.has(formOf(route)) || !mayCall(is, route)
        ? []
        : [
            {
              ...placeOf(route, 'route-added'),
              message: `There is a route "${nameOf(route)}".`,
              ...permissions('widening'),
            },
          ],
    ),
  ];
}

/** Form of a route as requests see it: path parameters have no names there. */
function formOf({ method, path }: TypedRoute): string {
  return `${method} ${path.replaceAll(/:\w+/g, ':')}`;
}

function nameOf({ method, path }: TypedRoute): string {
  return `${method} ${path}`;
}

function placeOf(route: TypedRoute, rule: Found['rule']): Pick<Found, 'rule' | 'subject' | 'operations'> {
  return { rule, subject: `route ${nameOf(route)}`, operations: [nameOf(route)] };
}

const taken: Fitting = { closed: true, texts: false, anyLiteral: false };
const addressed: Fitting = { ...taken, texts: true };
const sent: Fitting = { ...taken, closed: false };

function compareTypes(was: TypedRoute, is: TypedRoute): readonly Found[] {
  const found = (rule: Found['rule'], message: string): Found => ({ ...placeOf(is, rule), message });
  const inputs = [
    ['parameters', objectOf(inOrder(was)), objectOf(inOrder(is)), addressed],
    ['query', objectOf(was.query), objectOf(is.query), addressed],
    ['body', was.body, is.body, taken],
  ] as const;
  return [
    ...(was.path === is.path ? [] : [found('route-parameter-renamed', `"${nameOf(was)}" is "${nameOf(is)}" now.`)]),
    ...inputs.flatMap(([part, old, fresh, how]) => {
      const narrowed = !takes(old, fresh, how);
      const widened = !takes(fresh, old, how);
      if (narrowed)
        return [
          found(
            'route-input-narrowed',
            `"${nameOf(is)}" takes ${part === 'parameters' ? 'other' : 'another'} ${part} than before.`,
          ),
        ];
      return widened ? [found('route-input-widened', `"${nameOf(is)}" takes more as its ${part}.`)] : [];
    }),
    ...compareAnswers(was.response, is.response).map((rule) =>
      found(rule, `"${nameOf(is)}" answers ${answers[rule]}.`),
    ),
  ];
}

const answers = {
  'route-answer-changed': 'something else',
  'route-answer-values': 'values that it did not',
  'route-answer-narrowed': 'more precisely, or with more members',
} as const;

/** Parameters of the path by their places, because requests have no names for them. */
function inOrder({ path, params }: TypedRoute): ObjectShape {
  const names = path.split('/').flatMap((part) => (part.startsWith(':') ? [part.slice(1)] : []));
  const shapes = new Map(params?.members.map(({ name, shape }) => [name, shape]));
  return {
    kind: 'object',
    members: names.map((name, index) => ({ name: `${index}`, shape: shapes.get(name) ?? { kind: 'string' } })),
  };
}

function objectOf(shape: ObjectShape | undefined): ObjectShape {
  return shape ?? { kind: 'object', members: [] };
}

/** True if input that fitted `old` fits `fresh`; without a type there is no input. */
function takes(old: Shape | undefined, fresh: Shape | undefined, how: Fitting): boolean {
  if (old === undefined || fresh === undefined) return old === fresh;
  return shapeFits(old, fresh, how);
}

function compareAnswers(was: Shape | undefined, is: Shape | undefined): readonly (keyof typeof answers)[] {
  if (was === undefined || is === undefined) return was === is ? [] : ['route-answer-changed'];
  const [promised, kept] = [shapeFits(is, was, sent), shapeFits(was, is, sent)];
  if (promised) return kept && haveSameMembers(was, is) ? [] : ['route-answer-narrowed'];
  return shapeFits(is, was, { ...sent, anyLiteral: true }) ? ['route-answer-values'] : ['route-answer-changed'];
}

/** For outputs that fit each other: true if both have the same members. */
function haveSameMembers(was: Shape, is: Shape): boolean {
  return shapeFits(was, is, taken) && shapeFits(is, was, taken);
}
