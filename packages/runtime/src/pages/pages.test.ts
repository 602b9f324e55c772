import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadPageTemplates, pageNames, readScripts } from './pages.ts';

const view = {
  project: '<b>"Tom" & Söhne',
  passwordMinLength: 12,
  passwords: true,
  docs: true,
  graphiql: true,
  accounts: true,
};

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'platform-pages-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the templates of pages', () => {
  it.each(pageNames)('%s escapes what comes from elsewhere, and needs nothing that a strict policy forbids', (name) => {
    const text = loadPageTemplates(null).print(name, view);
    expect(text).toContain('&lt;b&gt;&quot;Tom&quot; &amp; Söhne');
    expect(text).not.toContain('<b>"');
    expect(text).not.toMatch(/\sstyle=|\son\w+=|<style|<script(?![^>]* src="assets\/)|https?:/);
    const [, source = ''] = /src="assets\/([^"]+)"/.exec(text) ?? [];
    expect([...readScripts().keys()]).toContain(source);
  });

  it('lead to what a server has, and to nothing else', () => {
    const { print } = loadPageTemplates(null);
    const linksOf = (text: string): readonly string[] =>
      [...text.matchAll(/<a href="([^"]*)"/g)].map(([, to = '']) => to);
    expect(linksOf(print('home', view))).toEqual([
      'docs',
      'graphql',
      'admin/login',
      'server/health',
      'server/specs/oas',
    ]);
    const least = { ...view, docs: false, graphiql: false, accounts: false };
    expect(linksOf(print('home', least))).toEqual(['server/health', 'server/specs/oas']);
    expect(print('home', view)).toContain('<h1>&lt;b&gt;&quot;Tom&quot; &amp; Söhne</h1>');
    expect(print('home', view)).not.toMatch(/<script|<style|\sstyle=/);
  });

  it('say how long a password has to be', () => {
    expect(loadPageTemplates(null).print('accept-invite', view)).toContain('At least 12 characters');
  });

  it('hide the form where nobody has a password', () => {
    const { print } = loadPageTemplates(null);
    expect(print('login', view)).toContain('data-form="password">');
    expect(print('login', { ...view, passwords: false })).toContain('data-form="password" hidden>');
  });

  it('are replaced one by one by those of a project, as are style and icon', () => {
    writeFileSync(join(folder, 'style.css'), 'body { color: red }');
    writeFileSync(
      join(folder, 'login.html.hbs'),
      '{{#> layout title="Anmelden" script="login.js"}}{{project}}{{/layout}}',
    );
    writeFileSync(join(folder, 'README.md'), 'Files of other kinds may lie there.');
    const templates = loadPageTemplates(folder);
    expect(templates.style).toBe('body { color: red }');
    expect(templates.icon).toContain('<svg');
    expect(templates.print('login', view)).toContain('<title>Anmelden · &lt;b&gt;');
    expect(templates.print('two-factor', view)).toContain('<title>Two-factor sign-in · &lt;b&gt;');
  });

  it.each([
    ['log-in.html.hbs', 'Hi', '"log-in.html.hbs" replaces no template of the pages'],
    ['styles.css', 'body {}', '"styles.css" replaces no template of the pages'],
    ['login.html.hbs', '{{name}}', 'The templates of the page "login" cannot be printed'],
    ['layout.html.hbs', '{{> other}}', 'The templates of the page "accept-invite" cannot be printed'],
  ])('%s cannot be %j', (name, text, problem) => {
    writeFileSync(join(folder, name), text);
    expect(() => loadPageTemplates(folder)).toThrow(problem);
  });
});

it('the scripts of pages import each other by paths that are served', () => {
  const scripts = readScripts();
  const imported = [...scripts.values()].flatMap((text) => [...text.matchAll(/^import .* from '(.*)';$/gm)]);
  expect(imported.length).toBeGreaterThan(10);
  for (const [, path = ''] of imported) expect([...scripts.keys()].map((name) => `./${name}`)).toContain(path);
});
