/** Runs mutations: all writes of an operation in order, in one transaction. Source: API specification, section 14.1. */
import { PlatformError, toPlatformError } from '../errors.ts';
import type { GraphqlScope } from '../language/index.ts';
import { keyRequest } from '../write/execute/idempotency.ts';
import type { RequestOrigin } from '../write/execute/running.ts';
import type { Writer } from '../write/writer.ts';
import type { MutationField, WriteSource } from './compile/compile-mutation.ts';
import type { ServiceField } from './compile/compile-query.ts';
import type { OperationAnswer, OperationCall } from './documents/operation.ts';
import type { QuerySetting } from './run-query.ts';
import { type FieldValue, nullText, spliceAnswer } from './spliced.ts';

export interface MutationSetting extends Pick<QuerySetting, 'report' | 'service'> {
  readonly writer: Pick<Writer, 'inOrder'>;
  readonly senderOf: (request: OperationCall['request']) => RequestOrigin;
}

/** Answers a mutation. If a field fails, nothing is written and there is no data. */
export async function runMutation(
  setting: MutationSetting,
  fields: readonly MutationField[],
  call: OperationCall,
  scope: GraphqlScope,
): Promise<OperationAnswer> {
  const failing = fields.find(({ source }) => source.kind === 'failure');
  if (failing?.source.kind === 'failure') {
    return { body: failed(setting, call, failing, failing.source.error), headers: [] };
  }
  const served = fields.find(({ source }) => source.kind === 'service');
  if (served?.source.kind === 'service') return runService(setting, fields, served, served.source.field, call);
  return { body: await runWrites(setting, fields, call, scope), headers: [] };
}

function failed(
  { report }: MutationSetting,
  { request, caller }: OperationCall,
  { key, nodes }: MutationField,
  thrown: unknown,
): Buffer {
  const error = toPlatformError(thrown);
  report(request, error);
  return spliceAnswer(null, [{ key, nodes, error, namesMissing: caller.administrator }]);
}

async function runService(
  setting: MutationSetting,
  fields: readonly MutationField[],
  field: MutationField,
  service: ServiceField,
  call: OperationCall,
): Promise<OperationAnswer> {
  try {
    const { json, headers } = await setting.service(service, call);
    return {
      body: spliceAnswer(
        withConstants(fields, () => json),
        [],
      ),
      headers,
    };
  } catch (error) {
    return { body: failed(setting, call, field, error), headers: [] };
  }
}

function withConstants(
  fields: readonly MutationField[],
  jsonOf: (field: MutationField) => Buffer,
): readonly FieldValue[] {
  return fields.map((field) => {
    const { key, source } = field;
    return { key, json: source.kind === 'constant' ? Buffer.from(source.json) : jsonOf(field) };
  });
}

/** A write with the field that asks for it. */
interface Placed {
  readonly field: MutationField;
  readonly source: WriteSource;
}

async function runWrites(
  setting: MutationSetting,
  fields: readonly MutationField[],
  call: OperationCall,
  scope: GraphqlScope,
): Promise<Buffer> {
  const { writer, senderOf } = setting;
  const { caller, request, variables, key } = call;
  const placed = fields.flatMap((field): Placed | readonly [] =>
    field.source.kind === 'write' ? { field, source: field.source } : [],
  );
  const sender = senderOf(request);
  const commands = [];
  for (const { field, source } of placed) {
    try {
      commands.push(source.ask(variables, { caller, sender }));
    } catch (error) {
      if (error instanceof PlatformError) return failed(setting, call, field, error);
      throw error;
    }
  }
  function respond(answers: readonly (Buffer | null)[]): Buffer {
    const parts = new Map(
      placed.map(({ field, source }, index) => [field.key, source.encode(answers[index] ?? null, variables)]),
    );
    return spliceAnswer(
      withConstants(fields, (field) => parts.get(field.key) ?? nullText),
      [],
    );
  }
  function failure(index: number, error: PlatformError): Buffer {
    const field = placed[index]?.field;
    return field === undefined ? spliceAnswer(null, []) : failed(setting, call, field, error);
  }
  if (placed.length === 0) return respond([]);
  const kept = key && { key: key.text, caller, sender, collection: `graphql/${scope}`, query: '' };
  return writer.inOrder(commands, { answer: respond, failure }, kept && keyRequest(kept, key?.body));
}
