/** The thread that compiles beside the one that serves. Started by recompiler.ts; not meant to be imported. */
import { isDeepStrictEqual } from 'node:util';
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
import type { Question, RecompileSources, Reply } from './recompiler.ts';

/** Generations that can still be described, beside the served one: requests of those before are few and short. */
const maxKept = 4;

const sources: RecompileSources = workerData;
const routes = readCustomRoutes(sources.schema, sources);
const models = new Map<number, { readonly model: CompiledModel; readonly schema: Schema }>();

function handle(question: Question): Reply {
  const { number } = question;
  if (question.kind === 'compile') return compileRows(question);
  const { kind, accessClass, apiVersion } = question;
  const text = textOf(kind, apiVersion, accessClass);
  return text === undefined
    ? { kind: 'failure', number, message: `Nothing is known of "${question.accessClass}".` }
    : { kind: 'text', number, text };
}

function textOf(kind: 'openapi' | 'graphql' | 'model' | 'schema', apiVersion: number, accessClass: string) {
  const { model, schema } = models.get(apiVersion) ?? {};
  if (kind === 'schema') return schema && printSchema(schema);
  return kind === 'graphql' ? model?.graphql(accessClass) : print(model?.[kind](accessClass));
}

/** The facts that are compiled, and the schema that they stand in the place of; undefined for one that is forgotten. */
function factsOf(tables: AnyCatalog | number): { readonly facts: SchemaFacts; readonly previous: Schema } | undefined {
  const latest = [...models.values()].at(-1)?.schema ?? sources.schema;
  if (typeof tables !== 'number') return { facts: buildFacts(tables), previous: latest };
  const schema = tables === 0 ? sources.schema : models.get(tables)?.schema;
  if (schema === undefined) return undefined;
  const { dialect, tables: read, enums } = schema;
  return { facts: { dialect, tables: read, enums, diagnostics: [] }, previous: schema };
}

function print(document: JsonValue | undefined): string | undefined {
  return document === undefined ? undefined : JSON.stringify(document);
}

function compileRows({ number, rows, tables, unless, kept }: Extract<Question, { kind: 'compile' }>): Reply {
  const { config, documents, examples } = sources;
  const found = factsOf(tables);
  if (found === undefined) return { kind: 'unknown', number };
  const before = unless === null ? undefined : models.get(unless)?.schema.tables;
  if (before !== undefined && isDeepStrictEqual(found.facts.tables, before)) return { kind: 'same', number };
  const { document, diagnostics: complaints } =
    config.permissionSource === 'tables'
      ? withCalls(readRuleRows(rows))
      : { document: sources.permissions, diagnostics: found.facts.diagnostics };
  const { routines = routinesOf(found.previous) } = found.facts;
  const facts = { ...found.facts, routines, model: readModelTables(rows.model) };
  const { schema, diagnostics } = resolveSchema(facts, config, document, { previous: found.previous });
  const problems = [...complaints, ...diagnostics].filter(({ severity }) => severity === 'error');
  if (problems.length > 0) return refuse(number, problems);
  const result = compileModel(schema, { routes, documents, examples });
  if ('diagnostics' in result) return refuse(number, result.diagnostics);
  models.set(number, { model: result.model, schema });
  // Others may be compiled and not served, as their changes are refused later.
  for (const [oldest] of models) if (models.size > maxKept && oldest !== kept) models.delete(oldest);
  return { kind: 'model', number, model: result.model.data };
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
