/** Rules as far as they grant anything: an action that no caller has stands in no table of permissions. */
import type { Collection, Permission, Schema, Table } from '@tablewright/introspect/schema';
import { isWritableField } from '../passes/field.ts';
import { indexSchema, type SchemaIndex } from '../passes/schema-index.ts';

/** The rules that grant something, in order, without fields that no caller can write. */
export function grantingRules(schema: Schema): readonly Permission[] {
  const index = indexSchema(schema);
  return schema.permissions.flatMap((rule) => grantedBy(rule, index) ?? []);
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
