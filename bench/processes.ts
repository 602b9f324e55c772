/** What the operating system knows about a process and everything it started. Linux only: it reads `/proc`. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** Consumption of a process tree. */
export interface Consumption {
  /** User and system time since each process started, children that have ended included, in microseconds. */
  readonly cpuMicros: number;
  /** Resident memory of the first process, in megabytes. */
  readonly residentMb: number;
}

/** True where this can be measured. */
export const measurable = existsSync('/proc/self/stat');

/** Linux counts the time of processes in hundredths of a second, whatever the frequency of its own clock. */
const tickMicros = 10_000;
const pageMb = 4096 / 1e6;

/** Reads the consumption of a process and its descendants; undefined where it cannot be measured or has ended. */
export function readConsumption(pid: number): Consumption | undefined {
  if (!measurable) return undefined;
  const own = readStat(pid);
  if (own === undefined) return undefined;
  const micros = [pid, ...descendants(pid)].reduce((sum, id) => sum + readMicros(id), 0);
  return { cpuMicros: own.ended * tickMicros + micros, residentMb: own.pages * pageMb };
}

/** Time of one process: exact where the kernel counts that of its threads, else in ticks; 0 where it has just ended. */
function readMicros(pid: number): number {
  try {
    return readThreads(pid);
  } catch {
    return (readStat(pid)?.ticks ?? 0) * tickMicros;
  }
}

/** Exact time of all threads of a process, in microseconds, without those that have ended. */
function readThreads(pid: number): number {
  const nanos = readdirSync(`/proc/${pid}/task`).map((task) =>
    Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'latin1').split(' ')[0]),
  );
  return nanos.reduce((sum, own) => sum + own, 0) / 1_000;
}

/**
 * User and system time of all threads of a process and its descendants, in microseconds: exact, but without threads that
 * have ended.
 */
export function readProcessorMicros(pid: number): number {
  return [pid, ...descendants(pid)].reduce((sum, id) => sum + readThreads(id), 0);
}

/** The process that started another one; undefined where that cannot be told. */
export function parentOf(pid: number): number | undefined {
  return measurable ? readStat(pid)?.parent : undefined;
}

interface Stat {
  readonly parent: number;
  /** User and system time of the process. */
  readonly ticks: number;
  /** The same of children that it waited for. */
  readonly ended: number;
  readonly pages: number;
}

function readStat(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field is the name in brackets, and may hold anything.
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const field = (number: number): number => fields[number - 3] ?? 0;
    return { parent: field(4), ticks: field(14) + field(15), ended: field(16) + field(17), pages: field(24) };
  } catch {
    return undefined;
  }
}

function descendants(root: number): readonly number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    const parent = Number.isInteger(pid) ? readStat(pid)?.parent : undefined;
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const found = [...(children.get(root) ?? [])];
  for (const pid of found) found.push(...(children.get(pid) ?? []));
  return found;
}
