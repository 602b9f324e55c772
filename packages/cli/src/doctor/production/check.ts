/** Checks of a server's settings: declarations, and the findings that they give. */
import type { Finding } from '../../sources/finding.ts';
import type { ProductionFacts } from './facts.ts';

/** One thing that is looked at before a server is used. */
export interface Check {
  /** Stable, lower case with dashes. */
  readonly code: string;
  readonly severity: Finding['severity'];
  /** Condition for people, as a noun phrase; docs/deployment.md prints it. */
  readonly title: string;
  /** Sentences about what is wrong; none where all is well. */
  readonly wrong: (facts: ProductionFacts) => string | null | readonly string[];
  /** Advice, as a whole sentence. */
  readonly cure: string | ((facts: ProductionFacts) => string);
}

/** Runs checks on the facts. */
export function runChecks(checks: readonly Check[], facts: ProductionFacts): readonly Finding[] {
  return checks.flatMap(({ code, severity, wrong, cure }) =>
    [wrong(facts) ?? []]
      .flat()
      .map((message) => ({ check: code, severity, message, advice: typeof cure === 'string' ? cure : cure(facts) })),
  );
}
