/** State that the parts of a tree share while it is written. */

import type { PlatformError } from '../../errors.ts';
import type { Place } from '../../json/problems.ts';
import type { Condition } from '../../language/index.ts';
import type { WritableCollection } from '../access/scope.ts';
import { countsWritten } from '../checks/check.ts';
import { brokenRules } from '../checks/known-values.ts';
import type { Running } from '../execute/running.ts';
import type { StepDone } from '../execute/step.ts';
import { namesOf, type WriteContext } from '../write-plan.ts';
import type { DecodedStep, DecodedSteps, Group, KeyTexts } from './parse/group.ts';

/** A tree while it is written. */
export interface Writing {
  readonly running: Running;
  readonly context: WriteContext;
  readonly drafts: DecodedSteps;
  readonly collections: ReadonlySet<string>;
  /** Steps whose permission check has to wait. */
  readonly done: StepDone[];
  /** Drafts whose steps have begun. */
  readonly begun: Set<DecodedStep>;
  /** Items that the request has made so far, as `itemId` names them. */
  readonly made: Set<string>;
  /** Latest steps that have written items whose links wait, by the items. */
  readonly linking: Map<string, StepDone>;
  /** Steps of which a later one has written an item again. */
  readonly replaced: Set<StepDone>;
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

/** Notes items of a step whose links wait, and earlier steps of the same items, whose links it may replace. */
export function noteLinks({ linking, replaced }: Writing, step: StepDone, itemsOf: () => readonly string[]): void {
  if (linking.size === 0 && !step.waitsForLinks) return;
  for (const item of itemsOf()) {
    const earlier = linking.get(item);
    if (earlier !== undefined) replaced.add(earlier);
    if (step.waitsForLinks) linking.set(item, step);
  }
}

/** Collects rules that a draft which is not written breaks by its own values. Throws FORBIDDEN. */
export function collectKnown(
  { begun }: Writing,
  group: Group,
  draft: DecodedStep,
  collect: (violation: PlatformError) => void,
): void {
  const { batch, granted } = draft;
  const names = namesOf(batch, [...group.owned, group.sort]);
  const payload = { batch, placeOf: placesOf(group, draft), names };
  const broken = begun.has(draft) ? undefined : brokenRules(granted.grant, payload, undefined);
  if (broken?.code === 'FORBIDDEN') throw broken;
  if (broken !== undefined) collect(broken);
}

/** Places of the items of a draft in the body. */
export function placesOf({ nodes: all, writable }: Group, { nodes }: DecodedStep): (item: number) => Place {
  const { name } = writable.collection.descriptor;
  return (item) => all[nodes[item] ?? -1]?.place ?? { collection: name, index: undefined };
}

/** Judges earlier steps before one that depends on them. Else two steps could grant each other. */
export async function checkEarlierSteps(
  { context, collections, done }: Writing,
  { collection }: WritableCollection,
  rules: readonly { readonly where: Condition }[],
): Promise<void> {
  const { open } = context.scope;
  if (!rules.some(({ where }) => countsWritten(open, collection, where, collections))) return;
  for (const step of done) await step.checkEarly();
}
