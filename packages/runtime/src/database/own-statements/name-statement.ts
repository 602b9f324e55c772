import { createHash } from 'node:crypto';
import type { Statement } from '../database.ts';

const named = new Map<string, Statement>();
const ownNamed = new Map<string, Statement>();

/** More texts than that are named anew each time. */
const maxNamed = 1_000;

type NamelessStatement = Pick<Statement, 'text' | 'tables' | 'forms' | 'changes'>;

/** A statement of the server itself, under no settings of a caller. */
export function ownStatement(text: string): Statement {
  const cached = ownNamed.get(text);
  if (cached !== undefined) return cached;
  const statement: Statement = { ...nameStatement({ text }), runsAs: 'server' };
  if (ownNamed.size < maxNamed) ownNamed.set(text, statement);
  return statement;
}

/** A statement of a transaction under the name that belongs to its text. */
export function nameStatement({ text, tables, forms, changes }: NamelessStatement): Statement {
  const noted = { ...(tables && { tables }), ...(changes && { changes }) };
  if (forms !== undefined) return { name: '', text, forms, ...noted };
  const cached = named.get(text);
  if (cached !== undefined) return cached;
  const name = `w_${createHash('sha256').update(text).digest('base64url').slice(0, 22)}`;
  const statement: Statement = { name, text, ...noted };
  if (named.size < maxNamed) named.set(text, statement);
  return statement;
}
