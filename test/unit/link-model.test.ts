/** What is compiled for a server that runs is what the generated files state. */
import { readFile } from 'node:fs/promises';
import { compileModel, readCustomRoutes } from '@tablewright/compiler';
import { parseSchema } from '@tablewright/introspect';
import type { CompiledApi } from '@tablewright/runtime';
import { expect, test } from 'vitest';
import { linkModel } from '../../packages/cli/src/recompile/link-model.ts';

const sources = { templates: new Map<string, string>(), extensions: [], modules: [], output: 'generated' };

test.each(['access', 'callers', 'names', 'relations', 'types'])('%s', async (name) => {
  const folder = new URL(`../golden/${name}/`, import.meta.url);
  const { api }: { readonly api: CompiledApi } = await import(new URL('expected/server.js', folder).href);
  const parsed = parseSchema(await readFile(new URL('schema.json', folder), 'utf8'));
  if (!('schema' in parsed)) throw new Error(parsed.diagnostic.message);
  const compiled = compileModel(parsed.schema, {
    routes: readCustomRoutes(parsed.schema, sources),
    documents: [],
    examples: {},
  });
  if (!('model' in compiled)) throw new Error('It does not compile.');
  const { model } = compiled;
  // As threads send it.
  const linked = linkModel(structuredClone(model.data), api, async (kind, accessClass) =>
    kind === 'graphql' ? (model.graphql(accessClass) ?? '') : JSON.stringify(model[kind](accessClass)),
  );
  const { openapi, graphql, model: told, ...plain } = api;
  const { openapi: linkedOpenapi, graphql: linkedGraphql, model: linkedModel, ...linkedPlain } = linked;
  expect(linkedPlain).toEqual(plain);
  for (const { name: accessClass } of api.access) {
    expect(await linkedGraphql?.(accessClass)).toBe(await graphql?.(accessClass));
    expect(await linkedModel(accessClass)).toEqual(await told(accessClass));
    expect(JSON.parse(JSON.stringify(await linkedOpenapi(accessClass)))).toMatchObject({ openapi: '3.1.0' });
  }
  expect(typeof openapi).toBe('function');
});
