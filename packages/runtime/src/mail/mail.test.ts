import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isEmail } from '../environment/values.ts';
import { allowedUrl, linkWith } from './allowed-url.ts';
import { loadMailTemplates } from './templates.ts';
import { createMailTransport } from './transport.ts';

const view = { project: 'P', link: 'https://a.test/?b=1&token=x.y.z', email: 'a@b.c', validFor: '7 days' };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'platform-mail-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the templates of mails', () => {
  it('print a text, and the same as HTML with everything escaped that comes from elsewhere', () => {
    const write = loadMailTemplates(null);
    for (const name of ['invite', 'password-reset'] as const) {
      const letter = write(name, { ...view, project: '<b>"&', email: '<i>@b.c' });
      expect(letter.text).toContain(view.link);
      expect(letter.text).toContain('<b>"&');
      expect(letter.html).toContain('href="https://a.test/?b&#x3D;1&amp;token&#x3D;x.y.z"');
      expect(letter.html).not.toMatch(/<b>|<i>/);
      expect(letter.subject).toContain('<b>"&');
    }
    const mention = { ...view, collection: 'articles', item: '1', comment: '<b>"&' };
    expect(write('mention', mention).html).toContain('&lt;b&gt;&quot;&amp;');
  });

  it('have a subject of one line, whatever a name holds', () => {
    const write = loadMailTemplates(null);
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (project) => {
        expect(write('invite', { ...view, project: `${project}\r\nBcc: x@y.z\u2028` }).subject).not.toMatch(
          /[\p{C}\u2028\u2029]/u,
        );
      }),
      { numRuns: 30 },
    );
  });

  it('are replaced one by one by those of a project', () => {
    writeFileSync(join(folder, 'invite.text.hbs'), 'Hi, {{link}}');
    const write = loadMailTemplates(folder);
    expect(write('invite', view).text).toBe(`Hi, ${view.link}`);
    expect(write('invite', view).subject).toBe('You are invited to P');
  });

  it.each([
    ['invitation.text.hbs', 'Hi', '"invitation.text.hbs" replaces no template of a mail'],
    ['invite.text.hbs', '{{name}}', 'The templates of the mail "invite" cannot be printed'],
    ['invite.text.hbs', '{{#if}}', 'The templates of the mail "invite" cannot be printed'],
    ['layout.html.hbs', '{{> other}}', 'The templates of the mail "invite" cannot be printed'],
  ])('%s cannot be %j', (name, text, problem) => {
    writeFileSync(join(folder, name), text);
    expect(() => loadMailTemplates(folder)).toThrow(problem);
  });
});

it('without a mail server each mail becomes a file that only its owner reads, with the link in one piece', async () => {
  const lines: unknown[] = [];
  const log = { info: (details: object) => void lines.push(details) };
  const environment = {
    from: 'P <p@q.r>',
    smtp: null,
    reset: { ttl: 1, allowed: [] },
    invite: { ttl: 1, allowed: [] },
  };
  const transport = createMailTransport(environment, join(folder, 'mail'), log);
  const letter = loadMailTemplates(null)('invite', { ...view, project: 'Söhne' });
  await transport.send('a@b.c', letter);
  await transport.send('a@b.c', letter);
  const names = readdirSync(join(folder, 'mail'));
  expect(names).toHaveLength(2);
  const file = join(folder, 'mail', names[0] ?? '');
  const text = readFileSync(file, 'utf8');
  expect(text).toMatch(/^From: P <p@q.r>\nTo: a@b.c\nSubject: You are invited to Söhne\nDate: /);
  expect(text).toContain(`\n${view.link}\n`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(join(folder, 'mail')).mode & 0o777).toBe(0o700);
  expect(JSON.stringify(lines)).not.toMatch(/token|a@b\.c/);
});

describe('an address that links may lead to', () => {
  const allowed = ['https://app.test/reset', 'https://other.test', 'http://[::1]:8080/a/b/'];
  const leads = (text: string): boolean => allowedUrl(text, allowed) !== null;

  it('has an allowed origin, and a path below the allowed one', () => {
    for (const text of [
      'https://app.test/reset',
      'https://app.test/reset/',
      'https://APP.test:443/reset/x?y#z',
      'https://other.test',
      'https://other.test/anything',
      'http://[::1]:8080/a/b',
      'https://app.test/x/../reset/y',
    ]) {
      expect(leads(text), text).toBe(true);
    }
  });

  it('is nothing that a browser, a proxy or a person could read in another way', () => {
    for (const text of [
      'https://app.test/reset2',
      'https://app.test/Reset',
      'https://app.test/reset/..',
      'https://app.test/reset/%2E%2e/x',
      'https://app.test/reset/%2f',
      'https://app.test/reset/%5cx',
      'https://app.test\t/reset',
      'https://app.test/reset\u0000',
      'https://app.test/reset\u200b',
      'https:/app.test/reset',
      'https:app.test/reset',
      'https://@other.test/',
      'https://:@other.test/',
      'https://other.test@evil.test/',
      'https://other.test.evil.test/',
      'https://evil.test/https://other.test/',
      'https://other.test:8443/',
      'http://other.test/',
      'ftp://other.test/',
      'data:text/html,https://other.test/',
    ]) {
      expect(leads(text), text).toBe(false);
    }
  });

  it('gets the token as a parameter, never as anything else', () => {
    expect(linkWith('https://a.test', 'x')).toBe('https://a.test/?token=x');
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), (text) => {
        const link = new URL(linkWith(text, 'a.b-c_d'));
        expect(link.searchParams.getAll('token')).toEqual(['a.b-c_d']);
        expect([link.origin, link.pathname, link.hash]).toEqual([
          new URL(text).origin,
          new URL(text).pathname,
          new URL(text).hash,
        ]);
      }),
    );
  });
});

it('an e-mail address has nothing that separates addresses, or lines', () => {
  for (const text of ['a@b.c', 'ü+tag@exämple.com', "o'neil@b.c"]) expect(isEmail(text)).toBe(true);
  for (const text of [
    'a@b.c\r\nBcc: x@y.z',
    'a@b.c\n',
    'a@b.c,x@y.z',
    'a@b.c;x',
    '<a@b.c>',
    '"a b"@c.d',
    'a@b@c',
    '@b',
    'a@',
    'a\u0000@b',
    '',
  ]) {
    expect(isEmail(text), JSON.stringify(text)).toBe(false);
  }
});
