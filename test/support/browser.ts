/** Debian's Chromium, where the machine has it (`apt-get install chromium chromium-headless-shell`), with an eye on what pages must not do. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';

/** How somebody looks at pages. */
export interface Eyes {
  readonly colorScheme?: 'light' | 'dark';
  /** Pixels of the window. 1024 when absent. */
  readonly width?: number;
}

/** Somebody whose browser knows nothing of anybody else. */
export interface Visitor {
  readonly page: Page;
  /** Hosts that pages have asked, beside those that they may. */
  readonly strangers: readonly string[];
  /** What the console has said and scripts have thrown, violations of the policy included. */
  readonly complaints: readonly string[];
  /** Addresses and headers of the requests that pages have sent, as text. */
  readonly sent: readonly string[];
  leave(): Promise<void>;
}

/** A browser with a profile of its own. */
export interface Browser {
  /** Lets somebody in. Pages of the server may ask `own` only; they may lead to the `others`, whose pages do as they like. */
  visit(own: string, eyes?: Eyes, others?: readonly string[]): Promise<Visitor>;
  close(): Promise<void>;
}

// Without windows a browser takes half of the processor's time.
const withoutWindows = '/usr/lib/chromium/chromium-headless-shell';
const executable = existsSync(withoutWindows) ? withoutWindows : '/usr/bin/chromium';
const banner = spawnSync(executable, ['--version'], { encoding: 'utf8' }).stdout?.trim();

/** Such as `Chromium 150.0.7871.100`; undefined where there is none. */
export const browserVersion = banner || undefined;

/** What to write behind the name of a test that has to be skipped. */
export const withoutBrowser = browserVersion === undefined ? ' (skipped: chromium is not installed)' : '';

/** Milliseconds that something on a page may take: a machine that is busy with other tests takes its time. */
export const patience = 30_000;

/** Nothing of the browser's own business. */
const switches = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * Starts the browser. It knows no names but those that are given, each `host:port` with the `host:port` of this machine
 * that it stands for.
 */
export async function startBrowser(names: Readonly<Record<string, string>> = {}): Promise<Browser> {
  const rules = [...Object.entries(names).map(([name, place]) => `MAP ${name} ${place}`), 'MAP * ~NOTFOUND'];
  const browser = await chromium.launch({
    executablePath: executable,
    args: [...switches, `--host-resolver-rules=${rules.join(', ')}, EXCLUDE 127.0.0.1`],
  });
  return {
    async visit(own, { colorScheme = 'light', width = 1024 } = {}, others = []) {
      const context = await browser.newContext({
        colorScheme,
        viewport: { width, height: 800 },
        reducedMotion: 'reduce',
      });
      const strangers: string[] = [];
      const complaints: string[] = [];
      const sent: string[] = [];
      context.on('request', (request) => {
        const allowed = request.isNavigationRequest() ? [own, ...others] : [own];
        const isElsewhere = !request.isNavigationRequest() && others.includes(new URL(request.frame().url()).origin);
        if (!isElsewhere && !allowed.includes(new URL(request.url()).origin)) strangers.push(request.url());
        sent.push(`${request.url()} ${JSON.stringify(request.headers())}`);
      });
      context.on('weberror', (error) => complaints.push(String(error.error())));
      context.on('console', (message) => {
        // Violations of a policy are errors; so are answers of 400 and above, of which a page may expect some.
        const text = message.text();
        if (['error', 'warning'].includes(message.type()) && !text.startsWith('Failed to load')) complaints.push(text);
      });
      await context.addInitScript({ content: axe });
      const page = await context.newPage();
      page.setDefaultTimeout(patience);
      return { page, strangers, complaints, sent, leave: () => context.close() };
    },
    close: () => browser.close(),
  };
}

/** What a page has that some people cannot perceive or use, by the rules of WCAG 2.2 AA and good practice. */
export async function barriersOf(page: Page): Promise<readonly string[]> {
  const report: Report = JSON.parse(String(await page.evaluate('axe.run().then((report) => JSON.stringify(report))')));
  return report.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`),
  );
}

interface Report {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
  }[];
}

/** Expects that the browser asked nobody else and had nothing to complain of. */
export function expectCalm({ strangers, complaints }: Visitor): void {
  expect({ strangers, complaints }).toEqual({ strangers: [], complaints: [] });
}
