/** Pages of the documentation as text: their links, headings and words. */
import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { listFiles, readText, root } from '../../architecture/files.ts';

/** Pages of the site, relative to the root of the repository. */
export const sitePages: readonly string[] = listFiles('docs/**/*.md');

/** Every page with links that people follow. */
export const linkedPages: readonly string[] = [...sitePages, ...listFiles('*.md', 'bench/*.md', 'packages/*/*.md')];

/** The text without its blocks of code. */
export function withoutCode(text: string): string {
  return text.replaceAll(/^```[\s\S]*?^```$/gm, '');
}

/** Words of running text, tables and headings. */
export function countWords(text: string): number {
  return withoutCode(text)
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

/** Parts of sentences that plain English avoids: words for unknown people, and beginnings that name no subject. */
export function unclearParts(text: string): readonly string[] {
  const words = /\b(?:nobody|somebody|whoever|whatever)\b/gi;
  const beginnings = /(?:^[-*\d. |]*|[.:|] )(?:What|Whose|Who|Of|Whether)\b.{0,40}/gm;
  const plain = withoutCode(text).replaceAll(/`[^`\n]*`/g, '…');
  return [...plain.matchAll(words), ...plain.matchAll(beginnings)].map(([part]) => part);
}

/** Links of a page that lead nowhere, as they are written. */
export function brokenLinks(page: string): readonly string[] {
  const text = withoutCode(readText(page)).replaceAll(/`[^`\n]*`/g, '');
  const links = [...text.matchAll(/\]\(([^()\s]+)\)/g)].map(([, link = '']) => link);
  return links.filter((link) => !/^[a-z]+:/i.test(link) && !leadsSomewhere(page, link));
}

function leadsSomewhere(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? page : relative(root, join(root, dirname(page), path)).replaceAll('\\', '/');
  if (!existsSync(join(root, target))) return false;
  return anchor === undefined || anchorsOf(readText(target)).has(anchor);
}

/** Anchors of the headings of a page, as VitePress makes them. */
export function anchorsOf(text: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of withoutCode(text).matchAll(/^#{1,6} (.*)$/gm)) {
    const anchor = anchorOf(heading);
    const repeated = [...Array(9).keys()].map((count) => (count === 0 ? anchor : `${anchor}-${count}`));
    anchors.add(repeated.find((name) => !anchors.has(name)) ?? anchor);
  }
  return anchors;
}

function anchorOf(heading: string): string {
  const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').normalize('NFKD');
  return text
    .replaceAll(/[\u0300-\u036f]/g, '')
    .replaceAll(/[\s~`!@#$%^&*()\-_+=[\]{}|\\;:"'“”‘’<>,.?/]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .replace(/^(\d)/, '_$1')
    .toLowerCase();
}
