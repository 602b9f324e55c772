import { type Operand, parseOperand, type RowSecurity } from '@tablewright/runtime/language';
import type { RowSecurityConfig } from '../config/config.ts';
import { sortedBy } from '../order.ts';

/** How callers are passed on, as the configuration says. A claim that cannot be read is null; a rule reports it. */
export function passedOn({ claims, roles, extraClaims = {} }: RowSecurityConfig): RowSecurity {
  const named = sortedBy(Object.entries(extraClaims), ([name]) => name);
  return {
    claims,
    ...(roles && { roles: Object.fromEntries(sortedBy(Object.entries(roles), ([name]) => name)) }),
    ...(named.length > 0 && { extraClaims: Object.fromEntries(named.map(([name, value]) => [name, claimOf(value)])) }),
  };
}

function claimOf(value: string | number | boolean): Operand {
  const parsed = parseOperand(value);
  return parsed.ok ? parsed.operand : { kind: 'literal', value: null };
}
