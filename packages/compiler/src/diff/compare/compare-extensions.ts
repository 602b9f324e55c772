/** Compares the project's code, as both versions list it: routes that a role may call, hooks of its writes. */
import type { ObjectShape, Shape, ShapeMember } from '@tablewright/runtime/language';
import type { ListedExtensions } from '../../extensions/listed.ts';
import type { TypedRoute } from '../../extensions/type-routes.ts';
import type { Direction, Severity, Verdicts } from '../rules.ts';
import { type Concern, type Found, operationsIn, permissionChange, type Side } from '../side.ts';

/** Extensions of both versions. */
export interface ExtensionsOfBoth {
  readonly before: ListedExtensions;
  readonly after: ListedExtensions;
}

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
  const found = (route: TypedRoute, rule: Found['rule'], message: string, direction: Direction): Found => ({
    ...placeOf(route, rule),
    message,
    ...(was.access.admin ? {} : permissionChange(is, direction)),
  });
  return [
    ...before.flatMap((route): readonly Found[] => {
      const now = fresh.get(formOf(route));
      const [could, can] = [mayCall(was, route), now !== undefined && mayCall(is, now)];
      const name = nameOf(route);
      if (could && now === undefined) {
        return [found(route, 'route-removed', `There is no route "${name}" any more.`, 'narrowing')];
      }
      if (could && !can) {
        return [found(route, 'route-revoked', `"${name}" is no route of the role any more.`, 'narrowing')];
      }
      if (now === undefined || !can) return [];
      if (!could) return [found(now, 'route-granted', `"${name}" is a route of the role.`, 'widening')];
      return compareTypes(route, now);
    }),
    ...after.flatMap((route): readonly Found[] =>
      previous.has(formOf(route)) || !mayCall(is, route)
        ? []
        : [found(route, 'route-added', `There is a route "${nameOf(route)}".`, 'widening')],
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

/** One kind of hook that there is more or less often than before. */
interface Changed {
  readonly stage: string;
  readonly collection: string;
  readonly action: Exclude<Concern, 'all' | 'read'>;
  /** Number of new ones, below zero for those that are gone. */
  readonly more: number;
}

/** Compares the hooks of both versions, as `extensions.json` lists them, on what a role may write. */
function compareHooks(was: Side, is: Side, before: readonly string[], after: readonly string[]): readonly Found[] {
  const [old, fresh] = [countOf(before), countOf(after)];
  const names = [...new Set([...before, ...after])].sort();
  return names.flatMap((hook): readonly Found[] => {
    const changed = readHook(hook, (fresh.get(hook) ?? 0) - (old.get(hook) ?? 0));
    if (changed === null) return [];
    const { collection, action, more } = changed;
    const operations = operationsIn(more > 0 ? is : was, collection, action);
    // A role that cannot write it does not meet the hook.
    if (operations.length === 0) return [];
    const isCreate = (event: string): boolean => event.endsWith(` ${collection}.create`);
    const shown = action === 'create' && before.some(isCreate) !== after.some(isCreate);
    const verdicts = { ...verdictsOf(changed), ...(shown && described(changed, was, is)) };
    const rule = more > 0 ? 'hook-added' : 'hook-removed';
    return [{ rule, subject: `hook ${hook}`, message: report(changed), operations, verdicts }];
  });
}

function countOf(hooks: readonly string[]): ReadonlyMap<string, number> {
  return new Map([...Map.groupBy(hooks, (hook) => hook)].map(([hook, same]) => [hook, same.length]));
}

/** `before articles.create`; null where nothing has changed. */
function readHook(hook: string, more: number): Changed | null {
  const [, stage = '', collection = '', word] = /^(\w+) (.*)\.(\w+)$/.exec(hook) ?? [];
  const action = (['create', 'update', 'delete'] as const).find((candidate) => candidate === word);
  return action === undefined || more === 0 ? null : { stage, collection, action, more };
}

/** A hook after the commit neither refuses nor changes anything. */
function verdictsOf({ stage }: Changed): Verdicts {
  return { rest: stage === 'afterCommit' ? 'safe' : 'dangerous' };
}

/** Document and client of a collection, which ask for nothing where a hook may fill what a new item needs. */
function described({ collection, more }: Changed, was: Side, is: Side): Verdicts {
  const create = (more > 0 ? was : is).collections.get(collection)?.writes?.create;
  if (create === undefined || create === null) return {};
  const severity: Severity = more > 0 || create.required.length === 0 ? 'safe' : 'breaking';
  return { openapi: severity, client: severity };
}

const stages: Readonly<Record<string, string>> = { afterCommit: 'after the commit of' };

function report({ stage, collection, action, more }: Changed): string {
  const count = Math.abs(more);
  const hooks = `${count} ${count === 1 ? 'hook' : 'hooks'} ${more > 0 ? 'more' : 'less'}`;
  return `"${collection}" has ${hooks} ${stages[stage] ?? stage} ${action}.`;
}

/** Options for looking at values. */
interface Fitting {
  /** True if an object may have no members but those of its type: inputs of routes are closed. */
  readonly closed: boolean;
  /** True for addresses: every value is a text, and one value is as good as a list of one. */
  readonly texts: boolean;
  /** True where one literal is as good as another of its kind. */
  readonly anyLiteral: boolean;
}

/** True if every value of `inner` fits `outer`; may be false for two equivalent types, never true for a misfit. */
export function shapeFits(inner: Shape, outer: Shape, how: Fitting): boolean {
  if (outer.kind === 'json') return true;
  if (inner.kind === 'union') return inner.of.every((part) => shapeFits(part, outer, how));
  if (inner.kind === 'literal') {
    return inner.values.every((value) =>
      alternatives(outer).some((alternative) => literalFits(value, alternative, how)),
    );
  }
  return alternatives(outer).some((alternative) => oneFits(inner, alternative, how));
}

function alternatives(shape: Shape): readonly Shape[] {
  return shape.kind === 'union' ? shape.of : [shape];
}

function literalFits(value: string | number | boolean, outer: Shape, how: Fitting): boolean {
  if (outer.kind === 'literal') {
    return outer.values.some((literal) => literal === value || (how.anyLiteral && typeof literal === typeof value));
  }
  if (how.texts && outer.kind === 'array') return shapeFits({ kind: 'literal', values: [value] }, outer.of, how);
  return outer.kind === 'json' || outer.kind === typeof value || (how.texts && outer.kind === 'string');
}

function oneFits(inner: Exclude<Shape, { kind: 'literal' | 'union' }>, outer: Shape, how: Fitting): boolean {
  if (outer.kind === 'json') return true;
  if (inner.kind === 'array') return outer.kind === 'array' && shapeFits(inner.of, outer.of, how);
  if (inner.kind === 'object') return outer.kind === 'object' && objectFits(inner, outer, how);
  if (how.texts && outer.kind === 'array') return shapeFits(inner, outer.of, how);
  if (inner.kind === 'boolean' && outer.kind === 'literal')
    return [true, false].every((value) => outer.values.includes(value));
  if (inner.kind === outer.kind) return true;
  // A time is a text, and so is every value of an address.
  return outer.kind === 'string' && (inner.kind === 'date' || (how.texts && inner.kind !== 'json'));
}

function objectFits(inner: ObjectShape, outer: ObjectShape, how: Fitting): boolean {
  const innerMembers = new Map(inner.members.map((member) => [member.name, member]));
  const names = new Set(outer.members.map(({ name }) => name));
  const others = [...inner.members.filter(({ name }) => !names.has(name)).map(({ shape }) => shape)];
  const loose = inner.rest === undefined ? others : [...others, inner.rest];
  return (
    outer.members.every((member) => memberFits(innerMembers.get(member.name), inner.rest, member, how)) &&
    loose.every((shape) => (outer.rest === undefined ? !how.closed : shapeFits(shape, outer.rest, how)))
  );
}

function memberFits(
  inner: ShapeMember | undefined,
  rest: Shape | undefined,
  outer: ShapeMember,
  how: Fitting,
): boolean {
  if (inner === undefined) return canBeAbsent(outer, how) && (rest === undefined || shapeFits(rest, outer.shape, how));
  return shapeFits(inner.shape, outer.shape, how) && (!canBeAbsent(inner, how) || canBeAbsent(outer, how));
}

/** In an address a list without elements is not there. */
function canBeAbsent({ optional, shape }: ShapeMember, { texts }: Fitting): boolean {
  return optional === true || (texts && shape.kind === 'array');
}
