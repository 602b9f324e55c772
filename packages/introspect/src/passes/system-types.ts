import type { PortableType } from '@platform/runtime/contract';
import type { Column } from '../schema.ts';

/** Types of the product's own fields that the columns do not show (API specification, sections 10.11 and 10.13). */
const types: ReadonlyMap<string, ReadonlyMap<string, PortableType>> = new Map([
  [
    'platform_users',
    new Map<string, PortableType>([
      ['password', 'hash'],
      ['tfa_secret', 'secret'],
      ['token', 'token'],
      ['auth_data', 'secret'],
      ['tags', 'csv'],
    ]),
  ],
  ['platform_roles', new Map<string, PortableType>([['ip_access', 'csv']])],
]);

const texts: readonly PortableType[] = ['string', 'text'];

/**
 * The type that a column of the product's users and roles has whatever the configuration says: credentials are secret.
 * Undefined for every other column.
 */
export function systemType(collection: string, { name, type }: Column): PortableType | undefined {
  const fixed = types.get(collection)?.get(name);
  return fixed === 'csv' && !texts.includes(type.portable) ? undefined : fixed;
}
