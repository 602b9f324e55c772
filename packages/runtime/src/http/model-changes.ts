/** Changes of the model by address and method. Source: API specification, section 12. */
import { isObject } from '../language/filter-syntax.ts';
import type { JsonValue } from '../language/index.ts';
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
export type Change = (model: KnownModel, texts: ReadonlyMap<string, string>, body: JsonValue) => ModelChange;

/** One object, or a list of them. */
function each(title: string, plan: (body: JsonValue) => ModelChange, body: JsonValue): ModelChange {
  return Array.isArray(body) ? allChanges(title, readList(body, 'The body').map(plan)) : plan(body);
}

/** Refuses a list of fields of which two have one name. */
function mustDiffer(body: JsonValue): void {
  const names = Array.isArray(body) ? body.map((element) => (isObject(element) ? element.field : undefined)) : [];
  const twice = names.find((name, index) => typeof name === 'string' && names.indexOf(name) !== index);
  if (typeof twice === 'string') throw exists('field', twice);
}

const text = (texts: ReadonlyMap<string, string>, name: string): string => texts.get(name) ?? '';

/** By the pattern of the address. */
export const modelChanges: Readonly<Record<string, Readonly<Partial<Record<'POST' | 'PATCH' | 'DELETE', Change>>>>> = {
  '/collections': {
    POST: (model, _, body) => each('create collections', (element) => createCollection(model, element), body),
    PATCH: (model, _, body) =>
      allChanges(
        'describe collections',
        readList(body, 'The body').map((element) => updateCollection(model, namedCollection(element), element)),
      ),
  },
  '/collections/:name': {
    PATCH: (model, texts, body) => updateCollection(model, text(texts, 'name'), body),
    DELETE: (model, texts) => deleteCollection(model, text(texts, 'name')),
  },
  '/fields/:collection': {
    POST: (model, texts, body) => {
      const collection = text(texts, 'collection');
      mustDiffer(body);
      return each(`add fields to ${collection}`, (element) => createField(model, collection, element), body);
    },
    PATCH: (model, texts, body) => {
      const collection = text(texts, 'collection');
      const changes = readList(body, 'The body').map((element) =>
        updateField(model, collection, namedField(element), element),
      );
      return allChanges(`change fields of ${collection}`, changes);
    },
  },
  '/fields/:collection/:field': {
    PATCH: (model, texts, body) => updateField(model, text(texts, 'collection'), text(texts, 'field'), body),
    DELETE: (model, texts) => deleteField(model, text(texts, 'collection'), text(texts, 'field')),
  },
  '/relations': {
    POST: (model, _, body) => each('create relations', (element) => createRelation(model, element), body),
  },
  '/relations/:collection/:field': {
    PATCH: (model, texts, body) => updateRelation(model, text(texts, 'collection'), text(texts, 'field'), body),
    DELETE: (model, texts) => deleteRelation(model, text(texts, 'collection'), text(texts, 'field')),
  },
};
