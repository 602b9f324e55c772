import { expect, test } from 'vitest';
import { logicTable } from '../../scripts/logic-table.ts';

const folder = '/clone/test/database-logic';

function reported(groups: readonly string[], title: string, ...statuses: readonly string[]) {
  return statuses.map((status) => ({ ancestorTitles: groups, title, status }));
}

test('counts the cases of each feature by server and surface', () => {
  const table = logicTable([
    {
      name: `${folder}/geometry.test.ts`,
      assertionResults: [
        ...reported(['PostGIS'], 'finds by shapes', 'passed', 'failed'),
        ...reported(['PostGIS'], 'answers the same over GraphQL', 'passed'),
        ...reported(['MySQL (skipped: no network)'], 'finds by shapes', 'pending'),
      ],
    },
    { name: `${folder}/functions-client.test.ts`, assertionResults: reported([], 'types arguments', 'passed') },
    { name: `${folder}/geometry-postgis.test.ts`, assertionResults: reported([], 'asks for indexes', 'passed') },
    { name: '/clone/test/contract/other.test.ts', assertionResults: reported([], 'other', 'failed') },
  ]);
  expect(table).toEqual([
    'Logic of the database  Surface  PostgreSQL  PGlite  MariaDB  MySQL',
    'functions              clients  1 of 1      –       –        –',
    'geometry               REST     2 of 3      –       –        not run',
    'geometry               GraphQL  1 of 1      –       –        –',
  ]);
});

test('is left out where none of them ran', () => {
  expect(logicTable([{ name: '/clone/test/unit/other.test.ts', assertionResults: [] }])).toEqual([]);
});
