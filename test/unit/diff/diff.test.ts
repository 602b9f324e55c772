/**
 * What `platform diff` says of every kind of change in the catalogue. `npm run golden` writes `expected/` anew; the
 * difference is the review.
 */

import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type * as Inspector from '@graphql-inspector/core';
import {
  type Api,
  type ApiAccess,
  type Change,
  type Diff,
  diffSchemas,
  printDiff,
  resolveApi,
  ruleIds,
  type Severity,
  type Surface,
} from '@tablewright/compiler';
import type { Schema } from '@tablewright/introspect/schema';
import type * as Graphql from 'graphql';
import { describe, expect, test } from 'vitest';
import { createMemoCache } from '../../../packages/compiler/src/cache/memo-cache.ts';
import { emitClient } from '../../../packages/compiler/src/client/index.ts';
import { emitGraphql } from '../../../packages/compiler/src/graphql/index.ts';
import { emitOpenApi } from '../../../packages/compiler/src/openapi/index.ts';
import { roleViewOf } from '../../../packages/compiler/src/role-view/build-role-view.ts';
import { catalogue } from './catalogue.ts';
import { schemaOf, world } from './world.ts';

// Both from one realm: schemas of another copy of graphql-js are refused.
const load = createRequire(import.meta.url);
const { diff: inspect }: typeof Inspector = load('@graphql-inspector/core');
const { buildSchema }: typeof Graphql = load('graphql');

const labels = { from: 'before', to: 'after', acknowledged: new Set<string>() };
const original = schemaOf(world);
/** Cases differ from each other in little: what is made of the same is made once. */
const resolved = createMemoCache();
const cases = Object.entries(catalogue).map(([name, edit]) => {
  const [before, after] =
    typeof edit === 'function' ? [original, schemaOf(edit(world))] : edit.map((one) => schemaOf(one(world)));
  if (before === undefined || after === undefined) throw new Error(`${name} is no pair.`);
  return { name, before, after, diff: diffSchemas(before, after) };
});

test('there are at least 60 kinds of change', () => {
  expect(cases.length).toBeGreaterThanOrEqual(60);
});

test('nothing is said of two that are the same', () => {
  expect(diffSchemas(original, schemaOf(world))).toEqual({ changes: [], renames: [] });
});

test.each(cases)('$name is judged as it was reviewed', async ({ name, diff }) => {
  await expect(printDiff(diff, 'text', labels)).toMatchFileSnapshot(
    join(import.meta.dirname, 'expected', `${name}.txt`),
  );
});

test('no expectation is left over', () => {
  const folder = join(import.meta.dirname, 'expected');
  const left = existsSync(folder) ? readdirSync(folder) : [];
  expect(left.sort()).toEqual(cases.map(({ name }) => `${name}.txt`).sort());
});

test('every rule about schemas has its case, but for the one that says that a rule is missing', () => {
  const met = new Set(cases.flatMap(({ diff }) => diff.changes.map(({ rule }) => rule)));
  const others = ruleIds().filter((id) => !met.has(id) && !/^(?:document|route|hook|function)-/.test(id));
  expect(others).toEqual(['unclassified']);
});

test('documents of the project are compared by role and name', () => {
  const operation = (name: string, role: string, hash: string) => ({ name, role, hash, scope: 'items' as const });
  const before = [
    operation('Kept', 'public', 'a'),
    operation('Gone', 'public', 'b'),
    operation('Other', 'public', 'c'),
  ];
  const after = [operation('Kept', 'public', 'a'), operation('Other', 'public', 'd'), operation('New', 'public', 'e')];
  const { changes } = diffSchemas(original, schemaOf(world), { operations: { before, after } });
  expect(changes.map(({ rule, subject, roles, severity }) => [rule, subject, roles, severity])).toEqual([
    ['document-removed', 'document Gone', ['public'], 'breaking'],
    ['document-changed', 'document Other', ['public'], 'breaking'],
    ['document-added', 'document New', ['public'], 'safe'],
  ]);
});

const printers = {
  openapi: (api: Api, { access }: ApiAccess) => JSON.stringify(emitOpenApi(api, access)),
  graphql: (api: Api, { access }: ApiAccess) => (api.graphql ? emitGraphql(api, access, roleViewOf(api, access)) : ''),
  client: (api: Api, { access }: ApiAccess) =>
    JSON.stringify(emitClient(api, access, (_, context) => JSON.stringify(context)).map(({ contents }) => contents)),
} as const;
const apis = new Map<Schema, Api>();
/** Texts of the schema that most cases begin with, and SDLs of the others, which two tests compare. */
const kept = new WeakMap<Schema, Map<string, string>>();
/** Schemas of SDLs that most cases begin with. */
const built = new Map<string, Graphql.GraphQLSchema>();

function builtFrom(schema: Schema, sdl: string): Graphql.GraphQLSchema {
  const made = built.get(sdl) ?? buildSchema(sdl);
  if (schema === original) built.set(sdl, made);
  return made;
}

/** Prints the surface of a role; null where there is no such role. */
function printed(schema: Schema, role: string, surface: Exclude<Surface, 'rest'>): string | null {
  const api = apis.get(schema) ?? resolved.recall(resolveApi(resolved.recallSchema(schema)));
  apis.set(schema, api);
  const found = api.access.find(({ access }) => access.roles.includes(role));
  if (found === undefined) return null;
  const key = `${surface} ${role}`;
  const texts = kept.get(schema) ?? new Map<string, string>();
  const text = texts.get(key) ?? printers[surface](api, found);
  if (schema === original || surface === 'graphql') kept.set(schema, texts.set(key, text));
  return text;
}

function rolesOf(...schemas: readonly Schema[]): readonly string[] {
  return [...new Set(['admin', 'public', ...schemas.flatMap(({ roles }) => roles.map(({ name }) => name))])];
}

const ranks: Readonly<Record<Severity, number>> = { safe: 1, dangerous: 2, breaking: 3 };

/** The most severe verdict of a role on a surface; 0 when nothing was said. */
function worst({ changes }: Pick<Diff, 'changes'>, role: string, surface: Surface): number {
  const own = changes.filter((change: Change) => change.roles.includes(role));
  return Math.max(0, ...own.map(({ verdicts }) => (verdicts[surface] ? ranks[verdicts[surface]] : 0)));
}

/** Changes of the meaning of a schema: another field stands behind `id`, or DELETE archives. */
const unseen: ReadonlySet<string> = new Set(['key-changed', 'soft-delete-changed']);

/** Neither the order of types nor that of their fields means anything. */
function unordered(sdl: string): string {
  return sdl
    .split('\n\n')
    .map((type) => type.split('\n').sort().join('\n'))
    .sort()
    .join('\n\n');
}

describe('what is generated differs exactly where a verdict says so', () => {
  test.each(cases)('$name', ({ before, after, diff }) => {
    for (const role of rolesOf(before, after)) {
      const seen = { changes: diff.changes.filter(({ rule }) => !unseen.has(rule)) };
      for (const surface of ['openapi', 'graphql'] as const) {
        const place = `${surface} for ${role}`;
        const [was, is] = [printed(before, role, surface), printed(after, role, surface)];
        if (was === null || is === null) continue;
        const differs = was !== is && unordered(was) !== unordered(is);
        expect([place, worst(differs ? diff : seen, role, surface) > 0]).toEqual([place, differs]);
      }
      // Of the client's types not every difference is one that anybody could rely on.
      const [was, is] = [printed(before, role, 'client'), printed(after, role, 'client')];
      if (was !== null && was === is) expect([role, worst(seen, role, 'client')]).toEqual([role, 0]);
    }
    expect(diff.changes.map(({ rule }) => rule)).not.toContain('unclassified');
  });
});

/** What GraphQL Inspector calls dangerous and is not here: servers take the absence of an optional input as before. */
const harmless: ReadonlySet<string> = new Set(['INPUT_FIELD_ADDED', 'FIELD_ARGUMENT_ADDED', 'TYPE_ADDED']);

/** Composite values are written whole, and an SDL cannot say of a member that it is given and may be null. */
const stricter: ReadonlySet<string> = new Set(['composite-got-a-member']);

describe('GraphQL verdicts are those of GraphQL Inspector', () => {
  test.each(cases)('$name', async ({ name, before, after, diff }) => {
    for (const role of rolesOf(before, after)) {
      const [was, is] = [printed(before, role, 'graphql'), printed(after, role, 'graphql')];
      if (!was || !is) continue;
      const changes = was === is ? [] : await inspect(builtFrom(before, was), builtFrom(after, is));
      const levels = changes.map(({ type, criticality: { level } }) => {
        if (level === 'BREAKING') return ranks.breaking;
        return level === 'DANGEROUS' && !harmless.has(type) ? ranks.dangerous : ranks.safe;
      });
      const seen = { changes: diff.changes.filter(({ rule }) => !unseen.has(rule)) };
      const level = Math.max(0, ...levels);
      // A changed meaning may come with arguments, which are safe.
      if (seen.changes.length < diff.changes.length) expect(level).toBeLessThanOrEqual(worst(diff, role, 'graphql'));
      else if (stricter.has(name) && worst(seen, role, 'graphql') === ranks.breaking)
        expect([role, level, seen.changes[0]?.rule]).toEqual([role, ranks.safe, 'field-type-changed']);
      else expect([role, worst(seen, role, 'graphql')]).toEqual([role, level]);
    }
  });
});
