/** Schema → who may do what: a table of fields by roles. Pure; committed, it shows changed rights as a difference. */
import type { Collection, Permission, Schema, Table } from '@tablewright/introspect/schema';
import { type AccessClass, findOrCreate } from '@tablewright/runtime/language';
import { isWritableField } from '../passes/field.ts';
import { resolveApi } from '../passes/resolve-api.ts';
import { indexSchema, type SchemaIndex } from '../passes/schema-index.ts';
import { conditionText, operandText } from '../print/condition.ts';
import { relationsOf } from '../role-view/build-role-view.ts';
import { type VisibleApi, visibleApiOf } from '../role-view/visible-api.ts';
import { nestedWritesOf } from '../role-view/writes.ts';

/** The whole table. */
export interface Matrix {
  /** `public` first, then those of the configuration by name; administrators are no columns. */
  readonly roles: readonly string[];
  /** Roles that may do everything. */
  readonly administrators: readonly string[];
  /** Collections that some role may do something with, by name. */
  readonly collections: readonly MatrixCollection[];
  /** Functions of the database; null where none is served. */
  readonly functions: MatrixFunctions | null;
  /** Collections for administrators only, by name. */
  readonly closed: readonly string[];
}

/** Functions of the database by name, and whether each role may call them. */
export interface MatrixFunctions {
  readonly rows: readonly { readonly name: string; readonly cells: readonly boolean[] }[];
  /** Arguments that the server sets: `clerk place_order: customer = $CURRENT_USER`. */
  readonly args: readonly string[];
}

/** One collection. */
export interface MatrixCollection {
  readonly name: string;
  /** Fields in the order of the columns, then relations; last `(delete)` where a role may delete. */
  readonly rows: readonly MatrixRow[];
  /** Conditions that the numbers in the cells refer to, counted from 1. */
  readonly conditions: readonly string[];
  /** Values that the server sets: `editor create: status = "draft"`. */
  readonly presets: readonly string[];
}

/** One field: a cell for each role, in their order. */
export interface MatrixRow {
  readonly field: string;
  readonly cells: readonly (readonly MatrixRight[])[];
}

/** One right to one field; several rules are several rights. */
export interface MatrixRight {
  readonly action: Permission['action'];
  /** Number of the condition that its rows meet; null for every row. */
  readonly condition: number | null;
}

const actions = ['read', 'create', 'update', 'delete'] as const;

/** The row that stands for whole items. */
const deleteRow = '(delete)';

/** Makes the table. Collections of the platform are among the others. */
export function matrixOf(schema: Schema): Matrix {
  const admins = schema.roles.filter(({ admin }) => admin).map(({ name }) => name);
  const roles = ['public', ...schema.roles.filter(({ admin }) => !admin).map(({ name }) => name)];
  const rules = Map.groupBy(grantingRules(schema), ({ collection }) => collection);
  const shown = schema.collections.filter(({ name }) => rules.has(name));
  return {
    roles,
    administrators: ['admin', ...admins],
    collections: shown.map(({ name, fields, relations }) => {
      const names = [...new Set([...fields, ...relations].map((member) => member.name))];
      return describe(name, names, roles, rules.get(name) ?? []);
    }),
    functions: functionsOf(schema, roles),
    closed: schema.collections.filter(({ name }) => !rules.has(name)).map(({ name }) => name),
  };
}

function functionsOf({ functions = [], calls = [] }: Schema, roles: readonly string[]): MatrixFunctions | null {
  if (functions.length === 0) return null;
  const granted = new Set(calls.map((call) => JSON.stringify([call.role, call.function])));
  return {
    rows: functions.map(({ name }) => ({
      name,
      cells: roles.map((role) => granted.has(JSON.stringify([role, name]))),
    })),
    args: calls.flatMap((call) =>
      call.args.map(({ name, value }) => `${call.role} ${call.function}: ${name} = ${operandText(value)}`),
    ),
  };
}

function describe(
  name: string,
  fields: readonly string[],
  roles: readonly string[],
  permissions: readonly Permission[],
): MatrixCollection {
  const byRole = Map.groupBy(permissions, ({ role }) => role);
  // Numbered in the order in which a reader meets the roles.
  const ordered = roles.map((role) =>
    actions.flatMap((action) => (byRole.get(role) ?? []).filter((rule) => rule.action === action)),
  );
  const texts = ordered.map((rules) => rules.map(ruleText));
  const conditions = [...new Set(texts.flat())].filter((text) => text !== '');
  const numbers = new Map(conditions.map((text, index) => [text, index + 1]));
  const permitted = ordered.map((rules, role) =>
    rules.map(({ action, fields: granted }, index) => ({
      names: new Set(action === 'delete' ? [] : granted),
      right: { action, condition: numbers.get(texts[role]?.[index] ?? '') ?? null },
    })),
  );
  const row = (field: string, grants: (granted: (typeof permitted)[number][number]) => boolean): MatrixRow => ({
    field,
    cells: permitted.map((all) => all.filter(grants).map(({ right }) => right)),
  });
  const rows = fields.map((field) => row(field, ({ names }) => names.has(field)));
  const removal = row(deleteRow, ({ right }) => right.action === 'delete');
  return {
    name,
    rows: removal.cells.some((cell) => cell.length > 0) ? [...rows, removal] : rows,
    conditions,
    presets: ordered
      .flat()
      .flatMap(({ role, action, presets }) =>
        presets.map(({ field, value }) => `${role} ${action}: ${field} = ${operandText(value)}`),
      ),
  };
}

/** The rule's condition on rows; empty without one. Unless a check replaces it, a written row must match it, too. */
export function ruleText({
  action,
  where,
  check,
  purge,
}: Pick<Permission, 'action' | 'where' | 'check' | 'purge'>): string {
  const rows = conditionText(where);
  const found = rows === 'every row' ? [] : [rows];
  const written = check === null ? 'every row' : conditionText(check);
  return [
    ...found,
    ...(purge ? ['also for good'] : []),
    ...(written === 'every row' || action === 'read' ? [] : [`written: ${written}`]),
  ].join('; ');
}

/** The rules that grant something, in order, without fields and relations that no caller can name. */
export function grantingRules(schema: Schema): readonly Permission[] {
  const index = indexSchema(schema);
  const relationsOfRole = relationsByRole(schema);
  return schema.permissions.flatMap((rule) => {
    const granted = grantedBy(rule, index);
    return granted === null ? [] : withoutHidden(granted, index, relationsOfRole);
  });
}

/** Relations without a field of their name that requests under a rule can name. */
type FindRelations = (rule: Pick<Permission, 'role' | 'collection' | 'action'>) => readonly { readonly name: string }[];

/** Finds them as the view of the role does, of which the table needs no more: all views of a large schema take a minute. */
function relationsByRole(schema: Schema): FindRelations {
  const api = resolveApi(schema);
  const classes = new Map(api.access.flatMap(({ access }) => access.roles.map((role) => [role, access] as const)));
  const seen = new Map<AccessClass, VisibleApi>();
  return ({ role, collection, action }) => {
    const access = classes.get(role);
    if (access === undefined || action === 'delete') return [];
    // Texts are left out: whether one names what is hidden is looked for in all names.
    const visibleApi = findOrCreate(seen, access, () => ({ ...visibleApiOf(api, access), note: () => null }));
    if (action === 'read') {
      const readable = visibleApi.visible.get(collection);
      return readable === undefined ? [] : relationsOf(readable, visibleApi);
    }
    const granted = visibleApi.writes.get(collection)?.granted;
    const payload = granted?.[action] ?? null;
    return granted === undefined || payload === null ? [] : nestedWritesOf(granted.api, payload, visibleApi);
  };
}

/** Leaves relations without a field out whose items the role may not reach. */
function withoutHidden(rule: Permission, index: SchemaIndex, findRelations: FindRelations): Permission {
  if (rule.action === 'delete') return rule;
  const { fields } = index.collection(rule.collection);
  const named = new Set([...fields, ...findRelations(rule)].map(({ name }) => name));
  return { ...rule, fields: rule.fields.filter((name) => named.has(name)) };
}

function grantedBy(rule: Permission, index: SchemaIndex): Permission | null {
  const collection = index.collection(rule.collection);
  const table = index.table(collection.table);
  const { action } = rule;
  if (action !== 'read' && !isOffered(action, collection, table)) return null;
  if (action === 'delete') return rule;
  const fields = action === 'read' ? rule.fields : withoutFixed(rule.fields, collection, table, index);
  return fields.length === 0 ? null : { ...rule, fields };
}

/** As the routes are: without a key nothing is written, and of a singleton nothing is deleted. */
function isOffered(action: 'create' | 'update' | 'delete', { key, singleton }: Collection, table: Table): boolean {
  if (key.length === 0) return false;
  if (singleton) return action !== 'delete' && table.writable.update;
  return action === 'create' ? table.writable.insert : table.writable[action];
}

function withoutFixed(
  names: readonly string[],
  { fields }: Collection,
  table: Table,
  index: SchemaIndex,
): readonly string[] {
  const fixed = fields.filter((field) => !isWritableField(field, table, index.column(table, field.column)));
  const left = new Set(fixed.map(({ name }) => name));
  return names.filter((name) => !left.has(name));
}
