/** Related items in payloads. Source: API specification, sections 7.2 to 7.4; `docs/decisions/writes.md`. */
import { nameWithout } from '../../role-view/names.ts';
import type { NestedItem, NestedWrite } from '../../role-view/role-view.ts';
import { anyOf, type JsonObject, reference } from '../json.ts';
import { keyInput, keyObject } from '../keys.ts';
import { briefSchema } from './values.ts';

/** Payload of a relation. */
export function nestedWriteSchema(nested: NestedWrite): JsonObject {
  if (nested.kind === 'one') {
    const forms = [...(nested.member.links ? keyForms(nested.member) : []), ...memberObjects(nested.member)];
    return anyOf(...forms, ...(nested.nullable ? [{ type: 'null' }] : []));
  }
  const shared = nested.kind === 'many' ? nameNestedList(nested) : null;
  return shared === null ? nestedListSchema(nested) : reference('schemas', shared);
}

/** The component of lists, which relations share where payloads of items lack nothing; null for others. */
export function nameNestedList({ member, removes }: Extract<NestedWrite, { kind: 'many' }>): string | null {
  const { create, update, links, owned, names } = member;
  const isWhole = create && update && links && owned.create.length + owned.change.length === 0;
  if (!isWhole) return null;
  return removes ? names.removableList : names.nestedList;
}

/** Payload of a relation to several items. */
export function nestedListSchema(nested: Exclude<NestedWrite, { kind: 'one' }>): JsonObject {
  const { removes } = nested;
  const forms = nested.kind === 'many' ? membersOf(nested.member) : linksOf(nested);
  const changes = changesSchema(forms, removes);
  return anyOf(listSchema(forms.elements), ...(changes === null ? [] : [changes]), { type: 'null' });
}

/** The items that may stand in the place of a key: a new one, or changes of the one that has the key in it. */
export function memberObjects(member: NestedItem): readonly JsonObject[] {
  return [...(member.create ? [created(member)] : []), ...(member.update ? [changed(member)] : [])];
}

/** An item by its key, or as an object. */
export function memberSchema(member: NestedItem): JsonObject {
  return anyOf(...(member.links ? keyForms(member) : []), ...memberObjects(member));
}

function created({ names, owned }: NestedItem): JsonObject {
  return reference('schemas', nameWithout(names.create, owned.create));
}

function changed({ names, owned }: NestedItem): JsonObject {
  return reference('schemas', nameWithout(names.change, owned.change));
}

/** A key of several fields is an object of them, or text in path form. */
function keyForms({ key }: NestedItem): readonly JsonObject[] {
  return key.length > 1 ? [{ type: 'string' }, keyInput(key)] : [briefSchema(keyInput(key))];
}

/** Elements of a list, by their position. */
interface ListForms {
  readonly elements: readonly JsonObject[];
  readonly create: JsonObject | null;
  readonly update: JsonObject | null;
  readonly remove: JsonObject;
}

function membersOf(member: NestedItem): ListForms {
  const { create, update, links, key } = member;
  return {
    elements: [...(links ? keyForms(member) : []), ...memberObjects(member)],
    create: create ? created(member) : null,
    // Nothing but its key links an item.
    update: update ? changed(member) : links ? keyObject(key) : null,
    remove: anyOf(...keyForms(member)),
  };
}

function linksOf({ component, link }: Extract<NestedWrite, { kind: 'any' }>): ListForms {
  const object = reference('schemas', component);
  const objects = link.create || link.update ? [object] : [];
  return {
    elements: [...(link.links ? keyForms(link) : []), ...objects],
    create: link.create ? object : null,
    update: link.update ? object : null,
    remove: anyOf(...keyForms(link)),
  };
}

/** All there is; nothing but the empty list where nothing can be put there. */
function listSchema(elements: readonly JsonObject[]): JsonObject {
  return elements.length === 0
    ? { type: 'array', items: {}, maxItems: 0 }
    : { type: 'array', items: anyOf(...elements) };
}

/** Changes that leave the rest as it is. */
function changesSchema({ create, update, remove }: ListForms, removes: boolean): JsonObject | null {
  const list = (items: JsonObject): JsonObject => ({ type: 'array', items });
  const properties: JsonObject = {
    ...(create && { create: list(create) }),
    ...(update && { update: list(update) }),
    ...(create && update && { upsert: list(create === update ? create : anyOf(create, update)) }),
    ...(removes && { delete: list(remove) }),
  };
  return Object.keys(properties).length === 0 ? null : { type: 'object', properties, additionalProperties: false };
}
