import type { RoleField } from './role-view.ts';
import type { VisibleApi } from './visible-api.ts';

/** The key of a collection as payloads name items by it: empty where the class cannot read all of it. */
export function itemKeyOf(collection: string, { visible, note }: VisibleApi): readonly RoleField[] {
  const seen = visible.get(collection);
  if (seen === undefined) return [];
  const { key } = seen.api.descriptor;
  const fields = key.flatMap((name) => {
    const field = seen.api.fields.find(({ descriptor }) => descriptor.name === name);
    return field === undefined || !seen.readable.has(name) ? [] : [field];
  });
  if (fields.length < key.length) return [];
  return fields.map(({ descriptor, note: text, values }) => {
    const shown = { name: descriptor.name, note: note(text), deprecated: null, descriptor, values };
    return { ...shown, valuesType: null, nullable: false, items: [], filtered: null };
  });
}
