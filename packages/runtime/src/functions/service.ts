/** Calls of functions and procedures of the database under the rights of their callers. */

import type { Caller } from '../caller.ts';
import type { Statement, Transaction } from '../database/database.ts';
import { isRaised, raisedForCaller, ServerError, untrueFunction } from '../database/errors.ts';
import { runAs } from '../database/row-context.ts';
import { ownTables } from '../dialects/index.ts';
import { PlatformError } from '../errors.ts';
import type { CompiledApi, FunctionAccess, FunctionDescriptor } from '../language/index.ts';
import { type BoundedCache, type CreateCache, createEmpty } from '../language/values/bounded-cache.ts';
import { findOrCreate } from '../language/values/once.ts';
import { type Answer, createAnswerWriter } from '../query/answer.ts';
import type { QueryTree } from '../query/parse/parse-query-string.ts';
import { defaultReadLimits, parseBounds } from '../query/parse/parse-read.ts';
import type { ReadLimits } from '../query/parse/request.ts';
import type { ReadPlan } from '../query/plan/plan.ts';
import { bind, type PlannedRead, type Planner } from '../query/planner.ts';
import type { RequestedSource } from '../query/prepared.ts';
import { buildOpenScope, keyFields } from '../sql/scope.ts';
import { logPlaceOf } from '../system/place.ts';
import { asOne } from '../write/decode/keys.ts';
import { findTargets } from '../write/execute/targets.ts';
import type { TransactionBody, Written } from '../write/execute/transaction-body.ts';
import { createActionCheck } from '../write/history/history.ts';
import type { WriteRequest } from '../write/write-plan.ts';
import type { Writer } from '../write/writer.ts';
import { decodeArguments, openArguments, type SentArguments } from './arguments.ts';
import {
  callValues,
  formOf,
  type PlannedCall,
  planCall,
  planKeys,
  printCall,
  publicPlan,
  type RequestedCall,
  valuesOf,
} from './plan-call.ts';

export interface Callable {
  readonly descriptor: FunctionDescriptor;
  readonly access: FunctionAccess;
}

export interface Functions {
  /** The function of a name, as the caller may call it; undefined where it does not exist for him. */
  find(caller: Caller, name: string): Callable | undefined;
  /** The rows of a function that only reads, in the place of a table. Throws INVALID_QUERY. */
  source(callable: Callable, args: SentArguments): RequestedSource;
  /** Plans the call of a function that only reads. Throws INVALID_QUERY, and FORBIDDEN for hidden names. */
  read(caller: Caller, callable: Callable, args: SentArguments, query: QueryTree): PlannedRead;
  /** Plans the statement of a call of any other one. Throws INVALID_PAYLOAD. */
  plan(caller: Caller, callable: Callable, args: SentArguments): Pick<PlannedRead, 'parameters'> & PlannedCall;
  /** Prepares the call of any other one. Throws INVALID_PAYLOAD, and errors of the query that says what is answered. */
  write(request: WriteRequest, callable: Callable, args: SentArguments): Promise<TransactionBody>;
}

interface FunctionsOptions {
  readonly api: Pick<CompiledApi, 'collections' | 'access' | 'dialect' | 'functions'>;
  readonly planner: Planner;
  readonly writer: Pick<Writer, 'returning'>;
  readonly limits: Partial<ReadLimits>;
  readonly createCache?: CreateCache;
}

export function createFunctions(options: FunctionsOptions): Functions {
  const { api, planner, writer } = options;
  const plans = new CallPlans(options);
  const note = createCallActivity(api);
  return {
    find: createFind(api),
    source: (callable, args) => plans.sourceOf(readCall(callable, args)),
    read(caller, callable, args, query) {
      const { returns } = callable.descriptor;
      if (returns.kind !== 'items') return plans.planOf(caller, readCall(callable, args), query);
      return planner.rows(caller, returns.collection, plans.sourceOf(readCall(callable, args)), query);
    },
    plan(caller, callable, args) {
      const call = writtenCall(callable, args);
      if (callable.descriptor.returns.kind === 'items') return plans.planOfKeys(caller, call);
      const { plan, statement, parameters } = plans.planOf(caller, call, everything);
      return { ...plan, statement, parameters };
    },
    async write(request, callable, args) {
      const { descriptor } = callable;
      const call = writtenCall(callable, args);
      const { returns } = descriptor;
      if (returns.kind !== 'items') {
        const { plan, statement, parameters } = changing(plans.planOf(request.caller, call, everything));
        const writerOf = createAnswerWriter(plan);
        return body(async (transaction) => {
          const rows = writerOf();
          await transaction.run(statement, parameters, rows);
          await note(transaction, request, descriptor.name);
          return { returning: null, keys: null, ...(returns.kind !== 'nothing' && { rows: answered(rows) }) };
        });
      }
      const returning = writer.returning({ ...request, collection: returns.collection }, returns.many ? 'many' : 'one');
      const targets = changing(plans.planOfKeys(request.caller, call));
      return body(async (transaction) => {
        const { keys } = await findTargets(transaction, targets);
        await note(transaction, request, descriptor.name);
        if (keys === null) return { returning: null, keys: null };
        return { returning, keys: returns.many === true ? keys : asOne(keys) };
      });
    },
  };
}

function createFind(api: FunctionsOptions['api']): Functions['find'] {
  const descriptors = new Map((api.functions ?? []).map((descriptor) => [descriptor.name, descriptor]));
  const grants = new Map(
    api.access.map(({ name, functions = [] }) => [name, new Map(functions.map((grant) => [grant.function, grant]))]),
  );
  return function find({ accessClass, user, role }, name) {
    const descriptor = descriptors.get(name);
    const access = grants.get(accessClass)?.get(name);
    if (descriptor === undefined || access === undefined) return undefined;
    const subjects = { user, role };
    const isMissing = access.args?.some(({ value }) => value.kind === 'caller' && subjects[value.of] === null);
    return isMissing === true ? undefined : { descriptor, access };
  };
}

class CallPlans {
  readonly #open: ReturnType<typeof buildOpenScope>;
  readonly #limits: ReadLimits;
  /** Access classes of callers without a token. */
  readonly #guests: ReadonlySet<string>;
  readonly #plans: BoundedCache<ReadPlan>;
  readonly #keyPlans: BoundedCache<PlannedCall>;

  constructor({ api, limits, createCache = createEmpty }: FunctionsOptions) {
    this.#open = buildOpenScope(api);
    this.#limits = { ...defaultReadLimits, ...limits };
    this.#guests = new Set(api.access.flatMap(({ name, roles }) => (roles.includes('public') ? [name] : [])));
    this.#plans = createCache<ReadPlan>('reads');
    this.#keyPlans = createCache<PlannedCall>('reads');
  }

  planOf(caller: Caller, call: RequestedCall, query: QueryTree): PlannedRead {
    const bounds = parseBounds(query, this.#limits, undefined);
    const form = `${caller.accessClass} ${formOf(call)} ${bounds.limit} ${bounds.offset > 0}`;
    const plain = findOrCreate(this.#plans, form, () =>
      onlyReading(planCall(this.#open, call, bounds), call.descriptor.reads),
    );
    const plan = this.#guests.has(caller.accessClass) ? publicPlan(plain) : plain;
    const parameters = bind(plan.binders, callValues(call, bounds), caller);
    return { plan, statement: runAs(plan.statement, caller), parameters };
  }

  sourceOf(call: RequestedCall): RequestedSource {
    const scope = this.#open;
    return {
      form: formOf(call),
      values: valuesOf(call),
      many: 'many' in call.descriptor.returns && call.descriptor.returns.many === true,
      print: (statement, index) => printCall({ statement, scope }, call, index),
    };
  }

  planOfKeys(caller: Caller, call: RequestedCall): Pick<PlannedRead, 'parameters'> & PlannedCall {
    const { returns } = call.descriptor;
    const collection = this.#open.collections.get(returns.kind === 'items' ? returns.collection : '');
    if (collection === undefined) throw new Error(`the collection of "${call.descriptor.name}" is not there`);
    const form = `${caller.accessClass} ${formOf(call)}`;
    const planned = findOrCreate(this.#keyPlans, form, () =>
      planKeys(this.#open, call, keyFields(collection.descriptor)),
    );
    const parameters = bind(planned.binders, valuesOf(call), caller);
    return { ...planned, statement: runAs(planned.statement, caller), parameters };
  }
}

/** A function that is declared to read only is not believed. */
function onlyReading(plan: ReadPlan, reads: boolean): ReadPlan {
  return reads ? { ...plan, statement: { ...plan.statement, readOnly: true } } : plan;
}

function readCall(callable: Callable, args: SentArguments): RequestedCall {
  const { descriptor, access } = callable;
  return { ...callable, sent: decodeArguments(openArguments(descriptor, access), args, 'INVALID_QUERY') };
}

function writtenCall(callable: Callable, args: SentArguments): RequestedCall {
  const { descriptor, access } = callable;
  return { ...callable, sent: decodeArguments(openArguments(descriptor, access), args, 'INVALID_PAYLOAD') };
}

function changing<Call extends { readonly statement: Statement }>(planned: Call): Call {
  return { ...planned, statement: { ...planned.statement, changes: [{ table: '*', kind: 'update' }] } };
}

/** Everything that a call gives. */
const everything: QueryTree = new Map([['limit', { value: -1, text: false }]]);

function body(run: (transaction: Transaction) => Promise<Written>): TransactionBody {
  return {
    async run(transaction) {
      try {
        return await run(transaction);
      } catch (error) {
        throw toFunctionError(error, true);
      }
    },
    affected: () => [],
    committed() {},
  };
}

/** Answers everything that a call gives, an empty list as well. */
function answered(rows: Answer): Answer {
  return {
    items: 1,
    row: (buffer, offset, length) => rows.row(buffer, offset, length),
    read: () => rows.read(),
    end: () => rows.end(),
  };
}

/** The error of a caller for whom a function does not exist: that of an unknown path. */
export function noFunction(): PlatformError {
  return new PlatformError('ROUTE_NOT_FOUND');
}

/** Notes a call in its transaction; where it returns a promise, COMMIT must wait for it. */
type NoteCall = (
  transaction: Transaction,
  request: Pick<WriteRequest, 'caller' | 'sender'>,
  name: string,
) => Promise<void> | undefined;

/** Makes it; without the tables of the platform, or with older ones, nothing is noted. */
function createCallActivity(api: Pick<CompiledApi, 'collections' | 'dialect'>): NoteCall {
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

const noValue = 'A value is none of its type.';

/** Takes an error of a call to the one that answers it; any other stays as it is. */
export function toFunctionError(thrown: unknown, writes: boolean): unknown {
  if (!(thrown instanceof PlatformError) || !(thrown.cause instanceof ServerError)) return thrown;
  const { cause } = thrown;
  const raised = raisedForCaller(cause);
  if (raised !== undefined) return raised;
  switch (cause.sqlstate) {
    // The transactions of reads cannot write, and some servers do not try where a function says that it does not.
    case '25006':
    case '0A000':
      if (writes && thrown.code !== 'INVALID_QUERY') return thrown;
      return new PlatformError('UNPROCESSABLE_ENTITY', untrueFunction, {}, { cause });
    case 'P0001':
      return refusal(cause);
    // A domain: what only reads checks no row.
    case '23514':
      return writes ? thrown : new PlatformError('INVALID_QUERY', noValue, {}, { cause });
    default:
      if (isUnexplained(thrown) && isRaised(cause)) return refusal(cause);
      if (isUnexplained(thrown) && isOfArguments(cause))
        return new PlatformError('UNPROCESSABLE_ENTITY', 'The function fails with these arguments.', {}, { cause });
      if (!writes || thrown.code !== 'INVALID_QUERY') return thrown;
      return new PlatformError('INVALID_PAYLOAD', noValue, {}, { cause });
  }
}

function refusal(cause: ServerError): PlatformError {
  return new PlatformError('UNPROCESSABLE_ENTITY', 'The function refuses this.', {}, { cause });
}

/** True if the SQLSTATE says nothing to the caller: one that a function made up, or that of a fault elsewhere. */
function isUnexplained({ code }: PlatformError): boolean {
  return code === 'SERVICE_UNAVAILABLE' || code === 'INTERNAL_SERVER_ERROR';
}

/** True for failures of a function itself, which a repetition meets again: values, missing rows, libraries, its own SQL. */
function isOfArguments({ sqlstate, isWithin }: ServerError): boolean {
  if (sqlstate === '42601') return isWithin;
  return /^(?:2[12DF]|3[89]|P0)/.test(sqlstate) || sqlstate === 'XX000';
}
