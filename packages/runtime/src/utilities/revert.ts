/** Writing an item back as a revision holds it. Source: API specification, section 13, `/utils/revert`. */
import type { Caller } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import { isObject } from '../language/conditions/filter-syntax.ts';
import type { CompiledApi, JsonValue } from '../language/index.ts';
import { parseExactly } from '../language/values/parse-text.ts';
import { createAnswerWriter } from '../query/answer.ts';
import type { Planner } from '../query/planner.ts';
import { buildOpenScope } from '../sql/scope.ts';
import { filesName } from '../write/access/system-access.ts';
import type { RequestOrigin } from '../write/execute/running.ts';
import { bodyOfParts, type TransactionBody } from '../write/execute/transaction-body.ts';
import type { Writer } from '../write/writer.ts';

interface ReverterOptions {
  readonly api: CompiledApi;
  /** Quoted; null where the platform's own tables are not installed. */
  readonly schema: string | null;
  readonly planner: Planner;
  readonly writer: Pick<Writer, 'workOf'>;
}

interface RevertRequest {
  readonly caller: Caller;
  readonly sender: RequestOrigin;
}

const requested = 'fields=collection,item,data';
const written = { query: '', activity: 'revert', isPart: true, returning: () => null } as const;

/**
 * Makes what prepares a revert: an update by the caller, under the caller's rules. It has every field that the revision
 * shows to the caller and that some rule lets the caller write. It is refused with FORBIDDEN for revisions and items that the
 * caller may not read or write.
 */
export function createReverter({ api, schema, planner, writer }: ReverterOptions) {
  const open = buildOpenScope(api);
  const names = updatableNames(api);

  /** The fields that the caller can write: neither its key, nor what the server fills, as the type of a file. */
  function payloadOf(
    { accessClass }: Caller,
    collection: string,
    data: JsonValue,
  ): Readonly<Record<string, JsonValue>> {
    const descriptor = open.collections.get(collection)?.descriptor;
    if (descriptor === undefined || !isObject(data)) throw new PlatformError('FORBIDDEN');
    const granted = names.get(accessClass)?.get(collection);
    const isKept = (name: string): boolean =>
      descriptor.key.includes(name) || (collection === filesName && name === 'type');
    const writable = new Set(
      descriptor.fields
        .filter(({ name, writable }) => writable && granted?.has(name) === true && !isKept(name))
        .map(({ name }) => name),
    );
    if (writable.size === 0) throw new PlatformError('FORBIDDEN');
    return Object.fromEntries(Object.entries(data).filter(([name]) => writable.has(name)));
  }

  return function revert({ caller, sender }: RevertRequest, revision: string): TransactionBody {
    if (schema === null) throw new PlatformError('FORBIDDEN');
    const { plan, statement, parameters } = planner.read(caller, { name: 'platform_revisions' }, revision, requested);
    return bodyOfParts(async (transaction, { judgesFirst, begun }) => {
      const rows = createAnswerWriter(plan)();
      await transaction.run(statement, parameters, rows);
      if (rows.items === 0) throw new PlatformError('FORBIDDEN');
      const { collection, item, data } = readRevision(rows.end().toString());
      const request = { ...written, caller, collection, sender, judgesFirst };
      const work = await writer.workOf({ action: 'update', request, item, body: payloadOf(caller, collection, data) });
      begun(work);
      await work.run(transaction);
    });
  };
}

/** Numbers keep their digits, so that the values written back are exactly those of the revision. */
function readRevision(text: string): { readonly collection: string; readonly item: string; readonly data: JsonValue } {
  const response = parseExactly(text);
  const row = isObject(response) ? (response.data ?? null) : null;
  if (!isObject(row)) throw new PlatformError('FORBIDDEN');
  const { collection = null, item = null, data = null } = row;
  return { collection: String(collection), item: String(item), data };
}

/** The fields that a class may update by some rule: by class, by collection. One that it may not update at all has none. */
export function updatableNames({
  access,
}: Pick<CompiledApi, 'access'>): ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>> {
  return new Map(
    access.map(({ name, collections }) => [
      name,
      new Map(
        collections.map(({ collection, update = [] }) => [collection, new Set(update.flatMap(({ fields }) => fields))]),
      ),
    ]),
  );
}
