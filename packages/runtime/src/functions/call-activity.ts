/** Activity of calls that may change something. */
import type { Transaction } from '../database/database.ts';
import { ownTables } from '../dialects/index.ts';
import type { CompiledApi } from '../language/index.ts';
import { logPlaceOf } from '../system/place.ts';
import { createActionCheck } from '../write/history/taken-actions.ts';
import type { WriteRequest } from '../write/write-plan.ts';

/** Notes a call in its transaction; where it returns a promise, COMMIT must wait for it. */
type NoteCall = (
  transaction: Transaction,
  request: Pick<WriteRequest, 'caller' | 'sender'>,
  name: string,
) => Promise<void> | undefined;

/** Makes it; without the tables of the platform, or with older ones, nothing is noted. */
export function createCallActivity(api: Pick<CompiledApi, 'collections' | 'dialect'>): NoteCall {
  const location = logPlaceOf(api);
  if (location === null) return () => undefined;
  const { log } = ownTables(location).statements;
  const takes = createActionCheck(location);
  return (transaction, { caller, sender }, name) => {
    const change = { action: 'call', collection: 'functions', item: name, revision: null, parent: null } as const;
    const note = () => log(transaction, { user: caller.user, ...sender }, [change]);
    const taken = takes(transaction);
    return taken === true ? note() : taken.then((isTaken) => (isTaken ? note() : undefined));
  };
}
