import { expect, test } from 'vitest';
import { contractTable, type ReportedTest } from '../../scripts/contract-table.ts';

function reported(title: string, ...statuses: readonly string[]): readonly ReportedTest[] {
  return statuses.map((status) => ({ ancestorTitles: [title, 'lists'], status }));
}

test('counts the cases of each server', () => {
  const table = contractTable([
    {
      name: '/clone/test/contract/twins.test.ts',
      assertionResults: [
        ...reported('PostgreSQL and MariaDB', 'passed', 'passed', 'failed'),
        ...reported('PostgreSQL and MySQL (skipped: no network)', 'pending'),
      ],
    },
    {
      name: '/clone/test/database/mysql-transactions.test.ts',
      assertionResults: [...reported('MariaDB', 'passed'), ...reported('MySQL', 'passed', 'skipped')],
    },
    { name: '/clone/test/contract/mariadb-writes.test.ts', assertionResults: reported('on MariaDB', 'passed') },
    { name: '/clone/test/contract/mysql-writes.test.ts', assertionResults: reported('on MySQL', 'passed', 'passed') },
    { name: '/clone/test/unit/other.test.ts', assertionResults: reported('MySQL', 'failed') },
  ]);
  expect(table).toEqual([
    'Cases that are as on PostgreSQL       MariaDB  MySQL',
    'reads: the same bytes                 2 of 3   not run',
    'rules, upsert, hooks: the same tests  1 of 1   2 of 2',
    'transactions                          1 of 1   1 of 1',
  ]);
});

test('is left out where none of them ran', () => {
  expect(contractTable([{ name: '/clone/test/unit/other.test.ts', assertionResults: [] }])).toEqual([]);
});
