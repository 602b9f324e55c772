import type { Caller } from '../../caller.ts';
import type { Transaction } from '../../database/database.ts';
import type { OwnSql } from '../../database/own-statements.ts';
import type { SqlDialect } from '../../dialects/index.ts';
import type { DriftGuard } from '../../drift-watch.ts';
import type { PlatformError } from '../../errors.ts';
import type { FilterObject } from '../../language/conditions/filter-syntax.ts';
import type { ManyToOne } from '../../language/index.ts';
import type { ChangeOrigin } from '../../system/log-changes.ts';
import type { ChangesBelow } from '../checks/check.ts';
import type { Batch } from '../decode/batch.ts';
import { asMany, type Keys } from '../decode/keys.ts';
import type { History, StepAction } from '../history/history.ts';
import type { StepPlans } from '../plan/statement.ts';
import type { KeyTexts, TreeNode } from '../tree/parse/group.ts';
import type { JudgedPayload } from './run.ts';

export type RequestOrigin = Omit<ChangeOrigin, 'user'>;

/** A step that is ready to run. */
export interface Step {
  readonly action: StepAction;
  /** Set where items to delete are archived. */
  readonly archives?: boolean;
  readonly plans: StepPlans;
  readonly batch: Batch;
  /** Null when items are made. */
  readonly keys: Keys | null;
  /** True if rows that are gone by now are skipped: rows found by a query were not named. */
  readonly lenient: boolean;
  readonly payload: JudgedPayload;
  /** Nodes of its items. Default: they are none of a tree. */
  readonly nodes?: readonly TreeNode[];
}

/** An item that a step writes: by its key where it is stored, and by its node in a tree. */
export interface StepItem {
  readonly key: KeyTexts | undefined;
  readonly node: TreeNode | undefined;
}

/** Context in which steps run. */
export interface Running {
  readonly transaction: Transaction;
  readonly caller: Caller;
  readonly sender: RequestOrigin;
  readonly dialect: SqlDialect;
  /** Throws SERVICE_UNAVAILABLE for a statement about a collection that no longer fits the database. */
  readonly driftGuard: DriftGuard;
  /** Keeps activity and revisions; null where there are no tables for them. */
  readonly history: History | null;
  /** True if rows are judged before they are written: a constraint has refused them, and rules come first. Default: false. */
  readonly judgesFirst?: true;
  /** Takes the plans of each step before it runs. */
  readonly begin?: (plans: StepPlans) => void;
  /** Takes violations of rules, which the request tells together when everything is written. Default: they are thrown. */
  readonly collect?: (violation: PlatformError) => void;
  /** Throws where rules are broken and the database might not take a step: later errors would tell that. */
  readonly endBroken?: (plans: StepPlans) => void;
  /** True if a later step of the request writes what a link of an item leads to. Default: there are no later ones. */
  readonly awaits?: (link: ManyToOne, batch: Batch, item: number) => boolean;
  /** Finds items of a step, by their positions, below which the request may change others so. Default: other steps change none. */
  readonly findChanged?: (below: ChangesBelow, items: readonly StepItem[]) => Promise<ReadonlySet<number>>;
  /** Hears what happens to the items below others in payloads. */
  readonly watcher?: TreeWatcher;
  /** Watch over collections of the platform. */
  readonly systemHooks: SystemHooks;
  /** Turns of transactions that named the same text; null for those of the dialect. */
  readonly turn?: OwnSql | null;
}

/** Watches over the steps of one collection, however they came to be: by its own route, or within other payloads. */
export interface SystemHook {
  /** Runs before a step, and may throw. The function that it returns runs with the keys of written items. */
  watch(running: Running, step: Step): Promise<AfterStep | null>;
}

/** Judges and completes what a step has written. */
type AfterStep = (keys: Keys) => Promise<void>;

/** system hooks by the collection that they watch over. */
export type SystemHooks = ReadonlyMap<string, SystemHook>;

/** The keys of a collection with one key field, as the text of an array. */
export function keyArray(keys: Keys): string {
  return asMany(keys).values[0] ?? '{}';
}

/** True if a step gives a field of one of these names a value. */
export function writes({ batch }: Step, names: readonly string[]): boolean {
  return batch.columns.some(({ field }) => names.includes(field.descriptor.name));
}

/** An item below others in a payload, as it was made or changed. */
interface WrittenNode {
  readonly key: KeyTexts;
  /** Payload of the item. A payload for several items is the same object for each. */
  readonly payload: FilterObject;
}

/** Receives the items below the top of a tree, without links, unlinks and order that the server sets. */
export interface TreeWatcher {
  /** Items were made or changed. */
  wrote(action: 'create' | 'update', collection: string, nodes: readonly WrittenNode[]): void;
  /** Called before items are removed; if it rejects, the request fails. */
  removes(collection: string, keys: Keys): Promise<void>;
}
