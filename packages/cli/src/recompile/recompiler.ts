/** Compiles the next generation of a server that runs, in a thread of its own. */
import type { ModelData } from '@tablewright/compiler';
import {
  type AnyCatalog,
  defaultSchema,
  digestPermissions,
  readAnyCatalog,
  readModelTables,
  withDrafts,
} from '@tablewright/introspect';
import type { CompiledApi, ModelRows, RecompileOptions, Recompiler, RunTexts } from '@tablewright/runtime';
import { dialectFacts, once } from '@tablewright/runtime/language';
import { readOptions } from '../compile/facts.ts';
import { loadSchema, writeSchemaText } from '../compile/steps.ts';
import { CommandError, exitCodes } from '../errors/failures.ts';
import { loadExamples } from '../examples/load.ts';
import { startWorker } from '../process/worker-thread.ts';
import { loadExtensions, loadModules, outputOf } from '../project/extensions.ts';
import type { Project } from '../project/project.ts';
import { loadDocuments, loadTemplates } from '../project/templates.ts';
import { readRuleRows } from '../sources/permission-tables.ts';
import { keepMigrations, migrationNames } from '../sources/project-migrations.ts';
import { linkModel } from './link-model.ts';

/** Makes the recompiler of a project. Its thread starts when first needed, or at once for rules of the tables. */
export async function createRecompiler(project: Project, api: CompiledApi): Promise<Recompiler> {
  const permissions = project.config.permissionSource === 'tables';
  const sources = once(() => sourcesOf(project));
  let thread = permissions ? startThread(await sources()) : null;
  let numbers = 0;
  let closed = false;
  const versions = new WeakMap<CompiledApi, Version>([[api, generated]]);

  /** A thread that has died is replaced, and makes versions again of their schemas. */
  async function request(question: (number: number) => Question): Promise<Reply> {
    const found = await sources();
    // Nothing waits from here on, so that requests which come together start one thread.
    if (closed) throw new Error('The compiling thread has ended.');
    const worker = thread === null || thread.ended ? startThread(found) : thread;
    thread = worker;
    numbers += 1;
    const reply = await worker.request(question(numbers));
    if (reply.kind === 'failure') throw new Error(reply.message);
    return reply;
  }

  async function textOf(kind: Description['kind'], version: Version, accessClass: string): Promise<string> {
    const reply = await request((number) => ({ kind, number, version, accessClass }));
    return reply.kind === 'text' ? reply.text : '';
  }

  const compile: Recompiler['compile'] = async (rows, run, over, read, { drafts, unless, served } = {}) => {
    const previous = versions.get(over ?? served ?? api) ?? generated;
    const tables = over !== null && versions.has(over) ? null : await readTables(project, api, run, drafts);
    if (tables !== null) await read();
    const before = (unless && versions.get(unless)) ?? null;
    const reply = await request((number) => ({ kind: 'compile', number, rows, tables, previous, unless: before }));
    if (reply.kind === 'problems') return { problems: reply.problems };
    if (reply.kind === 'same' && unless !== undefined) return { api: unless };
    if (reply.kind !== 'model') throw new Error('The compiler answered something else than it was asked.');
    const version = { number: reply.number, schema: reply.schema };
    const next = linkModel(reply.model, api, (kind, accessClass) => textOf(kind, version, accessClass));
    versions.set(next, version);
    return { api: next };
  };

  return {
    permissions,
    schema: defaultSchema(project.config),
    digests: (rows) => digestsOf(permissions, rows),
    compile,
    migrationNames: () => migrationNames(project),
    async keep(served, migrations) {
      const version = versions.get(served) ?? generated;
      if (version !== generated) await writeSchemaText(project, [await textOf('schema', version, '')]);
      await keepMigrations(project, migrations);
    },
    async close() {
      closed = true;
      await thread?.close();
    },
  };
}

type Description = Exclude<Question, { readonly kind: 'compile' }>;

function digestsOf(
  permissions: boolean,
  rows: Parameters<Recompiler['digests']>[0],
): ReturnType<Recompiler['digests']> {
  // Each is worked out once, when it is looked at: thousands of rules take a while of the thread that serves.
  const rules = once(() => (permissions ? digestPermissions(readRuleRows(rows).document) : undefined));
  const model = once(() => readModelTables(rows.model)?.digest);
  return {
    get permissions() {
      return rules();
    },
    get model() {
      return model();
    },
  };
}

async function readTables(
  project: Project,
  { dialect }: CompiledApi,
  run: RunTexts,
  drafts: RecompileOptions['drafts'],
): Promise<AnyCatalog> {
  const catalog = await readAnyCatalog(dialectFacts[dialect].family, run, readOptions(project));
  return drafts !== undefined && 'dialect' in catalog ? withDrafts(catalog, drafts) : catalog;
}

async function sourcesOf(project: Project) {
  const schema = await loadSchema(project);
  if (schema === null) {
    throw new CommandError(
      exitCodes.start,
      'There is no platform.schema.json to compile permissions with.',
      'Run `platform generate` and keep the file beside the generated ones, or start with --frozen.',
    );
  }
  const extensions = await loadExtensions(project);
  return {
    config: project.config,
    /** Content of the permissions file; compiled unless the permissions come from the tables. */
    permissions: project.permissions,
    /** As it was compiled before. */
    schema,
    templates: await loadTemplates(project),
    extensions,
    modules: await loadModules(project, extensions),
    documents: await loadDocuments(project),
    examples: await loadExamples(project),
    /** Folder of the generated files from the project's folder on. */
    output: outputOf(project),
  } as const;
}

function startThread(workerData: RecompileSources) {
  const name = import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js';
  const { worker, send } = startWorker<Question>()(new URL(name, import.meta.url), workerData);
  // It must not keep a process alive that has nothing else to do.
  worker.unref();
  const waiting = new Map<number, PromiseWithResolvers<Reply>>();
  let ended = false;

  function fail(error: unknown): void {
    ended = true;
    for (const request of waiting.values()) request.reject(error);
    waiting.clear();
  }

  worker.on('message', (reply: Reply) => {
    waiting.get(reply.number)?.resolve(reply);
    waiting.delete(reply.number);
  });
  worker.on('error', fail);
  worker.on('exit', () => fail(new Error('The compiling thread has ended.')));
  return {
    get ended(): boolean {
      return ended;
    },
    request(question: Question): Promise<Reply> {
      const request = Promise.withResolvers<Reply>();
      waiting.set(question.number, request);
      send(question);
      return request.promise;
    },
    close: async (): Promise<void> => void (await worker.terminate()),
  };
}

/** All that the compiling thread needs to know of a project; plain data. */
export type RecompileSources = Awaited<ReturnType<typeof sourcesOf>>;

/** A compiled API, which any thread can compile again. */
export interface Version {
  /** Number of the request that compiled it; 0 for the generated one. */
  readonly number: number;
  /** Serialized, in memory that threads share; null for `RecompileSources.schema`. */
  readonly schema: Uint8Array | null;
}

const generated: Version = { number: 0, schema: null };

/** Requests to the compiling thread; every one is answered once, by its number. */
export type Question =
  | {
      readonly kind: 'compile';
      readonly number: number;
      readonly rows: ModelRows;
      /** The tables as they were read now; null for those of `previous`. */
      readonly tables: AnyCatalog | null;
      /** Names of relations are kept as it has them. */
      readonly previous: Version;
      /** Its answer is given again if its tables are the same; its rows were. */
      readonly unless: Version | null;
    }
  | {
      readonly kind: 'openapi' | 'graphql' | 'model' | 'schema';
      readonly number: number;
      readonly version: Version;
      readonly accessClass: string;
    };

/** Answers of the compiling thread. */
export type Reply =
  | { readonly kind: 'model'; readonly number: number; readonly model: ModelData; readonly schema: Uint8Array }
  /** The tables are those of `unless`. */
  | { readonly kind: 'same'; readonly number: number }
  | { readonly kind: 'problems'; readonly number: number; readonly problems: readonly string[] }
  | { readonly kind: 'text'; readonly number: number; readonly text: string }
  | { readonly kind: 'failure'; readonly number: number; readonly message: string };
