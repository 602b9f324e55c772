import type { Diagnostic } from '../diagnostic.ts';
import type { MysqlCatalog } from './catalog.ts';

/** The oldest servers that are read. */
const oldest = { mysql: [8, 0], mariadb: [10, 6] } as const;

const labels = { mysql: 'MySQL', mariadb: 'MariaDB' } as const;

/** An error when the server is older than what is supported. */
export function versionDiagnostics({ dialect, version }: MysqlCatalog): Diagnostic[] {
  // Replication once wanted MariaDB to look like MySQL 5.5: some still report 5.5.5- in front.
  const [, major = '0', minor = '0'] = /^(?:5\.5\.5-)?(\d+)\.(\d+)/.exec(version) ?? [];
  const [least, after] = oldest[dialect];
  if (Number(major) > least || (Number(major) === least && Number(minor) >= after)) return [];
  return [
    {
      code: 'server-version',
      severity: 'error',
      place: 'database',
      message: `The server reports version ${version}; ${labels[dialect]} ${least}.${after} or later is needed.`,
      hint: 'Upgrade the server.',
    },
  ];
}
