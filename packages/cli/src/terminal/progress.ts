/**
 * Progress and results of a command, for three kinds of reader. A terminal gets a live line for long phases, a pipe
 * gets one plain line per phase, `--json` gets one event per line. Everything but `--json` events goes to stderr, so
 * that stdout stays free for results.
 */
import { commandFormatter } from './own-command.ts';

/** One finished phase. Durations are in milliseconds. */
export interface Phase {
  readonly name: string;
  readonly ms: number;
}

/** Reports of a command. */
export interface Progress {
  /** Runs one phase, showing that it runs and how long it took. `detail` may be set while it runs. */
  phase<T>(name: string, work: (detail: (text: string) => void) => Promise<T> | T): Promise<T>;
  /** Prints lines for people; nothing in JSON mode. */
  print(text: string): void;
  /** Emits one event in JSON mode; nothing otherwise. */
  event(type: string, data: Readonly<Record<string, unknown>>): void;
  readonly phases: readonly Phase[];
  /** True if diagnostics of severity `info` are shown too. */
  readonly notes: boolean;
  readonly color: boolean;
  /** True if a person reads what is printed: secrets appear on terminals only, and a pipe gets the path of their file. */
  readonly showsSecrets: boolean;
}

/** Options for the reports of a command. */
export interface ProgressOptions {
  readonly json: boolean;
  readonly notes: boolean;
  readonly terminal: boolean;
  /** Default: `terminal`. */
  readonly showsSecrets?: boolean;
  readonly write: (text: string) => void;
  readonly writeEvent: (text: string) => void;
  /** Converts texts before they are printed. Default: unchanged. */
  readonly format?: (text: string) => string;
}

/** The streams of this process, as the options of the command line want them used. */
export function processProgress(options: {
  readonly project: string;
  readonly json?: boolean;
  readonly notes?: boolean;
}): Progress {
  const json = options.json === true;
  return createProgress({
    json,
    notes: options.notes === true,
    terminal: process.stderr.isTTY === true && !json,
    showsSecrets: (json ? process.stdout : process.stderr).isTTY === true,
    write: (text) => void process.stderr.write(text),
    writeEvent: (text) => void process.stdout.write(text),
    format: commandFormatter(options.project),
  });
}

/**
 * A reporter over the given streams.
 * @example
 * const progress = createProgress({
 *   json: false,
 *   notes: true,
 *   terminal: false,
 *   write: (text) => process.stderr.write(text),
 *   writeEvent: () => {},
 * });
 */
export function createProgress(options: ProgressOptions): Progress {
  const phases: Phase[] = [];
  const { format = (text) => text } = options;
  const display = (value: unknown): unknown => (typeof value === 'string' ? format(value) : value);
  const event = (type: string, data: Readonly<Record<string, unknown>>): void => {
    if (!options.json) return;
    const members = Object.entries(data).map(([name, value]) => [name, display(value)] as const);
    options.writeEvent(eventLine({ event: type, ...Object.fromEntries(members) }));
  };
  return {
    phases,
    notes: options.notes,
    color: options.terminal && process.env.NO_COLOR === undefined,
    showsSecrets: options.showsSecrets ?? options.terminal,
    event,
    print: (text) => {
      if (!options.json) options.write(`${format(text)}\n`);
    },
    async phase(name, work) {
      event('phase-start', { phase: name });
      const line = liveLine(options, name);
      const start = performance.now();
      const elapsed = (): number => Math.round(performance.now() - start);
      try {
        const result = await work(line.detail);
        const ms = elapsed();
        phases.push({ name, ms });
        line.end(`${ms} ms`);
        event('phase-end', { phase: name, ms });
        return result;
      } catch (error) {
        line.end(`failed after ${elapsed()} ms`);
        throw error;
      }
    },
  };
}

/** Time after which a running phase is worth a line of its own, in milliseconds. */
const timeoutMs = 1000;

interface LiveLine {
  detail(text: string): void;
  end(outcome: string): void;
}

function liveLine(options: ProgressOptions, name: string): LiveLine {
  if (options.json) return { detail: () => undefined, end: () => undefined };
  let detail = '';
  const start = performance.now();
  const seconds = (): string => `${((performance.now() - start) / 1000).toFixed(1)} s`;
  const show = (): void => {
    if (options.terminal) options.write(`\r\u001b[2K  ${name} … ${seconds()}${detail === '' ? '' : `  ${detail}`}`);
  };
  const announce = setTimeout(() => {
    if (!options.terminal) options.write(`  ${name} …\n`);
  }, timeoutMs);
  const tick = options.terminal ? setInterval(show, 200) : undefined;
  return {
    detail: (text) => {
      detail = text;
    },
    end: (outcome) => {
      clearTimeout(announce);
      clearInterval(tick);
      const clear = options.terminal ? '\r\u001b[2K' : '';
      options.write(`${clear}  ${name}  ${outcome}${detail === '' ? '' : `  ${detail}`}\n`);
    },
  };
}

/** One event as one line, also for readers that take the line separators of Unicode for ends of lines, as Node does. */
export function eventLine(event: object): string {
  const escaped = (separator: string): string => `\\u${separator.charCodeAt(0).toString(16)}`;
  return `${JSON.stringify(event).replace(/[\u2028\u2029]/g, escaped)}\n`;
}

/** Prints nothing: a caller that repeats a step prints its result at the end. */
export const silent: Progress = {
  phases: [],
  notes: false,
  color: false,
  showsSecrets: false,
  phase: async (_, work) => work(() => undefined),
  print: () => undefined,
  event: () => undefined,
};
