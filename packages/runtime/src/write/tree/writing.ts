/** State that the parts of a tree share while it is written. */
import type { Running } from '../execute/running.ts';
import type { StepDone } from '../execute/step.ts';
import type { WriteContext } from '../write-plan.ts';
import type { DecodedSteps, Group, KeyTexts } from './parse/group.ts';

/** A tree while it is written. */
export interface Writing {
  readonly running: Running;
  readonly context: WriteContext;
  readonly drafts: DecodedSteps;
  readonly collections: ReadonlySet<string>;
  /** Steps whose permission check has to wait. */
  readonly done: StepDone[];
  /** Links that wait until everything is written. */
  readonly later: LaterLink[];
  /** Writes a group with all below it; gives the key of every node. */
  write(group: Group, above: LinkValues): Promise<readonly KeyTexts[]>;
}

/** Values of fields that other items decide, by the field's name and the positions of nodes. */
export type LinkValues = ReadonlyMap<string, ReadonlyMap<number, string | null>>;

/** Items of a group that has been written. */
export interface Owners {
  readonly group: Group;
  readonly keys: readonly KeyTexts[];
  /** True if the request made a node's item. */
  isNew(node: number): boolean;
}

export interface LaterLink {
  readonly group: Group;
  readonly key: KeyTexts;
  readonly field: string;
  readonly value: string;
}
