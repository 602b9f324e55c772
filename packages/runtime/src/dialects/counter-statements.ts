import type { OwnSql } from '../database/own-statements/script.ts';

/** Counter of attempts for one purpose, on an account (named by its e-mail address), from a client, or both. */
export interface Counter {
  readonly purpose: string;
  /** As it was sent; spellings of one address are one account. */
  readonly email?: string;
  /** Key of a user; instead of an e-mail address. */
  readonly user?: string;
  readonly client?: string;
}

/** A counter that goes up. */
export interface Counting extends Counter {
  /** Milliseconds. */
  readonly window: number;
  /** From so many attempts on, each one moves the end of the window to so many milliseconds later. */
  readonly last?: { readonly attempts: number; readonly window: number };
}

/** The statements: each takes the counters as `input` writes them, and answers the counts and the transaction's number. */
export interface CounterStatements extends Readonly<Record<'read' | 'count' | 'giveBack' | 'clear' | 'purge', OwnSql>> {
  input(counters: readonly Counter[]): string;
}
