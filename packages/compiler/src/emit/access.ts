import type { AccessRule, CollectionAccess, Condition, Operand, WriteRule } from '@tablewright/runtime/language';
import type { ApiAccess } from '../api.ts';
import { code, createKept, type Value } from '../print/expression.ts';
import { printImports } from '../print/imports.ts';
import { commentText } from '../print/text.ts';
import { printOpen } from '../print/value.ts';
import type { Render } from './templates.ts';

/** Prints the file of one access class: its permissions, as data. */
export function emitAccess({ access, constant }: ApiAccess, render: Render): string {
  const { name, roles, admin } = access;
  const value = { name, roles, admin, collections: access.collections.map(keptCollection) };
  const conditions = access.collections.flatMap(conditionsOf);
  const constants = ['always', 'never'].filter((name) => conditions.some((condition) => nameOf(condition) === name));
  const summary = commentText(`Access of ${access.roles.join(', ')}.`);
  return render('access', {
    about: summary,
    imports: printImports([{ from: '@tablewright/runtime', names: ['type AccessClass', ...constants] }]),
    summary,
    constant,
    access: printOpen(value, 0),
  });
}

const keptCollection = createKept(collectionValue);

function collectionValue({ collection, read, create, update, delete: remove }: CollectionAccess): object {
  return {
    collection,
    read: read?.map(ruleValue),
    create: create?.map(writeRuleValue),
    update: update?.map(writeRuleValue),
    delete: remove?.map(ruleValue),
  };
}

function ruleValue({ fields, where }: AccessRule): object {
  return { fields, where: conditionValue(where) };
}

function writeRuleValue({ fields, where, check, presets }: WriteRule): object {
  return {
    fields,
    where: conditionValue(where),
    check: check === null ? null : conditionValue(check),
    presets: presets.map(({ field, value }) => ({ field, value: operandInOrder(value) })),
  };
}

/** The two constant conditions by their names, any other as data. */
function conditionValue(condition: Condition): Value {
  const name = nameOf(condition);
  return name === null ? inOrder(condition) : code(name);
}

/** The members of a condition in one order, wherever it comes from: `platform.schema.json` sorts them. */
function inOrder(condition: Condition): Condition {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return { kind: condition.kind, of: condition.of.map(inOrder) };
    case 'compare': {
      const { kind, field, path, operator, operand } = condition;
      return {
        kind,
        field,
        ...(condition.function !== undefined && { function: condition.function }),
        ...(path !== undefined && { path: literalInOrder(path) }),
        operator,
        operand: operandInOrder(operand),
      };
    }
    case 'related': {
      const { kind, relation, quantifier, item, where } = condition;
      return { kind, relation, quantifier, ...(item !== undefined && { item }), where: inOrder(where) };
    }
  }
}

function operandInOrder(operand: Operand): Operand {
  if (operand.kind === 'literal') return literalInOrder(operand);
  return operand.kind === 'now'
    ? { kind: operand.kind, offset: operand.offset }
    : { kind: operand.kind, of: operand.of, path: operand.path };
}

function literalInOrder({ kind, value, text, json }: Extract<Operand, { kind: 'literal' }>) {
  return { kind, value, ...(text !== undefined && { text }), ...(json !== undefined && { json }) };
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
