/** Changes of the model by address and method. Source: API specification, section 12. */
import { isObject } from '../contract/filter-syntax.ts';
import type { JsonValue } from '../contract/index.ts';
import { allChanges, type KnownModel, type ModelChange } from '../model/change.ts';
import { readList } from '../model/payload.ts';
import {
  createCollection,
  deleteCollection,
  exists,
  namedCollection,
  updateCollection,
} from '../model/plan-collections.ts';
import { namedField, updateField } from '../model/plan-field-changes.ts';
import { createField, deleteField } from '../model/plan-fields.ts';
import { createRelation, deleteRelation, updateRelation } from '../model/plan-relations.ts';

/** Plans the change that a request asks for; `texts` are the parameters of its path. */
export type Change = (known: KnownModel, texts: ReadonlyMap<string, string>, body: JsonValue) => ModelChange;

/** One object, or a list of them. */
function each(title: string, plan: (body: JsonValue) => ModelChange, body: JsonValue): ModelChange {
  return Array.isArray(body) ? allChanges(title, readList(body, 'The body').map(plan)) : plan(body);
}

/** Refuses a list of fields of which two have one name. */
function mustDiffer(body: JsonValue): void {
  const names = Array.isArray(body) ? body.map((one) => (isObject(one) ? one.field : undefined)) : [];
  const twice = names.find((name, index) => typeof name === 'string' && names.indexOf(name) !== index);
  if (typeof twice === 'string') throw exists('field', twice);
}

const text = (texts: ReadonlyMap<string, string>, name: string): string => texts.get(name) ?? '';

/** By the pattern of the address. */
export const modelChanges: Readonly<Record<string, Readonly<Partial<Record<'POST' | 'PATCH' | 'DELETE', Change>>>>> = {
  '/collections': {
    POST: (known, _, body) => each('create collections', (one) => createCollection(known, one), body),
    PATCH: (known, _, body) =>
      allChanges(
        'describe collections',
        readList(body, 'The body').map((one) => updateCollection(known, namedCollection(one), one)),
      ),
  },
  '/collections/:name': {
    PATCH: (known, texts, body) => updateCollection(known, text(texts, 'name'), body),
    DELETE: (known, texts) => deleteCollection(known, text(texts, 'name')),
  },
  '/fields/:collection': {
    POST: (known, texts, body) => {
      const collection = text(texts, 'collection');
      mustDiffer(body);
      return each(`add fields to ${collection}`, (one) => createField(known, collection, one), body);
    },
    PATCH: (known, texts, body) => {
      const collection = text(texts, 'collection');
      const changes = readList(body, 'The body').map((one) => updateField(known, collection, namedField(one), one));
      return allChanges(`change fields of ${collection}`, changes);
    },
  },
  '/fields/:collection/:field': {
    PATCH: (known, texts, body) => updateField(known, text(texts, 'collection'), text(texts, 'field'), body),
    DELETE: (known, texts) => deleteField(known, text(texts, 'collection'), text(texts, 'field')),
  },
  '/relations': {
    POST: (known, _, body) => each('create relations', (one) => createRelation(known, one), body),
  },
  '/relations/:collection/:field': {
    PATCH: (known, texts, body) => updateRelation(known, text(texts, 'collection'), text(texts, 'field'), body),
    DELETE: (known, texts) => deleteRelation(known, text(texts, 'collection'), text(texts, 'field')),
  },
};
