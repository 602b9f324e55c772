import type { Api, ApiCollection } from '../api.ts';
import { isSame } from './same.ts';

/** What a process that compiles again and again carries from one time to the next. It changes nothing but the time it takes. */
export interface CompileMemory {
  /** Gives an API the collections of the last one where they say the same, so that what was made of them is found. */
  recall(api: Api): Api;
}

/** Makes a memory that holds nothing yet. */
export function createCompileMemory(): CompileMemory {
  let last: ReadonlyMap<string, ApiCollection> = new Map();
  return {
    recall(api) {
      const collections = api.collections.map((one) => {
        const known = last.get(one.descriptor.name);
        return known !== undefined && isSame(known, one) ? known : one;
      });
      last = new Map(collections.map((one) => [one.descriptor.name, one]));
      return { ...api, collections };
    },
  };
}
