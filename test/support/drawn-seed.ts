/** Seeds of tests that draw what they do. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';

const seeds = 2 ** 30;

/**
 * Seed that a variable names, else one that follows from the committed code and tests: the same commit is judged alike
 * wherever it runs, and the next one draws anew. Nightly runs name theirs.
 */
export function drawnSeed(variable: string, otherwise = seedOfCode()): number {
  return Number(process.env[variable] ?? otherwise);
}

/** Outside of a repository chance decides. */
function seedOfCode(): number {
  try {
    const trees = execFileSync('git', ['rev-parse', 'HEAD:packages', 'HEAD:test'], { cwd: import.meta.dirname });
    return createHash('sha256').update(trees).digest().readUInt32BE() % seeds;
  } catch {
    return Math.floor(Math.random() * seeds);
  }
}
