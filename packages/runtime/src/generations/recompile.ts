/** What a server is given to make further generations of its API: the compiler itself is no part of the runtime. */
import type { CompiledApi } from '../contract/index.ts';

/** Roles and rules as `roleRowsSql` and `permissionRowsSql` read them. */
export interface ModelRows {
  readonly roles: readonly (readonly (string | null)[])[];
  readonly rules: readonly (readonly (string | null)[])[];
}

/** The next generation, or why there is none: sentences for whoever wrote the rows. */
export type Recompiled = { readonly api: CompiledApi } | { readonly problems: readonly string[] };

/** Compiles beside the thread that serves. */
export interface Recompiler {
  /** What rows mean, as `CompiledApi.permissionsDigest` tells it. */
  digest(rows: ModelRows): string;
  /** Compiles them. Rejects when the compiler cannot be used at all. */
  compile(rows: ModelRows): Promise<Recompiled>;
  /** Ends what runs beside this thread. */
  close(): Promise<void>;
}
