/** Figures of README.md: each stands beside the command that measures it, and in a decision that tells of the run. */
import { expect, test } from 'vitest';
import { readText } from '../../architecture/files.ts';

const [, section = ''] = readText('README.md').split('\n## Comparison\n');
const [comparison = ''] = section.split('\n## ');
const figures = comparison.split('\n').flatMap((line) => {
  const [, , , figure = '', command = ''] = line.split('|').map((cell) => cell.trim());
  return /^\d/.test(figure) ? [{ figure, command }] : [];
});

test('every figure has a command of the benches, and its run is told', () => {
  expect(figures.length).toBeGreaterThan(3);
  const benches = ['bench/scenarios.ts', 'bench/graphql-scenarios.ts', 'bench/write-scenarios.ts'].map(readText).join();
  const names = new Set([...benches.matchAll(/name: '([\w-]+)'/g)].map(([, name]) => name));
  const decisions = [...comparison.matchAll(/\]\((docs\/decisions\/[\w-]+\.md)\)/g)].map(([, path = '']) =>
    readText(path),
  );
  for (const { figure, command } of figures) {
    const [, name] = /^`npm run bench -- (?:\w+ )?--only ([\w-]+)`$/.exec(command) ?? [];
    expect([command, names.has(name)]).toEqual([command, true]);
    expect([figure, decisions.some((text) => text.includes(` ${figure} `))]).toEqual([figure, true]);
  }
});
