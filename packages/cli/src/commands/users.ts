import { createInterface } from 'node:readline';
import { isEmail, longestEmail } from '@tablewright/runtime/tools';
import { CommandError, exitCodes } from '../errors/failures.ts';
import { loadProject } from '../project/project.ts';
import { type Accounts, makePassword, makeToken, openAccounts } from '../sources/accounts.ts';
import { connectPresent } from '../sources/connect.ts';
import { printTable } from '../terminal/format.ts';
import { type Progress, processProgress } from '../terminal/progress.ts';
import type { GlobalOptions } from './options.ts';

export interface PasswordOptions extends GlobalOptions {
  /** Take the password from the standard input; without it one is made and printed once. */
  readonly passwordStdin?: boolean;
  /** Name of the role of a new user. */
  readonly role?: string;
}

export interface TokenOptions extends GlobalOptions {
  /** Take the token away instead. */
  readonly remove?: boolean;
}

export async function listUsers(options: GlobalOptions): Promise<void> {
  await withAccounts(options, async (accounts, progress) => {
    const users = await accounts.users();
    for (const user of users) progress.event('user', { ...user });
    const rows = users.map(({ email, status, role, lastAccess }) => [
      email,
      status,
      role ?? '–',
      lastAccess ?? 'never',
    ]);
    progress.print(printTable(['user', 'status', 'role', 'last access'], rows));
  });
}

/** `platform users create`: creates a user who can sign in. */
export async function createUser(email: string, options: PasswordOptions): Promise<void> {
  checkEmail(email);
  const { password, made } = await choosePassword(options);
  await withAccounts(options, async (accounts, progress) => {
    await accounts.addUser(email, password, options.role ?? null);
    progress.event('user', { email, role: options.role ?? null, ...(made && { password }) });
    progress.print(`${email} can sign in${made ? ` with the password ${password}, which is shown this once` : ''}.`);
  });
}

/** `platform users passwd`: another password; the sessions of the user end. */
export async function setPassword(email: string, options: PasswordOptions): Promise<void> {
  const { password, made } = await choosePassword(options);
  await withAccounts(options, async (accounts, progress) => {
    const provider = await accounts.setPassword(email, password);
    progress.event('user', { email, ...(made && { password }) });
    if (provider !== 'default') {
      progress.print(`Every session of ${email} has ended. No password counts: this user signs in at "${provider}".`);
      return;
    }
    progress.print(
      `The password of ${email} is changed, and every session has ended${made ? `. It is ${password}, which is shown this once` : ''}.`,
    );
  });
}

/** `platform users token`: a static token for programs. */
export async function setToken(email: string, options: TokenOptions): Promise<void> {
  const token = options.remove === true ? null : makeToken();
  await withAccounts(options, async (accounts, progress) => {
    await accounts.setToken(email, token);
    progress.event('user', { email, ...(token !== null && { token }) });
    progress.print(
      token === null ? `${email} has no static token any more.` : `${token}\nThis is the static token of ${email}.`,
    );
  });
}

async function withAccounts(
  options: GlobalOptions,
  work: (accounts: Accounts, progress: Progress) => Promise<void>,
): Promise<void> {
  const progress = processProgress(options);
  const project = await loadProject(options.project);
  const source = await connectPresent(project, progress, { writable: true });
  try {
    await work(await openAccounts(source, project), progress);
  } finally {
    await source.close();
  }
}

function checkEmail(email: string): void {
  if (isEmail(email) && email.length <= longestEmail) return;
  throw new CommandError(exitCodes.usage, `"${email}" is no e-mail address.`);
}

/** A password on the command line would be visible to every user who lists processes. */
async function choosePassword({ passwordStdin }: PasswordOptions): Promise<{ password: string; made: boolean }> {
  if (passwordStdin !== true) return { password: makePassword(), made: true };
  for await (const line of createInterface({ input: process.stdin })) return { password: line, made: false };
  throw new CommandError(exitCodes.usage, 'There is no password on the standard input.');
}

export interface RolesOptions extends GlobalOptions {
  /** Make the roles that the permissions file has and the table has not. */
  readonly sync?: boolean;
}

/** `platform roles`: the roles that users can have, and whether rules were written for them. */
export async function roles(options: RolesOptions): Promise<void> {
  await withAccounts(options, async (accounts, progress) => {
    const missing = await accounts.missingRoles();
    for (const name of options.sync === true ? missing : []) {
      await accounts.addRole(name);
      progress.event('role', { name, action: 'made' });
    }
    const present = await accounts.roles();
    for (const role of present) progress.event('role', { ...role });
    const rows = present.map(({ name, users, admin, app, ruled }) => [
      name,
      String(users),
      admin ? 'everything' : ruled ? 'its rules' : 'as public',
      app ? 'yes' : 'no',
    ]);
    progress.print(printTable(['role', 'users', 'may', 'app'], rows));
    if (missing.length === 0) return;
    const names = missing.join(', ');
    progress.print(
      options.sync === true ? `Made: ${names}.` : `Only in the permissions file: ${names} (--sync makes them).`,
    );
  });
}
