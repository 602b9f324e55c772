/** How a server watches over the tables that its API is compiled of. */

import { ownTables } from '../dialects/index.ts';
import type { WatchedTables } from '../model/model-changer.ts';
import type { ModelRows } from '../model/recompiler.ts';

/** Reads everything of which the API is compiled. */
export async function readModelRows(
  { place: location, permissions, model, ledger }: WatchedTables,
  run: (text: string) => Promise<ModelRows['model']>,
): Promise<ModelRows> {
  const statements = ownTables(location).statements.model;
  return {
    roles: permissions ? await run(statements.roles) : [],
    rules: permissions ? await run(statements.rules) : [],
    model: model ? await run(statements.rows(ledger)) : [],
  };
}
