import { randomBytes } from 'node:crypto';
import { join, relative } from 'node:path';
import type { CollectionDescriptor, CompiledApi, FirstAdministrator } from '@tablewright/runtime';
import { firstSecret, keepSecret } from '@tablewright/runtime/tools';
import { CommandError, exitCodes, reasonOf } from '../errors/failures.ts';
import { quoted } from './own-command.ts';
import { fileOfVariable, ownVariable } from './own-variable.ts';
import type { Progress } from './progress.ts';

/** Facts to print when a server listens. */
export interface Welcome {
  readonly url: string;
  /** Paths of the pages that people begin with. */
  readonly pages: readonly string[];
  readonly token: AdminToken;
  readonly api: CompiledApi;
  readonly stateFolder: string;
  /** Address of the database; null for the embedded one. */
  readonly database: string | null;
  /** Made by this start, because there was no user; null when there was one. */
  readonly administrator: ReportedAdministrator | null;
}

/** Prints the address, the pages, where the admin's token comes from, who can sign in, and requests that work. */
export function printWelcome(welcome: Welcome, progress: Progress): void {
  const { showsSecrets } = progress;
  const admin = adminLine(welcome, showsSecrets);
  const lines = [`Listening on ${welcome.url}`, pagesLine(welcome), databaseLine(welcome), admin];
  progress.print(`\n${[...lines, ...signInLines(welcome)].join('\n')}`);
  const requests = curlLines(welcome, showsSecrets);
  if (requests.length > 0) progress.print(['\nTry:', ...requests.map((line) => `  ${line}`)].join('\n'));
}

function pagesLine({ url, pages }: Welcome): string {
  return `Open in a browser: ${pages.map((path) => url + path).join(', ')}`;
}

/** Without user, password and parameters, which may be secrets. */
function databaseLine({ database, stateFolder }: Welcome): string {
  if (database === null)
    return `Database: the embedded one in ${join(relative(process.cwd(), stateFolder), 'database')}`;
  const [address = ''] = database.split('?');
  return `Database: ${address.replace(/\/\/.*@/, '//')}`;
}

function adminLine({ token, stateFolder }: Welcome, showsSecrets: boolean): string {
  if (token.source === 'environment') return `Admin token: ${sourceOf('ADMIN_TOKEN')}`;
  if (token.source === 'none') return 'Admin token: none, because ADMIN_TOKEN is not set and NODE_ENV is production';
  const file = tokenFile(stateFolder);
  return showsSecrets ? `Admin token: ${token.value} (kept in ${file})` : `Admin token: in ${file}`;
}

/** Source of a secret that was given. */
function sourceOf(name: string): string {
  const file = fileOfVariable(name);
  return file === null ? `the one in ${name}` : `in ${file}`;
}

/** A secret that was given, as a shell finds it. */
function shellText(name: string): string {
  const file = fileOfVariable(name);
  return file === null ? `$${name}` : `$(cat ${quoted(file)})`;
}

function tokenFile(stateFolder: string): string {
  return join(relative(process.cwd(), stateFolder), 'admin-token');
}

/** The password is said when it was made, and never again. */
function signInLines({ administrator, api }: Welcome): readonly string[] {
  if (!api.collections.some(({ system, name }) => system && name === 'platform_users')) return [];
  if (ownVariable('AUTH_DISABLE_DEFAULT') === 'true') return ['Sign in: by a provider, which GET /auth names'];
  if (administrator === null) {
    return ['Sign in: POST /auth/login; `platform users create` makes a user, `platform users passwd` sets a password'];
  }
  return [administratorLine(administrator)];
}

/** Example of a sign-in, if a user exists whose password is known. */
function signInCurl({ url, administrator }: Welcome): readonly string[] {
  if (administrator === null) return [];
  const { email, madePassword, passwordFile } = administrator;
  const password = madePassword ?? (passwordFile === null ? shellText('ADMIN_PASSWORD') : `$(cat ${passwordFile})`);
  const body = `{\\"email\\":\\"${email}\\",\\"password\\":\\"${password}\\"}`;
  return [`curl -H 'Content-Type: application/json' -d "${body}" '${url}/auth/login'`];
}

/** A public read, a read as admin and the contract; over a database without public data two reads as admin. */
function curlLines(welcome: Welcome, showsSecrets: boolean): readonly string[] {
  const { url, token, api, stateFolder } = welcome;
  const open = api.access.find(({ roles }) => roles.includes('public'))?.collections ?? [];
  const collections = api.collections.filter(({ system }) => system === undefined);
  const readable = new Set(open.filter(({ read }) => read !== undefined).map(({ collection }) => collection));
  const [shown] = collections.filter(({ name }) => readable.has(name)).sort((a, b) => richness(b) - richness(a));
  const hidden = collections.toSorted((a, b) => richness(b) - richness(a)).find(({ name }) => !readable.has(name));
  const kept = showsSecrets ? token.value : `$(cat ${tokenFile(stateFolder)})`;
  const secret = token.source === 'file' ? kept : shellText('ADMIN_TOKEN');
  const admin = ` -H "Authorization: Bearer ${secret}"`;
  const lines = [
    ...signInCurl(welcome),
    ...(shown === undefined ? [] : [`curl -g '${url}${itemsPath(shown)}?limit=2&fields=*'`]),
    ...(hidden === undefined ? [] : [`curl -g '${url}${itemsPath(hidden)}?limit=2'${admin}`]),
    ...(shown !== undefined && hidden !== undefined ? [] : [`curl -g '${url}/server/health'${admin}`]),
    `curl '${url}/server/specs/oas'${shown === undefined ? admin : ''}`,
  ];
  return token.source === 'none' ? lines.filter((line) => !line.includes(admin)) : lines;
}

/** Single quotes cannot stand in a path between single quotes of the shell. */
function itemsPath({ name }: CollectionDescriptor): string {
  return `/items/${encodeURIComponent(name).replaceAll("'", '%27')}`;
}

/** The collection with the most to show comes first. */
function richness({ relations, fields }: CollectionDescriptor): number {
  return relations.length * 100 + fields.length;
}

/** The static token of the role `admin`, and where it comes from. */
export type AdminToken =
  | { readonly value: string; readonly source: 'environment' | 'file' }
  | { readonly value: null; readonly source: 'none' };

/** ADMIN_TOKEN when set; else the token of the state folder, made on first use. Production makes and takes none. */
export async function adminToken(stateFolder: string): Promise<AdminToken> {
  const variable = ownVariable('ADMIN_TOKEN');
  if (variable !== null) return { value: variable, source: 'environment' };
  if (ownVariable('NODE_ENV') === 'production') return { value: null, source: 'none' };
  const file = join(stateFolder, 'admin-token');
  const value = await firstSecret(file, randomBytes(24).toString('base64url')).catch((error: unknown) => {
    const hint = 'Set ADMIN_TOKEN, or NODE_ENV=production, or let the user of this command write there.';
    throw new CommandError(exitCodes.usage, `The token of administrators cannot be kept: ${reasonOf(error)}.`, hint);
  });
  if (value !== '') return { value, source: 'file' };
  throw new CommandError(exitCodes.usage, `${file} is empty or cannot be read: remove it, and another is made.`);
}

export interface ReportedAdministrator extends FirstAdministrator {
  /** File with the password that was made; null where it is shown, or none was made. */
  readonly passwordFile: string | null;
}

/** Reports the first administrator. A password that no terminal shows is kept in a file of the state folder. */
export async function reportAdministrator(
  made: FirstAdministrator,
  stateFolder: string,
  progress: Progress,
  isLate: boolean,
): Promise<ReportedAdministrator> {
  const isPrinted = progress.showsSecrets && !isLate;
  const reported = isPrinted ? { ...made, passwordFile: null } : await withPasswordKept(made, stateFolder);
  progress.event('administrator', { ...reported });
  if (isLate) progress.print(administratorLine(reported));
  return reported;
}

function administratorLine({ email, madePassword, passwordFile }: ReportedAdministrator): string {
  if (passwordFile !== null) return `Administrator: ${email}, password: in ${passwordFile}`;
  const password = madePassword === null ? sourceOf('ADMIN_PASSWORD') : `${madePassword} (shown this once)`;
  return `Administrator: ${email}, password: ${password}`;
}

async function withPasswordKept(made: FirstAdministrator, stateFolder: string): Promise<ReportedAdministrator> {
  if (made.madePassword === null) return { ...made, passwordFile: null };
  const file = join(stateFolder, 'admin-password');
  await keepSecret(file, made.madePassword);
  return { email: made.email, madePassword: null, passwordFile: relative(process.cwd(), file) };
}
