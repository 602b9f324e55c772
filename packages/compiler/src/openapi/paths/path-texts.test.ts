import { expect, it } from 'vitest';
import { roleViewOf } from '../../role-view/build-role-view.ts';
import { textsOf } from '../json.ts';
import { accessTo, hostile, magazine, sampleApi } from '../testing/sample-api.ts';
import { type Addressed, addressed } from './addressed.ts';
import { addressedParts, addressedTexts } from './path-texts.ts';
import { collectionPaths } from './paths.ts';

const kinds = ['paths', 'parameters'] as const;

const api = sampleApi([...magazine, ...hostile]);
const partly = accessTo({ articles: [['id', 'title', 'author_id']], tags: [['name']], authors: [['name']] });
const all = [null, partly].flatMap((access) => roleViewOf(api, access).collections.map(addressed));

/** As they are printed one by one. */
function printed(kind: (typeof kinds)[number], one: Addressed) {
  const { create, indent } = addressedParts[kind];
  return textsOf(create(one), indent, true);
}

it.each(kinds)('are those of the %s', (kind) => {
  expect(all.length).toBeGreaterThan(20);
  for (const one of all) expect(addressedTexts(kind, one)).toEqual(printed(kind, one));
  expect(all.flatMap((one) => printed(kind, one)).length).toBeGreaterThan(20);
});

it('are told apart from what stands in keys', () => {
  const names = ['\x80', '\x800', '\x80\x811', '\\x800', '\\u00800', '"', '{key}'];
  const [first] = all.filter(({ key, writes }) => key.length > 0 && writes !== null);
  if (first?.writes == null) throw new Error('There is no collection with a key.');
  for (const name of names) {
    const key = first.key.map((field) => ({ ...field, name, values: [name] }));
    const one: Addressed = { ...first, key, writes: { ...first.writes, key, conflicts: [[name]] } };
    expect(addressedTexts('paths', one)).toEqual(printed('paths', one));
    expect(JSON.stringify(collectionPaths(one))).toContain(JSON.stringify(name).slice(1, -1));
  }
});
