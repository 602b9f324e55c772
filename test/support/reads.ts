/**
 * Reads as any caller, without the HTTP around them: planner, database and writer of a compiled API, put together as the
 * server puts them together. Users have no tokens yet, so this is how a caller with a key and a role asks.
 */
import type { Caller, CompiledApi, Database } from '@tablewright/runtime';
import { PlatformError, toPlatformError } from '../../packages/runtime/src/errors.ts';
import { createExportWriter } from '../../packages/runtime/src/export/writer.ts';
import { createAnswerWriter } from '../../packages/runtime/src/query/answer.ts';
import { createPlanner, type PlannedRead } from '../../packages/runtime/src/query/planner.ts';

/** One read: a list with its query string, an item by key, or the body of a SEARCH. */
export type Read =
  | { readonly kind: 'list'; readonly collection: string; readonly query: string }
  | { readonly kind: 'item'; readonly collection: string; readonly key: string; readonly query: string }
  | { readonly kind: 'search'; readonly collection: string; readonly body: Parameters<Planner['search']>[2] };

type Planner = ReturnType<typeof createPlanner>;

/** What a read is answered with; `status` is 200 or that of the error. */
export interface ReadAnswer {
  readonly status: number;
  readonly text: string;
  /** The statement that was run; undefined when the read was refused before. */
  readonly statement: string | undefined;
}

/** Answers reads of one compiled API. The same planner serves every database, as the same server would. */
export type Answerer = (database: Database, caller: Caller, read: Read) => Promise<ReadAnswer>;

/** Makes the answerer of a compiled API. */
export function createAnswerer(api: CompiledApi): Answerer {
  // How much one request may ask for is nothing that reads of small databases should stumble over.
  const planner = createPlanner(api, { limits: { maxRows: Number.MAX_SAFE_INTEGER } });
  return async function answer(database, caller, read) {
    let statement: string | undefined;
    try {
      const planned = plan(planner, caller, read);
      statement = planned.plan.statement.text;
      return { status: 200, text: await run(database, planned, read.kind === 'item'), statement };
    } catch (thrown) {
      const error = toPlatformError(thrown);
      if (error.status >= 500) throw thrown;
      return { status: error.status, text: `${error.code} ${error.message}`, statement };
    }
  };
}

function plan(planner: Planner, caller: Caller, read: Read): PlannedRead {
  const collection = { name: read.collection };
  if (read.kind === 'search') return planner.search(caller, collection, read.body);
  if (read.kind === 'item') return planner.read(caller, collection, read.key, read.query);
  return planner.list(caller, collection, read.query);
}

/** Runs a planned read. One that is streamed is run as a stream. */
async function run(
  database: Database,
  { plan, parameters, rows, size }: PlannedRead,
  isItem: boolean,
): Promise<string> {
  const { exported, statement, streamed } = plan;
  const answer = (exported === undefined ? createAnswerWriter(plan) : createExportWriter(plan, exported.format))(size);
  const chunks: Buffer[] = [];
  if (streamed && rows === undefined) {
    const take = async (): Promise<void> => void chunks.push(Buffer.from(answer.read()));
    await database.stream(statement, parameters, answer, take, new AbortController().signal);
  } else await database.read(statement, parameters, answer);
  if (isItem && answer.items === 0) throw new PlatformError('FORBIDDEN');
  if (rows !== undefined && answer.items < rows) throw new PlatformError('FORBIDDEN');
  return Buffer.concat([...chunks, answer.end()]).toString('utf8');
}
