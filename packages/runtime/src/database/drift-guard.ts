import type { Statement } from './database.ts';

/** Throws SERVICE_UNAVAILABLE for a statement that reads or writes a table that no longer fits the compiled API. */
export type DriftGuard = (statement: Pick<Statement, 'tables'>) => void;
