/** The types of generated clients: exact, refused in one short line, completed as they are written, and cheap. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blogSchema } from '../../packages/compiler/src/testing/blog.ts';
import { type ClientFolder, writeClients } from '../support/client-files.ts';
import { probe } from '../support/client-probe.ts';
import { check, type Version, versions } from '../support/compilers.ts';
import { type Editor, editors } from '../support/editors.ts';
import { manyCollections, manyQueries } from '../support/many-collections.ts';

let blog: ClientFolder;
beforeAll(async () => {
  blog = await writeClients(blogSchema());
  await blog.write({ 'probe.ts': probe });
});
afterAll(() => blog?.remove());

it.each(versions)(
  'are exact for TypeScript %s, and refuse what does not exist',
  { timeout: 120_000 },
  async (version) => {
    const { complaints } = await check(version, join(blog.folder, 'tsconfig.json'));
    expect(complaints).toBe('');
  },
);

it('compare a list of texts with a list, with its text, and with a part of it', { timeout: 60_000 }, async () => {
  const schema = blogSchema();
  const collections = schema.collections.map((collection) => ({
    ...collection,
    fields: collection.fields.map((field) => (field.name === 'title' ? { ...field, type: 'csv' as const } : field)),
  }));
  const { folder, write, remove } = await writeClients({ ...schema, collections });
  const filters = [
    "{ _eq: ['a', 'b'], _contains: 'a' }",
    "{ _in: ['a,b', ['c']] }",
    "['a']",
    "'a,b'",
    'null',
    '{ _eq: 1 }',
  ];
  const lines = filters.map((filter) => `await articles.readByQuery({ filter: { title: ${filter} } });`);
  await write({
    'typed.ts': `import { createClient } from './client/admin/index.js';
const articles = createClient('http://localhost').items('articles');
${lines.join('\n')}
`,
  });
  const { complaints } = await check('7.0', join(folder, 'tsconfig.json'));
  expect(complaints.match(/^\S*typed\.ts\S*/gm)).toEqual([expect.stringMatching(/\b8\b/)]);
  await remove();
});

const editorVersions = Object.keys(editors).map((name) => (name === '7.0' ? name : '5.9'));

describe.each(editorVersions)('in an editor with TypeScript %s', (version) => {
  const program = (line: string): string => `
    import { createClient } from './client/admin/index.js';
    const articles = createClient('http://localhost').items('articles');
    ${line}
  `;
  let editor: Editor;
  beforeAll(async () => {
    await blog.write({ 'typed.ts': 'export {};' });
    editor = await editors[version](join(blog.folder, 'typed.ts'));
  });
  afterAll(() => editor?.close());
  const completions = (line: string): Promise<readonly string[]> => editor.completions(program(line));
  const complaint = async (line: string): Promise<string> => {
    const found = await editor.complaints(program(line));
    expect(found).toHaveLength(1);
    return found[0] ?? '';
  };

  it('completes paths at every dot', { timeout: 60_000 }, async () => {
    const first = await completions(`articles.readByQuery({ fields: ['|'] });`);
    expect(first).toEqual(expect.arrayContaining(['*', 'author_id', 'author_id.', 'title', 'year(published_at)']));
    expect(first).not.toContain('title.');
    expect(await completions(`articles.readByQuery({ fields: ['id', 'author_id.|'] });`)).toEqual([
      'author_id.*',
      'author_id.*.*',
      'author_id.articles',
      'author_id.articles.',
      'author_id.count(articles)',
      'author_id.id',
      'author_id.name',
      'author_id.password',
    ]);
    expect(await completions(`articles.readByQuery({ fields: ['blocks.item:|'] });`)).toEqual([
      'blocks.item:authors.',
      'blocks.item:tags.',
    ]);
    expect(await completions(`articles.readByQuery({ fields: ['blocks.item:tags.|'] });`)).toContain(
      'blocks.item:tags.name',
    );
  });

  it('completes orders, filters and payloads', { timeout: 60_000 }, async () => {
    expect(await completions(`articles.readByQuery({ sort: ['-author_id.|'] });`)).toContain('-author_id.name');
    expect(await completions(`articles.readByQuery({ filter: { author_id: { | } } });`)).toContain('name');
    expect(await completions(`articles.readByQuery({ filter: { status: { _in: ['|'] } } });`)).toContain('draft');
    expect(await completions(`articles.createOne({ | });`)).toEqual(expect.arrayContaining(['title', 'tags']));
  });

  it('says in one line what was meant', { timeout: 60_000 }, async () => {
    expect(await complaint(`articles.readByQuery({ fields: ['id', 'author_id.nme'] });`)).toMatch(
      /^'author_id\.nme': Type '"author_id\.nme"' is not assignable to type .*\. Did you mean '"author_id\.name"'\?$/,
    );
    expect(await complaint(`articles.readByQuery({ sort: ['-titel'] });`)).toMatch(
      /^'-titel': .*Did you mean '"-title"'\?$/,
    );
  });

  it('shows the comments of the database', { timeout: 60_000 }, async () => {
    const whole = `createClient('http://localhost').items('authors').readOne(1).then((one) => one.na|me);`;
    expect(await editor.hover(program(whole))).toContain('As printed.');
  });

  // TypeScript 7.0 shows no comment through a mapped type, not even through its own `Pick`.
  if (version === '5.9') {
    it('shows them for fields that were chosen', { timeout: 60_000 }, async () => {
      const chosen = `articles.readOne(1, { fields: ['author_id.name'] }).then((one) => one.author_id?.na|me);`;
      expect(await editor.hover(program(chosen))).toContain('As printed.');
    });
  }
});

/** Collections, queries over them, and the instantiations that a compiler may need: all of them with TYPE_BUDGETS set. */
const budgets = [
  { collections: 120, limit: 300_000 },
  { collections: 400, limit: 500_000 },
];
const measured: readonly Version[] = process.env.TYPE_BUDGETS === undefined ? ['7.0'] : versions;

it.each(budgets)(
  'cost 200 queries over $collections collections no more than $limit instantiations',
  { timeout: 300_000 },
  async ({ collections, limit }) => {
    const { folder, write, remove } = await writeClients(manyCollections(collections), ['admin']);
    try {
      await write(manyQueries(collections, 200));
      for (const version of measured) {
        const { complaints, instantiations } = await check(version, join(folder, 'tsconfig.fast.json'));
        console.log(`TypeScript ${version}: ${instantiations} instantiations for ${collections} collections`);
        expect(complaints).toBe('');
        expect(instantiations).toBeLessThanOrEqual(limit);
      }
    } finally {
      await remove();
    }
  },
);
