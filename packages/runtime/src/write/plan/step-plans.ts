import type { AnswerWriter } from '../../query/answer.ts';
import type { ReadPlan } from '../../query/plan/plan.ts';
import type { Written } from '../checks/check.ts';
import type { WriteStatement } from './statement.ts';

/** The plans of one step: the write itself, and the permission check that waits until everything is written. */
export interface StepPlans {
  /** Finds the rows that may be changed, and locks them, where the write cannot do so itself. */
  readonly look?: WriteStatement;
  readonly write: WriteStatement;
  /** Checks the written rows, where the write does not do so itself. */
  readonly verify?: WriteStatement;
  /** True if the write takes keys as arrays, but makes one item. Default: false. */
  readonly single?: true;
  /** True if the write takes its keys as arrays. */
  readonly many: boolean;
  readonly permissionCheck: WriteStatement | undefined;
  /** Checks links to rows of other tenants before anything else is written. */
  readonly linkCheck?: WriteStatement;
  /** Builds the answer from the rows of the write; set where the write returns the items itself. */
  readonly answer?: AnswerWriter;
}

/** A step that was planned with the answer of its write; `keyed` tells whether new items have to tell their keys, too. */
export interface PlannedStep {
  readonly written: Written;
  readonly plan: ReadPlan;
  readonly keyed: boolean;
}

/** Completes the plans of a step that answers its items itself. */
export type CompleteStep = (plans: StepPlans, planned: PlannedStep) => StepPlans;
