import { type CallerOperand, parseOperand } from '@tablewright/runtime/language';
import type { PlatformConfig } from '../../config/config.ts';
import type { Table, TableId } from '../../schema.ts';
import { defaultSchema, findTables } from '../match-tables.ts';

/** The tenants of a configuration, as far as it can be understood; rules report the rest. */
export interface Tenants {
  readonly column: string;
  /** Value of the caller that names their tenant. */
  readonly of: CallerOperand;
  /** Tables whose rows belong to all tenants. */
  readonly shared: ReadonlySet<TableId>;
  /** Roles that see all tenants, beside administrators. */
  readonly exempt: ReadonlySet<string>;
}

/** Reads the tenants of a configuration; null where it has none, or no value of the caller names theirs. */
export function readTenants(config: PlatformConfig, tables: readonly Table[]): Tenants | null {
  const { tenant } = config;
  const operand = tenant === undefined ? null : tenantOperand(tenant.of);
  if (tenant === undefined || operand === null) return null;
  const { column, shared = [], exempt = [] } = tenant;
  const ids = shared.flatMap((name) => findTables(tables, name, defaultSchema(config)).map(({ id }) => id));
  return { column, of: operand, shared: new Set(ids), exempt: new Set(exempt) };
}

/** The value of the caller under `tenant.of`: a path to a field. Null for anything else. */
export function tenantOperand(text: string): CallerOperand | null {
  const parsed = parseOperand(text);
  if (!parsed.ok || parsed.operand.kind !== 'caller' || parsed.operand.path.length === 0) return null;
  return parsed.operand;
}
