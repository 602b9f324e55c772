import { readFileSync } from 'node:fs';
import type { Schema } from '@tablewright/introspect/schema';
import { classesOf, classFiles, jsonOfClass, sdlOfClass } from '@tablewright/runtime/language';
import { describe, expect, test } from 'vitest';
import { blogSchema } from '../testing/blog.ts';
import { compileFixture, templates } from '../testing/compile-fixture.ts';
import { compile } from './compile.ts';

/** A schema whose objects have their members from the first name to the last, or from the last to the first. */
function reordered(text: string, first: string): Schema {
  const schema: Schema = JSON.parse(text, (_, value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(first === 'a' ? entries : entries.reverse());
  });
  return schema;
}

describe('compile', () => {
  test('says what it made', () => {
    const { files, summary } = compileFixture(blogSchema());
    expect(summary).toEqual({
      collections: 7,
      fields: 26,
      relations: 6,
      routes: 45,
      accessClasses: 3,
      files: files.length,
    });
    const manifest = JSON.parse(files.find(({ path }) => path === 'manifest.json')?.contents ?? '');
    expect(manifest).toMatchObject({ tablewright: expect.stringMatching(/^\d+\.\d+\.\d+$/), contract: 3 });
  });

  test('makes the same of a schema and of its file, whose members are sorted', () => {
    const text = readFileSync(new URL('../../../../test/golden/callers/schema.json', import.meta.url), 'utf8');
    const files = ['a', 'z'].map((first) => compileFixture(reordered(text, first)).files);
    expect(files[0]).toEqual(files[1]);
  });

  test('makes for ten times the roles what it makes for those that differ', () => {
    const schema = blogSchema();
    const twins = (name: string): readonly string[] => Array.from({ length: 10 }, (_, at) => `${name}${at}`);
    const roles = schema.roles.filter(({ admin }) => !admin);
    const many = {
      ...schema,
      roles: roles.flatMap((role) => twins(role.name).map((name) => ({ ...role, name }))),
      permissions: schema.permissions.flatMap((rule) =>
        rule.role === 'public' ? [rule] : twins(rule.role).map((role) => ({ ...rule, role })),
      ),
    };
    const [few, all] = [compileFixture({ ...schema, roles }), compileFixture(many)];
    expect(many.roles.length).toBeGreaterThan(9);
    expect(all.files.length).toBe(few.files.length);
    // Names of classes are those of their roles, so the documents of the one class are compared.
    const documents = ({ files }: typeof few): readonly string[] => {
      const textOf = (path: string): string => files.find((file) => file.path === path)?.contents ?? '';
      const name =
        classesOf(textOf(classFiles.openapi), '//').find((name) => !['admin', 'public'].includes(name)) ?? '';
      return [
        jsonOfClass(textOf(classFiles.openapi), name),
        jsonOfClass(textOf(classFiles.model), name),
        sdlOfClass(textOf(classFiles.graphql), name),
      ];
    };
    expect(documents(all)).toEqual(documents(few));
  });

  test('uses the templates of the project', () => {
    const own = new Map([...templates, ['header.hbs', '// Ours. {{{about}}}\n']]);
    const { files } = compile(blogSchema(), { templates: own });
    for (const { path, contents } of files) if (/\.[jt]s$/.test(path)) expect(contents).toMatch(/^\/\/ Ours\. /);
  });

  test.each([
    ['server.hbs', '{{{nothing}}}'],
    ['main.hbs', '{{#each'],
    ['routes.hbs', '{{#if (lookup routes)}}{{/if}}{{ownHelper 1}}'],
    ['unheard-of.hbs', ''],
  ])('refuses %s that says %j', (name, text) => {
    const { files, diagnostics } = compile(blogSchema(), { templates: new Map([...templates, [name, text]]) });
    expect(files).toEqual([]);
    expect(diagnostics).toMatchObject([{ code: 'template', severity: 'error', place: `template ${name}` }]);
  });

  test('refuses a schema whose names lead nowhere', () => {
    const schema = blogSchema();
    const broken = { ...schema, tables: schema.tables.filter(({ name }) => name !== 'authors') };
    const { files, diagnostics } = compileFixture(broken);
    expect(files).toEqual([]);
    expect(diagnostics.map(({ place, message }) => `${place}: ${message}`)).toContain(
      'collection authors: The schema refers to table "public.authors", which it does not contain.',
    );
  });

  test('refuses a field and a relation of one name', () => {
    const schema = blogSchema();
    const collections = schema.collections.map((one) => ({
      ...one,
      relations: one.relations.map((relation) => (relation.kind === 'm2m' ? { ...relation, name: 'title' } : relation)),
    }));
    expect(compileFixture({ ...schema, collections }).diagnostics).toMatchObject([{ code: 'name-collision' }]);
  });
});
