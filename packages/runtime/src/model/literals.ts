/** Names and values as SQL that can stand in a migration. */
import type { JsonValue } from '../contract/index.ts';
import { quoteName } from '../system/ledger.ts';
import { invalidPayload } from '../write/problems.ts';

/** A text as a literal that means the same under every setting. */
export function quoteText(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`;
  return text.includes('\\') ? `E${quoted.replaceAll('\\', '\\\\')}` : quoted;
}

/** A value of a JSON column, or null. */
export function quoteJson(value: JsonValue): string {
  return value === null ? 'NULL' : `${quoteText(JSON.stringify(value))}::jsonb`;
}

/** Bytes of a name that the database keeps; longer ones would be cut. */
const longestName = 63;
const namePattern = /^[A-Za-z][A-Za-z0-9_]*$/;

/** Takes the name of a table or column that is to be made. Throws INVALID_PAYLOAD for what cannot be one. */
export function newName(value: JsonValue | undefined, what: string): string {
  if (typeof value !== 'string' || !namePattern.test(value)) {
    throw invalidPayload(`The name of a ${what} must be a letter and then letters, digits and underscores.`);
  }
  if (value.length > longestName) throw invalidPayload(`The name of a ${what} has at most ${longestName} characters.`);
  return value;
}

/** A name of our own making for a constraint or index, cut where it would be too long. */
export function madeName(parts: readonly string[], ending: string): string {
  return quoteName(`${parts.join('_').slice(0, longestName - ending.length - 1)}_${ending}`);
}
