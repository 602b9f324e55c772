/** Comments under activity: the row that records one stands for it. Source: API specification, section 10.3. */
import type { IncomingMessage } from 'node:http';
import type { Database } from '../database/database.ts';
import { give, type OwnSql, script } from '../database/script.ts';
import { PlatformError } from '../errors.ts';
import type { CompiledApi, JsonValue } from '../language/index.ts';
import type { Planner } from '../query/planner.ts';
import { byFamily, type MysqlTables, systemPlaceOf } from '../system/place.ts';
import { ask, firstRow } from '../write/own-rows.ts';
import { explainViolation } from '../write/violation.ts';
import type { RequestOrigin, WriteRequest } from '../write/write-plan.ts';
import type { Writer } from '../write/writer.ts';
import { type Answerer, type Exchange, mediaTypes } from './answer.ts';
import { bodyObject } from './auth-body.ts';
import type { Call } from './call.ts';
import type { Endpoint, Handler, Method } from './endpoints.ts';
import type { ItemHandlers } from './items.ts';
import { readPathTexts, splitTarget } from './target.ts';

/** Options of the comment routes. */
export interface CommentEndpointsOptions {
  readonly api: CompiledApi;
  readonly database: Pick<Database, 'query' | 'transaction'>;
  readonly planner: Planner;
  readonly writer: Pick<Writer, 'workOf' | 'updateOne' | 'deleteOne'>;
  readonly items: Pick<ItemHandlers, 'read'>;
  readonly answerer: Answerer;
  readonly senderOf: (request: IncomingMessage) => RequestOrigin;
  /** Called when mail may wait to be sent. */
  readonly mailed: () => void;
}

const comments = 'platform_comments';
const activity = 'platform_activity';
const path = '/activity/comment';
const pathById = `${path}/:id`;

/** Sends the keys of rows in place of the rows, for callers that read these themselves. */
export function tellKeys(answerer: Answerer): CommentEndpointsOptions['items'] {
  return {
    async read({ exchange }, key) {
      const body = Buffer.from(JSON.stringify({ data: Number(key) }));
      answerer.send(exchange, { status: 200, type: mediaTypes.json, body });
    },
  };
}

/** The row of activity of a comment, and the comment of a row. */
interface Statements {
  readonly row: OwnSql;
  readonly comment: OwnSql;
}

function postgresStatements(schema: string): Statements {
  return {
    row: `SELECT activity::text FROM ${schema}.${comments} WHERE id = $1::uuid`,
    comment: `SELECT id::text FROM ${schema}.${comments} WHERE activity = $1::integer`,
  };
}

function mysqlStatements({ table }: MysqlTables): Statements {
  return {
    row: script(give(`SELECT CAST(activity AS CHAR) FROM ${table(comments)} WHERE id = $1`)),
    comment: script(give(`SELECT CAST(id AS CHAR) FROM ${table(comments)} WHERE activity = $1`)),
  };
}

/** Makes the endpoints; none where the platform's own tables are not installed. */
export function createCommentEndpoints(options: CommentEndpointsOptions): readonly Endpoint[] {
  const { api, database, planner, writer, items, answerer, senderOf, mailed } = options;
  const systemPlace = systemPlaceOf(api);
  if (systemPlace === null) return [];
  const texts = byFamily(systemPlace, { postgres: postgresStatements, mysql: mysqlStatements });

  const requestOf = (exchange: Exchange, { caller }: Call): WriteRequest => ({
    caller,
    collection: comments,
    query: '',
    sender: senderOf(exchange.request),
    echo: () => null,
  });

  /** Writes the comment and gives the key of the row that records it. */
  async function record(request: WriteRequest, body: JsonValue): Promise<string> {
    const work = await writer.workOf({ action: 'create', request, body });
    try {
      const row = await database.transaction(async (transaction) => {
        const { keys } = await work.run(transaction);
        return { value: await firstRow(transaction, texts.row, [keys?.values[0] ?? null]) };
      });
      work.committed();
      return row?.[0] ?? '';
    } catch (error) {
      throw explainViolation(error, work.affected());
    }
  }

  /** The comment that a row of activity records. Throws FORBIDDEN for any other row. */
  async function commentOf({ request }: Exchange): Promise<string> {
    const id = readPathTexts(pathById, splitTarget(request.url ?? '').path)?.get('id')?.[0] ?? '';
    const [row] = /^\d{1,9}$/.test(id) ? await ask(database, texts.comment, [id]) : [];
    if (typeof row?.[0] !== 'string') throw new PlatformError('FORBIDDEN');
    return row[0];
  }

  /** True if the caller can read such rows at all. Throws errors of the query before anything is written. */
  function canRead({ caller, query }: Call): boolean {
    try {
      planner.read(caller, { name: activity }, '0', query);
      return true;
    } catch (error) {
      if (query === '' && error instanceof PlatformError && error.code === 'FORBIDDEN') return false;
      throw error;
    }
  }

  async function answer(exchange: Exchange, { caller, query }: Call, readable: boolean, id: string): Promise<void> {
    try {
      if (readable) return await items.read({ exchange, caller, collection: activity, query }, id);
    } catch (error) {
      if (!(error instanceof PlatformError) || error.code !== 'FORBIDDEN') throw error;
    }
    answerer.send(exchange, { status: 204 });
  }

  const create: Handler = async (exchange, call, body) => {
    const payload = bodyObject(body);
    const readable = canRead(call);
    const id = await record(requestOf(exchange, call), payload);
    mailed();
    await answer(exchange, call, readable, id);
  };
  const update: Handler = async (exchange, call, body) => {
    const payload = bodyObject(body);
    const readable = canRead(call);
    const comment = await commentOf(exchange);
    await writer.updateOne(requestOf(exchange, call), comment, payload);
    const id = readPathTexts(pathById, splitTarget(exchange.request.url ?? '').path)?.get('id')?.[0] ?? '';
    await answer(exchange, call, readable, id);
  };
  const remove: Handler = async (exchange, call) => {
    await writer.deleteOne(requestOf(exchange, call), await commentOf(exchange));
    answerer.send(exchange, { status: 204 });
  };
  return [
    { url: path, handlers: new Map([['POST', create]]) },
    {
      url: pathById,
      handlers: new Map<Method, Handler>([
        ['PATCH', update],
        ['DELETE', remove],
      ]),
    },
  ];
}
