import fc from 'fast-check';
import { expect, test } from 'vitest';
import { didYouMean, suggest } from './did-you-mean.ts';

test.each([
  ['articels', ['articles', 'authors'], 'articles'],
  ['Articles', ['articles'], 'articles'],
  ['author-id', ['author_id', 'id'], 'author_id'],
  ['_contians', ['_contains', '_icontains'], '_contains'],
  ['titel', ['body', 'title'], 'title'],
  ['ttile', ['tiles', 'title'], 'title'],
  ['x', ['id', 'title'], null],
  ['orders', ['countries'], null],
  ['', ['a'], 'a'],
  ['anything', [], null],
  ['deals', ['teams', 'deals_by_owner_id', 'deals_by_created_by'], 'deals_by_created_by'],
  ['tags', ['tag', 'tags_via_links'], 'tags_via_links'],
])('%j among %j is %j', (name, candidates, nearest) => {
  expect(didYouMean(name, candidates)).toBe(nearest);
});

test('suggests in a sentence', () => {
  expect(suggest('titel', ['title'])).toBe('Did you mean "title"?');
  expect(suggest('titel', ['constructor'])).toBeNull();
});

test('one typing mistake in a name of four letters or more finds the name, in any order of candidates', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z]{4,20}$/), fc.nat(), (name, seed) => {
      const at = seed % name.length;
      const mistyped = `${name.slice(0, at)}0${name.slice(at + 1)}`;
      expect(didYouMean(mistyped, ['9999999999999999999999', name])).toBe(name);
      expect(didYouMean(mistyped, [name, '9999999999999999999999'])).toBe(name);
    }),
  );
});
