import { expect, test } from 'vitest';
import { capitals, small } from './lowercase.ts';

test('every letter is the one that JavaScript makes of it', () => {
  const pairs = [...capitals].map((capital, index) => [capital, [...small][index]]);
  expect(pairs).toHaveLength(1397);
  // Letters that a later Unicode adds are no part of it; those that are there never change.
  expect(pairs.filter(([capital = '', letter]) => capital.toLowerCase() !== letter)).toEqual([]);
});

test('no letter is missing that Europe writes addresses with', () => {
  for (const letter of 'ABCXYZÀÉÎÕÜŸŁŠŻŐÆØÅÞÐĞŞΑΣΩЖЯЇҐԱ') expect(capitals).toContain(letter);
});
