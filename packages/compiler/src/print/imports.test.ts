import { describe, expect, it } from 'vitest';
import { importTypes } from './imports.ts';

const libraries = [{ from: 'library', types: new Set(['Handler', 'Pick']) }];
const files = new Map([['ItemsTags', './tags.js']]);

describe('imports of types', () => {
  it('follow from the names that a file mentions', () => {
    expect(importTypes(new Set(['ItemsTags', 'Handler', 'Record']), libraries, files)).toEqual([
      { from: './tags.js', names: ['ItemsTags'], typesOnly: true },
      { from: 'library', names: ['Handler'], typesOnly: true },
    ]);
  });

  it('prefer what is declared to what the language has', () => {
    expect(importTypes(new Set(['Pick']), libraries, files)).toEqual([
      { from: 'library', names: ['Pick'], typesOnly: true },
    ]);
  });

  it('end the compilation at a name that nothing declares', () => {
    expect(() => importTypes(new Set(['ItemsTags', 'ItemsMissing']), libraries, files)).toThrow(
      'No generated file and no library declares the type ItemsMissing.',
    );
  });
});
