/** The forms of a comparison, and what may not get into them. */
import { diffFormats, diffSchemas, findRenames, printDiff } from '@tablewright/compiler';
import { describe, expect, test } from 'vitest';
import { hostileSchema } from '../../../packages/compiler/src/testing/hostile.ts';
import { addColumns, all, column, dropColumn, inTable, rule, schemaOf, world } from './world.ts';

const before = schemaOf(world);
const after = schemaOf(
  all(
    dropColumn('articles', 'body'),
    rule('    tags: { read: true }\n  reader', '  reader'),
    addColumns('images', 'width:integer'),
  )(world),
);
const labels = { from: 'main', to: 'work', acknowledged: new Set(['field-removed articles.body']) };
const diff = diffSchemas(before, after);

describe('printed', () => {
  test('as Markdown, by severity', () => {
    const text = printDiff(diff, 'markdown', labels);
    expect(text).toContain('From `main` to `work`: ');
    expect(text).toMatch(/### Breaking \(\d+\)/);
    expect(text).toMatch(
      /\*\*`articles\.body`\*\* "body" is gone\. .*_\(acknowledged\)_<br>`field-removed` `GET \/items\/articles`/,
    );
    expect(text).toMatch(
      /\*\*`tags`\*\* The collection "tags" is hidden\..*\| `public` \| breaking \| breaking \| breaking \| breaking \| narrowing \|/,
    );
  });

  test('as JSON', () => {
    const { breaking, changes } = JSON.parse(printDiff(diff, 'json', labels));
    expect(breaking).toBe(
      changes.filter(({ severity }: { readonly severity: string }) => severity === 'breaking').length,
    );
    expect(changes[0]).toMatchObject({ rule: 'field-removed', subject: 'articles.body', acknowledged: true });
  });

  test('as SARIF that says which rule, how severe and what is agreed to', () => {
    const { version, runs } = JSON.parse(printDiff(diff, 'sarif', { ...labels, version: '1.2.3' }));
    const [{ tool, results }] = runs;
    expect(version).toBe('2.1.0');
    expect(tool.driver).toMatchObject({ name: 'platform diff', version: '1.2.3' });
    for (const result of results) {
      expect(tool.driver.rules[result.ruleIndex].id).toBe(result.ruleId);
      expect(['error', 'warning', 'note']).toContain(result.level);
      expect(result.locations[0].physicalLocation.artifactLocation.uri).toBe('platform.schema.json');
    }
    const removed = results.filter(({ ruleId }: { readonly ruleId: string }) => ruleId === 'field-removed');
    expect(removed.length).toBeGreaterThan(0);
    expect(removed.every(({ suppressions }: { readonly suppressions?: unknown }) => suppressions)).toBe(true);
  });

  test.each(diffFormats)('as %s without control characters of hostile names', (format) => {
    const hostile = printDiff(diffSchemas(hostileSchema(), hostileSchema(['plain', 'x'])), format, labels);
    expect(hostile.endsWith('\n')).toBe(true);
    if (format === 'text' || format === 'markdown') expect(hostile).not.toMatch(/[\u2028\u2029\u202e]/);
    if (format === 'markdown') expect(hostile).not.toMatch(/<script|\n\| [^|]*\n[^|]/);
  });
});

describe('texts from outside', () => {
  const check = (expression: string) =>
    diffSchemas(
      before,
      schemaOf(
        inTable('articles', (one) => ({
          ...one,
          checks: [{ name: 'c', expression, columns: ['body'], allowed: null }],
        }))(world),
      ),
    );
  const named = (name: string) => diffSchemas(before, schemaOf(addColumns('images', name)(world)));

  test('name nobody, and link to nothing, in Markdown', () => {
    const text = printDiff(
      check("body ~ '@team/all #12 https://a.example www.a.example ~~x~~ [a](b)'"),
      'markdown',
      labels,
    );
    expect(text).toContain('@&#8203;team');
    expect(text).not.toMatch(/@\w|#1|:\/\/|www\.|[^\\]~|[^\\]\[/);
  });

  test.each(['a``b', 'a`|b', 'a\\|b', 'a|b'])('stay in their cell of Markdown: %s', (name) => {
    const row = printDiff(named(name), 'markdown', labels)
      .split('\n')
      .find((line) => line.includes('field-added'));
    expect(row).toContain(`**<code>images&#46;`);
    // Seven cells, and no bar or mark of code but those of the table and of the report itself.
    expect(row?.replaceAll(/\\[\\`|]/g, '').match(/\|/g)).toHaveLength(8);
    expect((row?.replaceAll(/\\[\\`|]/g, '').match(/`/g)?.length ?? 1) % 2).toBe(0);
  });

  test('are no links in SARIF', () => {
    const text = printDiff(check("body <> '[a](https://a.example)'"), 'sarif', labels);
    expect(text).toContain('[a] (https://a.example)');
  });
});

test('Markdown is never longer than what hosts take, and tells how much is left out', () => {
  const many = addColumns('images', ...Array.from({ length: 400 }, (_, at) => `column_${at}`));
  const text = printDiff(diffSchemas(before, schemaOf(many(world))), 'markdown', labels);
  expect(text.length).toBeLessThan(65_536);
  expect(text).toMatch(/Safe \(\d+\)<\/summary>/);
  expect(text).toMatch(/\n\d+ more: the other formats list them\.\n\n<\/details>/);
});

test('SARIF names the schema from the root of the repository', () => {
  const text = printDiff(diff, 'sarif', { ...labels, file: 'apps/my shop#1/platform.schema.json' });
  expect(text).toContain('"uri": "apps/my%20shop%231/platform.schema.json"');
});

describe('renames', () => {
  const renamed = schemaOf(column('authors', 'country', (one) => ({ ...one, name: 'nation' }))(world));

  test('are guessed by the form of a column, and can be denied', () => {
    expect(findRenames(before, renamed)).toEqual([{ from: 'authors.country', to: 'authors.nation', certain: false }]);
    const denied = diffSchemas(before, renamed, { renames: [] });
    expect([...new Set(denied.changes.map(({ rule: id }) => id))]).toEqual(
      expect.arrayContaining(['field-removed', 'field-added']),
    );
  });

  test('are not guessed where two columns could be meant', () => {
    const two = schemaOf(all(dropColumn('authors', 'country'), addColumns('authors', 'nation', 'home'))(world));
    expect(findRenames(before, two)).toEqual([]);
  });
});
