/** The pages of the reference are what the code says. `npm run golden` prints their parts anew; the diff is the review. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { printChanges } from '../../scripts/reference/changes.ts';
import { printClientOperations } from '../../scripts/reference/client.ts';
import { printCommands, printExitCodes } from '../../scripts/reference/commands.ts';
import { printConfiguration } from '../../scripts/reference/configuration.ts';
import { printProductionChecks } from '../../scripts/reference/doctor.ts';
import { isDefault, printVariables, readNames } from '../../scripts/reference/environment.ts';
import { printErrors } from '../../scripts/reference/errors.ts';
import { withPart } from '../../scripts/reference/markdown.ts';
import { printOperations } from '../../scripts/reference/operations.ts';
import { printFilterTypes, printOperators } from '../../scripts/reference/operators.ts';
import { topics } from '../../scripts/reference/variables.ts';
import { listFiles, readText } from '../architecture/files.ts';

test.each([
  ['commands', { commands: printCommands(), 'exit codes': printExitCodes() }],
  ['environment', { variables: printVariables() }],
  ['errors', { errors: printErrors() }],
  ['operations', { operations: printOperations() }],
  ['configuration', { options: printConfiguration() }],
  ['changes', { rules: printChanges() }],
  ['../filters', { operators: printOperators() }],
  ['../deployment', { checks: printProductionChecks() }],
])('docs/reference/%s.md is what the code says', async (name, parts) => {
  const file = fileURLToPath(new URL(`../../docs/reference/${name}.md`, import.meta.url));
  const page = Object.entries(parts).reduce(
    (text, [part, printed]) => withPart(text, part, printed),
    readFileSync(file, 'utf8'),
  );
  await expect(page).toMatchFileSnapshot(file);
});

test('methods of the client are what the operations declare', async () => {
  const file = fileURLToPath(new URL('../../packages/client/src/operations.ts', import.meta.url));
  await expect(printClientOperations()).toMatchFileSnapshot(file);
});

test.each(['runtime/src/language/conditions', 'client/src/typed'])(
  '%s has the types of filters as operators declare them',
  async (folder) => {
    const file = fileURLToPath(new URL(`../../packages/${folder}/filter-types.ts`, import.meta.url));
    await expect(printFilterTypes()).toMatchFileSnapshot(file);
  },
);

const variables = topics.flatMap(([, listed]) => listed);

test('every variable that the server reads is listed, and no other', () => {
  const listed = variables.map(([name]) => name);
  const read = new Set([...readNames(), ...namesInSources()]);
  // Every variable may come from a file, which the page says once.
  for (const name of listed) read.delete(`${name}_FILE`);
  expect(listed.toSorted()).toEqual([...read].toSorted());
});

test('every default that is listed is the one that holds', () => {
  const wrong = variables.filter(([name, initial]) => typeof initial === 'string' && !isDefault(name, initial));
  expect(wrong.map(([name]) => name)).toEqual([]);
});

/** Names that code asks the environment of its process for, one by one or several at once. */
function namesInSources(): readonly string[] {
  const texts = listFiles('packages/{cli,runtime}/src/**/*.ts').map(readText);
  return texts.flatMap((text) => [
    ...[...text.matchAll(/process\.env\.([A-Z_]+)/g)].map(([, name = '']) => name),
    ...[...text.matchAll(/\{([^{}]*)\} = process\.env/g)].flatMap(([, names = '']) => names.match(/[A-Z_]{3,}/g) ?? []),
  ]);
}
