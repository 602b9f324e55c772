import type { BatchReader, KeyList, StatementRequest } from '../../../database/connection-seams.ts';
import { keysMark, type Statement } from '../../../database/database.ts';

/** How many keys a statement takes: few numbers, so that few statements are prepared. The last key is said again where there are less. */
const sizes = [4, 8, 16, 32] as const;

/** Makes the function that writes one placeholder for each of several keys. */
export function createMarks(): BatchReader['ask'] {
  const statements = new WeakMap<Statement, Map<number, Statement>>();

  function statementFor({ statement, at: position }: KeyList, size: number): Statement {
    const bySize = statements.get(statement) ?? new Map<number, Statement>();
    statements.set(statement, bySize);
    const spread = bySize.get(size) ?? spreadMarks(statement, position, size);
    bySize.set(size, spread);
    return spread;
  }

  return (batch, keys, parameters): StatementRequest => {
    const size = sizes.find((candidate) => keys.length <= candidate) ?? keys.length;
    const padded = [...keys, ...Array<string>(size - keys.length).fill(keys.at(-1) ?? '')];
    return { statement: statementFor(batch, size), parameters: spread(parameters, batch.at, padded) };
  };
}

function spreadMarks(statement: Statement, offset: number, size: number): Statement {
  const text = statement.text.replace(keysMark, Array(size).fill('?').join(', '));
  const { forms } = statement;
  const form = forms?.[offset];
  if (forms === undefined || form === undefined) return { ...statement, text };
  return { ...statement, text, forms: spread(forms, offset, Array(size).fill(form)) };
}

/** A list with others in the place of one. */
function spread<T>(list: readonly T[], offset: number, others: readonly T[]): readonly T[] {
  return [...list.slice(0, offset), ...others, ...list.slice(offset + 1)];
}
