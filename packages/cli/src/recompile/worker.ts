/** The thread that compiles beside the one that serves. Started by recompiler.ts; not meant to be imported. */
import { isDeepStrictEqual } from 'node:util';
import { deserialize, serialize } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import { type CompiledModel, compileModel, readCustomRoutes } from '@tablewright/compiler';
import {
  type AnyCatalog,
  buildFacts,
  type Diagnostic,
  printSchema,
  readModelTables,
  resolveSchema,
  routinesOf,
  type SchemaFacts,
} from '@tablewright/introspect';
import type { Schema } from '@tablewright/introspect/schema';
import type { JsonValue } from '@tablewright/runtime/language';
import { readRuleRows } from '../sources/permission-tables.ts';
import type { Question, RecompileSources, Reply, Version } from './recompiler.ts';

/** Versions that are kept compiled: requests of those before are few and short. */
const maxKept = 4;

const sources: RecompileSources = workerData;
const routes = readCustomRoutes(sources.schema, sources);

interface Compiled {
  readonly model: CompiledModel;
  readonly schema: Schema;
}

const kept = new Map<number, Compiled>();

function handle(question: Question): Reply {
  const { number } = question;
  if (question.kind === 'compile') return compileRows(question);
  const text = textOf(question);
  return text === undefined
    ? { kind: 'failure', number, message: `Nothing is known of "${question.accessClass}".` }
    : { kind: 'text', number, text };
}

function textOf({ kind, version, accessClass }: Exclude<Question, { kind: 'compile' }>): string | undefined {
  const schema = schemaOf(version);
  if (kind === 'schema') return printSchema(schema);
  const result = kept.get(version.number) ?? compileVersion(version.number, schema);
  if ('diagnostics' in result) return undefined;
  return kind === 'graphql' ? result.model.graphql(accessClass) : print(result.model[kind](accessClass));
}

function schemaOf({ number, schema }: Version): Schema {
  return schema === null ? sources.schema : (kept.get(number)?.schema ?? deserialize(schema));
}

function compileVersion(number: number, schema: Schema): Compiled | { readonly diagnostics: readonly Diagnostic[] } {
  const { documents, examples } = sources;
  const result = compileModel(schema, { routes, documents, examples });
  if ('diagnostics' in result) return result;
  const compiled = { model: result.model, schema };
  kept.set(number, compiled);
  for (const [oldest] of kept) if (kept.size > maxKept) kept.delete(oldest);
  return compiled;
}

function factsOf(tables: AnyCatalog | null, { dialect, tables: read, enums }: Schema): SchemaFacts {
  return tables === null ? { dialect, tables: read, enums, diagnostics: [] } : buildFacts(tables);
}

/** Bytes that each thread reads without a copy of its own. */
function shared(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}

function print(document: JsonValue | undefined): string | undefined {
  return document === undefined ? undefined : JSON.stringify(document);
}

function compileRows({ number, rows, tables, previous, unless }: Extract<Question, { kind: 'compile' }>): Reply {
  const { config } = sources;
  const before = schemaOf(previous);
  const found = factsOf(tables, before);
  if (unless !== null && isDeepStrictEqual(found.tables, schemaOf(unless).tables)) return { kind: 'same', number };
  const { document, diagnostics: complaints } =
    config.permissionSource === 'tables'
      ? withCalls(readRuleRows(rows))
      : { document: sources.permissions, diagnostics: found.diagnostics };
  const { routines = routinesOf(before) } = found;
  const facts = { ...found, routines, model: readModelTables(rows.model) };
  const { schema, diagnostics } = resolveSchema(facts, config, document, { previous: before });
  const problems = [...complaints, ...diagnostics].filter(({ severity }) => severity === 'error');
  if (problems.length > 0) return refuse(number, problems);
  const result = compileVersion(number, schema);
  if ('diagnostics' in result) return refuse(number, result.diagnostics);
  return { kind: 'model', number, model: result.model.data, schema: shared(serialize(schema)) };
}

/** The tables have no rights to call functions: they are those of the file. */
function withCalls({ document, diagnostics }: ReturnType<typeof readRuleRows>): ReturnType<typeof readRuleRows> {
  const { functions } = sources.permissions;
  return { document: { ...document, ...(functions && { functions }) }, diagnostics };
}

/** More are not reported: the first ones suffice. */
const maxProblems = 10;

function refuse(number: number, diagnostics: readonly Diagnostic[]): Reply {
  const problems = diagnostics.slice(0, maxProblems).map(({ place: location, message }) => `${location}: ${message}`);
  return { kind: 'problems', number, problems };
}

parentPort?.on('message', (question: Question) => {
  let reply: Reply;
  try {
    reply = handle(question);
  } catch (error) {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    reply = { kind: 'failure', number: question.number, message };
  }
  parentPort?.postMessage(reply);
});
