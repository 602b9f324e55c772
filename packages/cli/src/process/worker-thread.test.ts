import { describe, expect, test } from 'vitest';
import type { PlainData } from './worker-thread.ts';

describe('data for another thread', () => {
  test('has no functions, however deep, which the compiler of types checks', () => {
    const plain: PlainData<{ readonly rules: readonly { readonly place: string }[] }> = { rules: [{ place: 'a:1' }] };
    expect(structuredClone(plain)).toEqual(plain);
    interface Source {
      readonly rules: readonly { readonly placeAt: () => string }[];
    }
    const source: Source = { rules: [{ placeAt: () => 'a:1' }] };
    // @ts-expect-error: a function cannot be sent
    const sent: PlainData<Source> = source;
    expect(() => structuredClone(sent)).toThrow(/could not be cloned/);
  });
});
