/** The laws of documentation pages: links that lead somewhere, few words, and a place in the list of the site. */
import { describe, expect, test } from 'vitest';
import { sidebar } from '../../../docs/.vitepress/sidebar.ts';
import { readText } from '../../architecture/files.ts';
import { anchorsOf, brokenLinks, countWords, linkedPages, sitePages, unclearParts } from './pages.ts';

/** A page that is longer has two subjects. */
const maxWords = 1500;

/** A runbook is read at night. */
const maxRunbookWords = 400;

test('every link leads to a page, a heading or a file', () => {
  const broken = linkedPages.flatMap((page) => brokenLinks(page).map((link) => `${page}: ${link}`));
  expect(broken).toEqual([]);
});

test('pages are short', () => {
  // Printed tables are looked up, not read.
  const written = sitePages.filter((page) => !page.startsWith('docs/reference/'));
  const long = written
    .map((page) => ({ page, words: countWords(readText(page)) }))
    .filter(({ page, words }) => words > (page.startsWith('docs/runbooks/') ? maxRunbookWords : maxWords));
  expect(long).toEqual([]);
});

test('pages are in plain English', () => {
  const written = [...sitePages, 'README.md'];
  expect(written.flatMap((page) => unclearParts(readText(page)).map((part) => `${page}: ${part}`))).toEqual([]);
});

test('decisions stand on few pages, each named by its subject', () => {
  const names = sitePages.filter((page) => page.startsWith('docs/decisions/'));
  expect(names.length).toBeLessThanOrEqual(15);
  expect(names.filter((page) => /\d/.test(page))).toEqual([]);
});

test('every page stands once in the list of the site', () => {
  const links = JSON.stringify(sidebar).matchAll(/"link":"\/([^"]*)"/g);
  const listed = [...links].map(([, path]) => `docs/${path}.md`);
  expect(listed.toSorted()).toEqual(sitePages.filter((page) => page !== 'docs/index.md'));
});

test('the checker of English finds words and beginnings, and leaves code alone', () => {
  expect(unclearParts('Nobody knows.\n- What is new stays.\nOne: of two. Who asks is told.\n')).toEqual([
    'Nobody',
    '- What is new stays.',
    '. Who asks is told.',
  ]);
  expect(unclearParts('A word.\n```sh\n# Whoever\n```\nSee `Of`.\n')).toEqual([]);
});

describe('the checker of links', () => {
  test('makes anchors as the site does', () => {
    const text = '# Über `a_b`: one, two?\n## 2. Same\n## 2. Same\n```\n# no\n```\n### A [link](x.md) in it';
    expect([...anchorsOf(text)]).toEqual(['uber-a-b-one-two', '_2-same', '_2-same-1', 'a-link-in-it']);
  });
});
