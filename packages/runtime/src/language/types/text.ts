/** Text of any length. */
import type { TypeDefinition } from './definition.ts';
import { string } from './string.ts';

export const text: TypeDefinition = string;
