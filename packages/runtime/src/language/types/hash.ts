/** Secret that is stored as its hash. */
import type { BrokenLimit, TypeDefinition, ValueFacts } from './definition.ts';
import { secret } from './secret.ts';

/** Bytes of a value that is hashed; more would only cost time. */
const maxBytes = 1_024;

function limit(_: ValueFacts, text: string): BrokenLimit | undefined {
  return Buffer.byteLength(text) > maxBytes ? { type: 'max_length', message: 'is too long' } : undefined;
}

export const hash: TypeDefinition = { ...secret, limit };
