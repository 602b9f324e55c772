import type { AccessRule, CollectionAccess, Condition, WriteRule } from '@platform/runtime/contract';
import type { ApiAccess } from '../api.ts';
import { printImports } from '../print/imports.ts';
import { commentText } from '../print/text.ts';
import { array, code, data, object, printOpen, type Value } from '../print/value.ts';
import type { Render } from './templates.ts';

/** Prints the file of one access class: who may do what, as data. */
export function emitAccess({ access, constant }: ApiAccess, render: Render): string {
  const value = object([
    ['name', data(access.name)],
    ['roles', data(access.roles)],
    ['admin', data(access.admin)],
    ['collections', array(access.collections.map(collectionValue))],
  ]);
  const conditions = access.collections.flatMap(conditionsOf);
  const constants = ['always', 'never'].filter((name) => conditions.some((condition) => nameOf(condition) === name));
  const summary = commentText(`Access of ${access.roles.join(', ')}.`);
  return render('access', {
    about: summary,
    imports: printImports([{ from: '@platform/runtime', names: ['type AccessClass', ...constants] }]),
    summary,
    constant,
    access: printOpen(value, 0),
  });
}

function collectionValue({ collection, read, create, update, delete: remove }: CollectionAccess): Value {
  return object([
    ['collection', data(collection)],
    ['read', read && array(read.map(ruleValue))],
    ['create', create && array(create.map(writeRuleValue))],
    ['update', update && array(update.map(writeRuleValue))],
    ['delete', remove && array(remove.map(ruleValue))],
  ]);
}

function ruleValue({ fields, where }: AccessRule): Value {
  return object([
    ['fields', data(fields)],
    ['where', conditionValue(where)],
  ]);
}

function writeRuleValue({ fields, where, check, presets }: WriteRule): Value {
  return object([
    ['fields', data(fields)],
    ['where', conditionValue(where)],
    ['check', check === null ? data(null) : conditionValue(check)],
    ['presets', data(presets)],
  ]);
}

/** The two constant conditions by their names, any other as data. */
function conditionValue(condition: Condition): Value {
  const name = nameOf(condition);
  return name === null ? data(condition) : code(name);
}

function nameOf(condition: Condition): 'always' | 'never' | null {
  if ((condition.kind !== 'and' && condition.kind !== 'or') || condition.of.length > 0) return null;
  return condition.kind === 'and' ? 'always' : 'never';
}

function conditionsOf({
  read = [],
  create = [],
  update = [],
  delete: remove = [],
}: CollectionAccess): readonly Condition[] {
  const rows = [...read, ...create, ...update, ...remove].map(({ where }) => where);
  const checks = [...create, ...update].flatMap(({ check }) => (check === null ? [] : [check]));
  return [...rows, ...checks];
}
