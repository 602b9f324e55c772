/** The way from a database to a compiled API inside this process: the same steps that the command takes. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { compile } from '@tablewright/compiler';
import { buildTables, parsePermissions, readCatalog, readConfig, resolveSchema } from '@tablewright/introspect';
import type { Schema } from '@tablewright/introspect/schema';
import type { CompiledApi } from '@tablewright/runtime';
import { withClient } from './database.ts';
import { createProject } from './platform.ts';

/** What is compiled: a live database, configuration as `defineConfig` takes it, the text of `permissions.yaml`. */
export interface CompileParts {
  readonly databaseUrl: string;
  readonly config: unknown;
  readonly permissions: string;
}

/** A compiled API whose files lie in a folder of their own. */
export interface Compiled {
  readonly api: CompiledApi;
  remove(): Promise<void>;
}

const templates = fileURLToPath(new URL('../../templates/', import.meta.url));

/** Introspects the database, compiles, writes the files and imports them. Rejects with what is wrong, line by line. */
export async function compileProject({ databaseUrl, config: written, permissions }: CompileParts): Promise<Compiled> {
  const { config, diagnostics } = readConfig(written);
  const { document, diagnostics: problems } = parsePermissions(permissions, 'permissions.yaml');
  const facts = await withClient(databaseUrl, async (client) => {
    const catalog = await readCatalog(
      async (text, values) =>
        (await client.query<(string | null)[]>({ text, values: [...values], rowMode: 'array', types: asText })).rows,
      config.functions === undefined ? {} : { functions: true },
    );
    return buildTables(catalog);
  });
  const resolved = resolveSchema(facts, config, document);
  const result = compile(resolved.schema, { templates: await readTemplates() });
  const all = [...diagnostics, ...problems, ...facts.diagnostics, ...resolved.diagnostics, ...result.diagnostics];
  const errors = all.filter(({ severity }) => severity === 'error').map(({ place, message }) => `${place}: ${message}`);
  if (errors.length > 0) throw new Error(errors.join('\n'));
  const { folder, remove } = await createProject();
  for (const { path, contents } of result.files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), contents);
  }
  return { api: await importApi(folder), remove };
}

/** The generated files of a schema. Rejects with what is wrong, line by line. */
export async function compileFacts(schema: Schema): Promise<ReturnType<typeof compile>['files']> {
  const { files, diagnostics } = compile(schema, { templates: await readTemplates() });
  const errors = diagnostics.filter(({ severity }) => severity === 'error').map(({ message }) => message);
  if (errors.length > 0) throw new Error(errors.join('\n'));
  return files;
}

/** The compiled API in a folder of generated files. */
export async function importApi(folder: string): Promise<CompiledApi> {
  const module: { readonly api: CompiledApi } = await import(pathToFileURL(join(folder, 'server.js')).href);
  return module.api;
}

const asText = { getTypeParser: () => (value: string) => value };

async function readTemplates(): Promise<ReadonlyMap<string, string>> {
  const names = (await readdir(templates)).filter((name) => name.endsWith('.hbs'));
  const texts = names.map(async (name) => [name, await readFile(join(templates, name), 'utf8')] as const);
  return new Map(await Promise.all(texts));
}
