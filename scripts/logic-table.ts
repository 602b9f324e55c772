/** Results of the tests in `test/database-logic` as a table: features by surfaces of the API, and by servers. */
import { aligned, cellOf, type ReportedFile, type ReportedTest } from './contract-table.ts';

/** Features by the beginnings of the names of their files; any other file is a feature of its own. */
const features: readonly (readonly [beginning: string, feature: string])[] = [
  ['functions', 'functions'],
  ['computed', 'computed fields'],
  ['row-security', 'row-level security'],
  ['policies', 'row-level security'],
  ['search', 'search'],
  ['enum', 'enums'],
  ['composite', 'composite types'],
  ['view', 'views'],
  ['geometry', 'geometry'],
  ['vector', 'vectors'],
  ['connection', 'connections'],
  ['soft-delete', 'soft delete'],
];

/** Surfaces by words of a file, a group or a title; REST is the one that tests need not name. */
const surfaces: readonly (readonly [surface: string, words: RegExp])[] = [
  ['REST', /^/],
  ['GraphQL', /graphql|connection/i],
  ['clients', /client/i],
  ['OpenAPI', /openapi|document of the API/i],
  ['commands', /doctor|explain|\bdiff\b|README|\bthe start\b|\bcommands?\b/i],
];

/** Servers by words of a group; PostgreSQL is the one that tests need not name. */
const servers: readonly (readonly [server: string, words: RegExp])[] = [
  ['PostgreSQL', /^/],
  ['PGlite', /PGlite/],
  ['MariaDB', /MariaDB/],
  ['MySQL', /MySQL/],
];

const folder = '/test/database-logic/';

interface Case {
  readonly feature: string;
  readonly surface: string;
  readonly server: string;
  readonly test: ReportedTest;
}

/** The table, a line per feature and surface; no lines where none of the tests ran. */
export function logicTable(files: readonly ReportedFile[]): readonly string[] {
  const cases = files.filter(({ name }) => name.includes(folder)).flatMap(casesOf);
  if (cases.length === 0) return [];
  const names = servers.map(([server]) => server);
  const rows = [...Map.groupBy(cases, ({ feature }) => feature)].flatMap(([feature, own]) =>
    surfaces.flatMap(([surface]) => {
      const shown = own.filter((found) => found.surface === surface);
      if (shown.length === 0) return [];
      const cells = names.map((server) => {
        const tests = shown.filter((found) => found.server === server).map(({ test }) => test);
        return tests.length === 0 ? '–' : cellOf(tests);
      });
      return [[feature, surface, ...cells]];
    }),
  );
  rows.sort(([left = ''], [right = '']) => left.localeCompare(right));
  return aligned([['Logic of the database', 'Surface', ...names], ...rows]);
}

function casesOf({ name, assertionResults }: ReportedFile): readonly Case[] {
  const file = name.slice(name.indexOf(folder) + folder.length).replace(/\.test\.ts$/, '');
  const feature = features.find(([beginning]) => file.startsWith(beginning))?.[1] ?? file.replaceAll('-', ' ');
  return assertionResults.map((test) => {
    const groups = test.ancestorTitles.join(' ');
    return {
      feature,
      surface: last(surfaces, `${file} ${groups} ${test.title ?? ''}`),
      server: last(servers, `${file} ${groups}`),
      test,
    };
  });
}

/** The last name whose words a text has. */
function last(named: readonly (readonly [name: string, words: RegExp])[], text: string): string {
  return named.findLast(([, words]) => words.test(text))?.[0] ?? '';
}
