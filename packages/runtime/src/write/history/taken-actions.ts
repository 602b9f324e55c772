/** Words of activity that came with a later migration: tables of the version before refuse them. */
import type { Transaction } from '../../database/database.ts';
import { allRows } from '../../database/own-statements/own-rows.ts';
import { ownTables } from '../../dialects/index.ts';
import type { SystemPlace } from '../../system/place.ts';

/** Tells if activity takes `archive` and `call`; at once when it is known. */
type ActionCheck = (transaction: Transaction) => true | Promise<boolean>;

/** Makes it. Until the tables take them every transaction that needs to know looks again. */
export function createActionCheck(location: SystemPlace): ActionCheck {
  const { takesActions } = ownTables(location).statements;
  let taken = false;
  return (transaction) => {
    if (taken) return true;
    return allRows(transaction, takesActions, []).then((rows) => {
      taken = rows.length > 0;
      return taken;
    });
  };
}
