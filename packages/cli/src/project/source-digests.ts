import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Settings } from './settings.ts';

/** Digests of what generated files are compiled from. Rules in tables have none, because they are compiled when they change. */
interface SourceDigests {
  readonly configuration: string;
  readonly permissions?: string;
}

/**
 * Makes the digests by which a start tells whether its files are older than their sources. Nothing is parsed: the rules of
 * a thousand tables take a second. The place of a deployment is no part of them, nor are lines of comments.
 */
export async function digestSources({
  config,
  permissionsFile,
}: Pick<Settings, 'config' | 'permissionsFile'>): Promise<SourceDigests> {
  const compiled = { ...config, output: undefined, database: { ...config.database, url: undefined } };
  const configuration = digest(JSON.stringify(compiled));
  if (config.permissionSource === 'tables') return { configuration };
  const text = existsSync(permissionsFile) ? await readFile(permissionsFile, 'utf8') : '';
  return { configuration, permissions: digest(rulesOf(text)) };
}

/** Lines of YAML that say something, without spaces that align. */
function rulesOf(text: string): string {
  const lines = text.split(/\r?\n/).filter((line) => !/^\s*(?:#|$)/.test(line));
  return lines.map((line) => line.trimEnd().replace(/(?<=\S) +/g, ' ')).join('\n');
}

function digest(text: string): string {
  return hash('sha256', text, 'base64url');
}
