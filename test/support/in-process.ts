/** A compiled project asked within the test's own process, as a caller of the test's choice. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Caller } from '../../packages/runtime/src/caller.ts';
import { connectPostgres } from '../../packages/runtime/src/dialects/postgres/database.ts';
import { PlatformError } from '../../packages/runtime/src/errors.ts';
import type { CompiledApi } from '../../packages/runtime/src/language/index.ts';
import { createAnswerWriter } from '../../packages/runtime/src/query/answer.ts';
import { createPlanner, type PlannedRead, type Planner } from '../../packages/runtime/src/query/planner.ts';

/** Asks as somebody; nobody can sign in over HTTP yet. */
export interface InProcess {
  /** The data of a list, or the code of the error. */
  list(api: CompiledApi, caller: Caller, collection: string, query: object): Promise<unknown>;
  /** Rows of a query over the same connections, as texts. */
  query(sql: string): Promise<readonly (readonly (string | null)[])[]>;
  close(): Promise<void>;
}

/** Loads the code that a project was compiled to. */
export async function loadApi(folder: string): Promise<CompiledApi> {
  const generated: { readonly api: CompiledApi } = await import(
    pathToFileURL(join(folder, 'generated', 'server.js')).href
  );
  return generated.api;
}

/** Connects to the database of a project. */
export async function openInProcess(url: string): Promise<InProcess> {
  const database = await connectPostgres({ url });
  const planners = new WeakMap<CompiledApi, Planner>();

  async function run({ plan, parameters }: PlannedRead): Promise<unknown> {
    const rows = createAnswerWriter(plan)();
    await database.read(plan.statement, parameters, rows);
    return JSON.parse(rows.end().toString('utf8')).data;
  }

  return {
    async list(api, caller, collection, query) {
      const planner = planners.get(api) ?? createPlanner(api, { limits: { maxRows: Number.MAX_SAFE_INTEGER } });
      planners.set(api, planner);
      try {
        return await run(planner.search(caller, { name: collection }, JSON.parse(JSON.stringify({ query }))));
      } catch (error) {
        if (error instanceof PlatformError) return error.code;
        throw error;
      }
    },
    query: (sql) => database.query(sql, []),
    close: () => database.close(0),
  };
}
