import { printTable } from '../terminal/format.ts';
import type { GlobalOptions } from './options.ts';
import { withAccounts } from './users.ts';

/** Options of `platform roles`. */
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
