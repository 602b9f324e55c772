/** The thread that compiles beside the one that serves. Started by recompiler.ts; not meant to be imported. */
import { parentPort, workerData } from 'node:worker_threads';
import { type CompiledModel, compileModel, readCustomRoutes } from '@platform/compiler';
import { type Diagnostic, resolveSchema } from '@platform/introspect';
import type { JsonValue } from '@platform/runtime/contract';
import { readModelRows } from '../permission-tables.ts';
import type { Question, RecompileSources, Reply } from './messages.ts';

/** Generations that can still be described: requests of those before the last are few and short. */
const mostKept = 4;

const sources: RecompileSources = workerData;
const routes = readCustomRoutes(sources.schema, sources);
const models = new Map<number, CompiledModel>();

function answer(question: Question): Reply {
  const { number } = question;
  if (question.kind === 'compile') return compileRows(question);
  const model = models.get(question.generation);
  const { kind, accessClass } = question;
  const text = kind === 'graphql' ? model?.graphql(accessClass) : print(model?.[kind](accessClass));
  return text === undefined
    ? { kind: 'failure', number, message: `Nothing is known of "${question.accessClass}".` }
    : { kind: 'text', number, text };
}

function print(document: JsonValue | undefined): string | undefined {
  return document === undefined ? undefined : JSON.stringify(document);
}

function compileRows({ number, rows }: Extract<Question, { kind: 'compile' }>): Reply {
  const { document, diagnostics: complaints } = readModelRows(rows);
  const { config, schema: previous, documents, examples } = sources;
  const facts = { tables: previous.tables, enums: previous.enums, diagnostics: [] };
  const { schema, diagnostics } = resolveSchema(facts, config, document, { previous });
  const problems = [...complaints, ...diagnostics].filter(({ severity }) => severity === 'error');
  if (problems.length > 0) return refuse(number, problems);
  const result = compileModel(schema, { routes, documents, examples });
  if ('diagnostics' in result) return refuse(number, result.diagnostics);
  models.set(number, result.model);
  for (const [oldest] of models) if (models.size > mostKept) models.delete(oldest);
  return { kind: 'model', number, model: result.model.data };
}

/** More are not told: the first ones say enough. */
const mostProblems = 10;

function refuse(number: number, diagnostics: readonly Diagnostic[]): Reply {
  const problems = diagnostics.slice(0, mostProblems).map(({ place, message }) => `${place}: ${message}`);
  return { kind: 'problems', number, problems };
}

parentPort?.on('message', (question: Question) => {
  let reply: Reply;
  try {
    reply = answer(question);
  } catch (error) {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    reply = { kind: 'failure', number: question.number, message };
  }
  parentPort?.postMessage(reply);
});
