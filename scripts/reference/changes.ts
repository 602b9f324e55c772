/** The rules of `platform diff`, as the compiler has them. */
import { type Rule, rules } from '../../packages/compiler/src/diff/rules.ts';
import { code, table } from './markdown.ts';

const surfaces = ['rest', 'openapi', 'graphql', 'client'] as const;

/** Every rule with its verdict on each surface. */
export function printChanges(): string {
  const rows = Object.entries(rules).map(([id, { verdicts, reason }]: [string, Rule]) => [
    code(id),
    ...surfaces.map((surface) => verdicts[surface] ?? ''),
    reason,
  ]);
  return table(['Rule', ...surfaces, 'Because'], rows);
}
