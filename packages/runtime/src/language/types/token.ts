/** Secret that signs its user in. */
import type { TypeDefinition } from './definition.ts';
import { secret } from './secret.ts';

export const token: TypeDefinition = secret;
