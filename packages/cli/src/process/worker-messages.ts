/** Messages between the first process of a cluster and those that serve. */
import type { Drift, MetricValues, Readiness as ServerState } from '@tablewright/runtime';
import type { ReportedAdministrator } from '../terminal/reported-administrator.ts';

/** A process listens. */
export interface Readiness {
  readonly kind: 'listening';
  readonly url: string;
  /** Paths of the pages that people begin with. */
  readonly pages: readonly string[];
  /** Made by its start, because there was no user; null when there was one, or when another process has made it. */
  readonly administrator: ReportedAdministrator | null;
  readonly drifts: readonly Drift[];
}

/** A process cannot serve, for a reason that is no bug. */
export interface Failure {
  readonly kind: 'failure';
  readonly exitCode: number;
  readonly failure: string;
  readonly hint: string | null;
}

/** Metrics of one process. */
export type ProcessMetrics = readonly MetricValues[];

/** Messages of a process that serves. */
export type WorkerMessage =
  | Readiness
  | Failure
  | { readonly kind: 'metrics'; readonly question: number; readonly answer: ProcessMetrics }
  | { readonly kind: 'ready'; readonly question: number; readonly answer: ServerState }
  /** Asks for the metrics of all processes. */
  | { readonly kind: 'gather'; readonly question: number };

/** Messages of the first process. */
export type LeaderMessage =
  /** Tells a process to finish; another one serves in its place, or none does. */
  | { readonly kind: 'finish'; readonly isReplaced: boolean }
  | { readonly kind: 'metrics'; readonly question: number }
  | { readonly kind: 'ready'; readonly question: number; readonly role: string | undefined }
  | { readonly kind: 'gather'; readonly question: number; readonly answer: readonly ProcessMetrics[] };

/** Questions to another process that wait for their answers. */
export class Questions<Answer> {
  readonly #open = new Map<number, (reply: Answer) => void>();
  #requested = 0;

  /** Asks by `send`; null if there is no answer in time. */
  async ask(send: (question: number) => void, timeoutMs: number): Promise<Answer | null> {
    const question = ++this.#requested;
    const { promise, resolve } = Promise.withResolvers<Answer | null>();
    const timer = setTimeout(() => resolve(null), timeoutMs);
    this.#open.set(question, resolve);
    try {
      send(question);
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#open.delete(question);
    }
  }

  /** Takes an answer; one that comes too late is dropped. */
  respond(question: number, response: Answer): void {
    this.#open.get(question)?.(response);
  }
}
