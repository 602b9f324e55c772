/** Items of a collection that are no rows: the rules of app access. Lists read them beside the rows. */
import type { Binder } from '../database/parameter-forms.ts';
import {
  arrayLiteral,
  type CollectionDescriptor,
  type FieldDescriptor,
  type ImpliedRule,
  impliedFields,
  impliedRules,
} from '../language/index.ts';
import type { Row, StatementBuilder } from './row.ts';

/** Source of all items of a collection, for FROM: its table, or a subquery of its rows and of what is beside them. */
export function itemsOf({ statement, scope, collection: { descriptor } }: Row): string {
  const { collections } = scope.rules ?? scope;
  const roles = collections.get('platform_roles')?.descriptor;
  if (descriptor.implied === undefined || roles === undefined) return descriptor.table;
  const rules = impliedRules.flatMap((rule) => {
    const collection = collections.get(rule.collection)?.descriptor;
    return collection === undefined ? [] : [textsOf(rule, collection)];
  });
  const fields = descriptor.fields.filter(({ computed }) => computed === undefined);
  const stored = `SELECT ${fields.map(({ column }) => column).join(', ')} FROM ${descriptor.table}`;
  return `(${stored} UNION ALL ${printImplied(statement, { ...descriptor, fields }, roles, rules)})`;
}

/** Texts of a rule's fields, as the table would hold them. */
type RuleTexts = Readonly<Record<keyof ImpliedRule, string | null>>;

function textsOf(rule: ImpliedRule, { fields }: CollectionDescriptor): RuleTexts {
  const { collection, action, permissions, validation, presets } = rule;
  const json = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));
  const named = fields.map(({ name, writable }) => ({ name, serverOwned: !writable }));
  return {
    ...{ collection, action, permissions: json(permissions), validation: json(validation), presets: json(presets) },
    fields: rule.fields === null ? null : impliedFields(rule, named).join(','),
  };
}

const ruleFields: ReadonlyMap<string, keyof ImpliedRule> = new Map(
  (['collection', 'action', 'permissions', 'validation', 'presets', 'fields'] as const).map((name) => [name, name]),
);

/** One row for each pair of a role and a rule. A role has one as soon as the table of roles has it. */
function printImplied(
  statement: StatementBuilder,
  { fields, implied = [] }: CollectionDescriptor,
  roles: CollectionDescriptor,
  rules: readonly RuleTexts[],
): string {
  const { dialect } = statement;
  const [rule, role] = [statement.alias(), statement.alias()];
  const names = [...ruleFields.values()];
  const textIn = (binder: Binder): string =>
    binder.kind === 'value'
      ? arrayLiteral(rules.map((texts) => texts[names[binder.index] ?? 'action']))
      : JSON.stringify(rules.map((texts) => names.map((name) => texts[name])));
  const input = dialect.input.table(
    (binder, native) => statement.parameter({ kind: 'fixed', value: textIn(binder) }, native),
    {
      columns: names.map((name, list) => ({ name, native: 'pg_catalog.text', list, stored: true })),
      ...{ alias: rule, numbered: false, as: false },
    },
  );
  const list = statement.parameter({ kind: 'fixed', value: arrayLiteral(implied) }, 'pg_catalog.text[]');
  const hasRules = dialect.among(dialect.exactly(`${role}."name"`), list, { native: 'pg_catalog.text' }, false);
  const printField = (field: FieldDescriptor): string => {
    const named = ruleFields.get(field.name);
    if (named !== undefined) return dialect.input.typed(dialect.input.kept(`${rule}.${named}`, field), field.native);
    return field.name === 'role' ? `${role}."id"` : dialect.nothing(field.native);
  };
  return `SELECT ${fields.map(printField).join(', ')} FROM ${input}, ${statement.table(roles.table)} ${role} WHERE ${hasRules}`;
}
