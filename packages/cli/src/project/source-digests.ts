import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { PlatformConfig } from '@tablewright/introspect/config';
import type { Settings } from './settings.ts';

/** Digests of what generated files are compiled from. Rules in tables have none, because they are compiled when they change. */
interface SourceDigests {
  readonly configuration: string;
  readonly permissions?: string;
}

/**
 * Makes the digests by which a start tells whether its files are older than their sources. Nothing is parsed: the rules of
 * a thousand tables take a second. Lines of comments are no part of them, nor is what a server does not serve.
 */
export async function digestSources({
  config,
  permissionsFile,
}: Pick<Settings, 'config' | 'permissionsFile'>): Promise<SourceDigests> {
  const configuration = digest(JSON.stringify(servedOf(config), sorted));
  if (config.permissionSource === 'tables') return { configuration };
  const text = existsSync(permissionsFile) ? await readFile(permissionsFile, 'utf8') : '';
  return { configuration, permissions: digest(rulesOf(text)) };
}

/** A configuration without clients and types, and without places, which may be others where it is deployed. */
function servedOf({ database, permissionSource = 'file', ...config }: PlatformConfig): PlatformConfig {
  const { output, permissions, templates, client, openapiTypes, ...served } = config;
  const { url, ...read } = database ?? {};
  return { ...served, database: read, permissionSource };
}

/** Replacer that gives objects their members in the order of names. */
function sorted(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)));
}

/** Lines of YAML that say something, without spaces that align. */
function rulesOf(text: string): string {
  const lines = text.split(/\r?\n/).filter((line) => !/^\s*(?:#|$)/.test(line));
  return lines.map((line) => line.trimEnd().replace(/(?<=\S) +/g, ' ')).join('\n');
}

function digest(text: string): string {
  return hash('sha256', text, 'base64url');
}
