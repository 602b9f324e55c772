/** Compares the functions of the database that a role may call. */
import type { ArgumentDescriptor, FunctionAccess } from '@tablewright/runtime/language';
import type { RoleFunction } from '../../role-view/role-view.ts';
import { type Direction, everywhere } from '../rules.ts';
import { type Found, pairs, permissionChange, type Side } from '../side.ts';
import { haveGrown } from './compare-fields.ts';
import { compareSetValues } from './compare-rights.ts';

export function compareFunctions(was: Side, is: Side): readonly Found[] {
  const permissions = (direction: Direction) => (was.access.admin ? {} : permissionChange(is, direction));
  return pairs(functionsOf(was), functionsOf(is)).flatMap(({ name, was: old, is: now }): readonly Found[] => {
    if (old === undefined && now !== undefined) {
      const message = `The role calls the function "${name}".`;
      return [{ ...found(now, 'function-added', message), ...permissions('widening') }];
    }
    if (now === undefined && old !== undefined) {
      const message = `There is no function "${name}" any more.`;
      return [{ ...found(old, 'function-removed', message), ...permissions('narrowing') }];
    }
    if (old === undefined || now === undefined) return [];
    const values = compareSetValues(setIn(was, name), setIn(is, name), 'call');
    return [
      ...compareOne(old, now),
      ...values.map((change) => ({ ...found(now, change.rule, change.message), ...change })),
    ];
  });
}

/** Arguments that the server sets. */
function setIn({ access: { functions = [] } }: Side, name: string): NonNullable<FunctionAccess['args']> {
  return functions.find((granted) => granted.function === name)?.args ?? [];
}

function functionsOf({ version, access }: Side): readonly RoleFunction[] {
  return version.view(access).functions;
}

function found({ name, reads }: RoleFunction, rule: Found['rule'], message: string): Found {
  const operations = [`${reads ? 'GET' : 'POST'} /functions/${name}`];
  return { rule, subject: `function ${name}`, message, operations };
}

function compareOne(old: RoleFunction, now: RoleFunction): readonly Found[] {
  const kind = now.reads ? 'only reads now' : 'changes something now';
  return [
    ...(old.reads === now.reads ? [] : [found(now, 'function-volatility-changed', `"${now.name}" ${kind}.`)]),
    ...pairs(old.arguments, now.arguments).flatMap((pair) => compareArgument(now, pair.was, pair.is)),
    ...resultChanges(old, now).map((rule) => found(now, rule, `"${now.name}" gives something else.`)),
    ...(enumsOf(old) === enumsOf(now)
      ? []
      : [found(now, 'graphql-type-changed', `In GraphQL "${now.name}" takes or gives other enums.`)]),
  ];
}

/** The enums of what is in both versions. */
function enumsOf({ graphqlEnums }: RoleFunction): string {
  return JSON.stringify(graphqlEnums.map(({ part, name, type }) => [part, name, type.name]));
}

function compareArgument(
  called: RoleFunction,
  was: ArgumentDescriptor | undefined,
  is: ArgumentDescriptor | undefined,
): readonly Found[] {
  if (is === undefined) {
    return [found(called, 'function-argument-removed', `"${called.name}" has no argument "${was?.name}" any more.`)];
  }
  if (was === undefined || typeOf(was) === typeOf(is)) return presence(called, was, is);
  const about = `The argument "${is.name}" of "${called.name}"`;
  const takes = compareLists(shapeOf(was), shapeOf(is));
  if (takes === null) return [found(called, 'function-argument-removed', `${about} is of another type.`)];
  if (takes === 'fewer') return [found(called, 'function-argument-removed', `${about} takes fewer values.`)];
  const change = found(called, 'function-argument-added', `${about} takes other values, too.`);
  return [{ ...change, ...graphqlVerdict(called, is) }, ...presence(called, was, is)];
}

/** Values of an argument that are added, or stand in another order, change its type in GraphQL where it has one. */
function graphqlVerdict({ graphqlEnums }: RoleFunction, { name }: ArgumentDescriptor): Pick<Found, 'verdicts'> {
  const isType = graphqlEnums.some((found) => found.part !== 'result' && found.name === name);
  return isType ? { verdicts: { rest: 'safe', openapi: 'safe', graphql: 'dangerous', client: 'safe' } } : {};
}

/** Compares if an argument is needed. */
function presence(called: RoleFunction, was: ArgumentDescriptor | undefined, is: ArgumentDescriptor): readonly Found[] {
  const isRequired = is.optional !== true;
  if (was !== undefined && (was.optional === true) === !isRequired) return [];
  if (!isRequired) return [found(called, 'function-argument-added', `"${called.name}" can be given "${is.name}".`)];
  const message = `"${called.name}" needs the argument "${is.name}".`;
  return [{ ...found(called, 'function-argument-added', message), verdicts: everywhere('breaking') }];
}

function typeOf(argument: ArgumentDescriptor): string {
  return JSON.stringify(shapeOf(argument), (key, value: unknown) => (key === 'native' ? undefined : value));
}

function shapeOf({ type, element, values, attributes }: ArgumentDescriptor) {
  return { type, element, values, attributes };
}

/** Compares the lists of values in two types that are equal apart from them; null where they are not. */
function compareLists(was: unknown, is: unknown): 'fewer' | 'more' | null {
  const [old, now] = [withoutLists(was), withoutLists(is)];
  if (old.bare !== now.bare) return null;
  const isGrown = old.lists.every((list, position) => list.every((value) => now.lists[position]?.includes(value)));
  return isGrown ? 'more' : 'fewer';
}

/** A type as text without the lists of values in it, and these lists in their order. */
function withoutLists(type: unknown): { readonly bare: string; readonly lists: readonly (readonly unknown[])[] } {
  const lists: (readonly unknown[])[] = [];
  const bare = JSON.stringify(type, (key, value: unknown) => {
    if (key === 'native' || key === 'wire') return undefined;
    if (key !== 'values' || !Array.isArray(value)) return value;
    lists.push(value);
    return [];
  });
  return { bare, lists };
}

function resultChanges(old: RoleFunction, now: RoleFunction): readonly Found['rule'][] {
  if (resultOf(old) === resultOf(now)) return [];
  if (compareLists(old.returns, now.returns) === 'more') return ['values-added'];
  const [was, is] = [formOf(old), formOf(now)];
  const isGrown = was.kind === is.kind && was.many === is.many && haveGrown(was.members, is.members);
  return [isGrown && was.members.length > 0 ? 'field-members-added' : 'function-result-changed'];
}

/** Members of a result; the form of a composite one is that of its own members. */
function formOf({ returns }: RoleFunction) {
  const members = returns.kind === 'objects' ? returns.members : returns.kind === 'value' ? [returns.value] : [];
  const many = 'many' in returns && returns.many === true;
  return { kind: returns.kind, many, members: members.map(({ wire: _, ...member }) => member) };
}

function resultOf({ returns }: RoleFunction): string {
  return JSON.stringify(returns, (key, value: unknown) => (key === 'native' || key === 'wire' ? undefined : value));
}
