/** Runs the scenarios in rounds: in each every contestant once, so that the noise of a moment meets all of them. */
import type { Driver, Effort, Load } from './load.ts';
import { type PlannedScenario, planScenario, runPgbench } from './pgbench.ts';
import { readConsumption } from './processes.ts';
import type { Scenario } from './scenarios.ts';
import type { Served, Stage } from './stage.ts';
import { median } from './statistics.ts';

/** The part of a stage that measuring needs; a server under row rules where a scenario is measured under them. */
export type MeasuredStage = Pick<Stage, 'databaseUrl' | 'databasePid' | 'folder' | 'open' | 'handwritten'> &
  Partial<Pick<Stage, 'ruled'>>;

/** Who answers the questions. */
export type Contestant = 'compiled' | 'handwritten' | 'compiled, row rule' | 'compiled, REST' | 'pgbench';

/** One round of one contestant. Undefined is what this machine cannot tell. */
export interface Round extends Load {
  readonly perSecond: number;
  /** Processor time for each request, in microseconds: of the server, and of the database. */
  readonly serverMicros: number | undefined;
  readonly databaseMicros: number | undefined;
  /** Resident memory of the server at the end, in megabytes. */
  readonly residentMb: number | undefined;
}

/** The rounds of every contestant of one scenario. */
export interface Measured {
  readonly scenario: Pick<Scenario, 'name' | 'title' | 'target'>;
  readonly contestants: readonly { readonly name: Contestant; readonly rounds: readonly Round[] }[];
}

/** How to measure. */
export interface Method {
  readonly drive: Driver;
  /** Rounds at most. */
  readonly rounds: number;
  /** True if the rounds so far will do. Default: never. */
  readonly enough?: (measured: Measured) => boolean;
  readonly effort: Effort;
  /** Turns of each contestant in a round, between which the others have theirs: short ones meet the same moments. Default: 1. */
  readonly turns?: number;
  /** Undefined leaves pgbench out. */
  readonly pgbench: string | undefined;
  /** Default: 2. */
  readonly warmSeconds?: number;
  /** Answers that each has to have given before the first round, for which all are asked up to twice as long. */
  readonly warmAnswers?: number;
  readonly say: (text: string) => void;
}

interface Entrant {
  readonly name: Contestant;
  readonly pid: number | undefined;
  run(effort: Effort): Promise<Load>;
}

/** Measures one scenario. The contestants warm up before the first round. */
export async function measureScenario(stage: MeasuredStage, scenario: Scenario, method: Method): Promise<Measured> {
  const entrants = await listEntrants(stage, scenario, method);
  await warmUp(entrants, method);
  const results = new Map(entrants.map(({ name }): [Contestant, Round[]] => [name, []]));
  const { name, title, target } = scenario;
  const measured = {
    scenario: { name, title, target },
    contestants: [...results].map(([contestant, rounds]) => ({ name: contestant, rounds })),
  };
  for (let round = 0; round < method.rounds; round++) {
    method.say(`${scenario.name}, round ${round + 1} of ${method.rounds}`);
    const loads = new Map(entrants.map(({ name }): [Contestant, Round[]] => [name, []]));
    const { turns = 1, effort } = method;
    for (let turn = 0; turn < turns; turn++) {
      // Every other turn is in reverse, so that each follows another neighbour.
      for (const entrant of (round + turn) % 2 === 0 ? entrants : entrants.toReversed())
        loads.get(entrant.name)?.push(await runTurn(stage, entrant, { ...effort, seconds: effort.seconds / turns }));
    }
    for (const [contestant, parts] of loads) results.get(contestant)?.push(roundOf(parts));
    if (method.enough?.(measured) === true) break;
  }
  return measured;
}

/** The rounds of two measurements of a scenario. */
export function addRounds({ scenario, contestants }: Measured, { contestants: later }: Measured): Measured {
  const roundsOf = (name: Contestant): readonly Round[] =>
    later.find((candidate) => candidate.name === name)?.rounds ?? [];
  return {
    scenario,
    contestants: contestants.map(({ name, rounds }) => ({ name, rounds: [...rounds, ...roundsOf(name)] })),
  };
}

/** Asks all for the same time. Those that are a long way from enough answers are slow by what they read, not by cold code. */
async function warmUp(
  entrants: readonly Entrant[],
  { effort, warmSeconds = 2, warmAnswers = 0 }: Method,
): Promise<void> {
  const answers = entrants.map(() => 0);
  for (let turn = 1; turn <= 2; turn++) {
    for (const [index, { run }] of entrants.entries()) {
      const { requests } = await run({ ...effort, seconds: warmSeconds });
      answers[index] = (answers[index] ?? 0) + requests;
    }
    const least = Math.min(...answers);
    if (least >= warmAnswers || least < warmAnswers / 4) return;
  }
}

async function listEntrants(stage: MeasuredStage, scenario: Scenario, method: Method): Promise<readonly Entrant[]> {
  const compiled = scenario.questions.map((question) => question.compiled);
  const handwritten = scenario.questions.map((question) => question.handwritten);
  const served = (name: Contestant, { url, pid }: Served, paths: readonly string[]): Entrant => ({
    name,
    pid,
    run: (effort) => method.drive(url, paths, effort),
  });
  const entrants = [served('compiled', stage.open, compiled), served('handwritten', stage.handwritten, handwritten)];
  if (scenario.ruled && stage.ruled !== undefined) entrants.push(served('compiled, row rule', stage.ruled, compiled));
  const rest = scenario.questions.flatMap((question) => question.rest ?? []);
  if (rest.length > 0) entrants.push(served('compiled, REST', stage.open, rest));
  const { pgbench } = method;
  if (pgbench === undefined) return entrants;
  const planned: PlannedScenario = await planScenario(stage.folder, scenario.questions);
  const run = (effort: Effort): Promise<Load> => runPgbench(pgbench, stage.databaseUrl, planned, effort);
  return [...entrants, { name: 'pgbench', pid: undefined, run }];
}

async function runTurn(stage: MeasuredStage, { pid, run }: Entrant, effort: Effort): Promise<Round> {
  const server = meter(pid);
  const database = meter(stage.databasePid);
  const load = await run(effort);
  return {
    ...load,
    perSecond: load.requests / load.seconds,
    serverMicros: perRequest(server(), load),
    databaseMicros: perRequest(database(), load),
    residentMb: pid === undefined ? undefined : readConsumption(pid)?.residentMb,
  };
}

/** A round of its turns: sums, shares of all requests, the middle and the greatest latency, and the memory at the end. */
function roundOf(turns: readonly Round[]): Round {
  const sum = (numberOf: (turn: Round) => number): number => turns.reduce((total, turn) => total + numberOf(turn), 0);
  const requests = sum((turn) => turn.requests);
  const seconds = sum((turn) => turn.seconds);
  const share = (microsOf: (turn: Round) => number | undefined): number | undefined => {
    const micros = sum((turn) => (microsOf(turn) ?? Number.NaN) * turn.requests) / requests;
    return Number.isNaN(micros) ? undefined : micros;
  };
  return {
    ...{ requests, seconds, perSecond: requests / seconds, errors: sum((turn) => turn.errors) },
    p50: median(turns.map(({ p50 }) => p50)),
    p99: Math.max(...turns.map(({ p99 }) => p99)),
    serverMicros: share((turn) => turn.serverMicros),
    databaseMicros: share((turn) => turn.databaseMicros),
    residentMb: turns.at(-1)?.residentMb,
  };
}

/** Starts to count processor time; the function that it returns tells how much was used since. */
function meter(pid: number | undefined): () => number | undefined {
  const read = (): number | undefined => (pid === undefined ? undefined : readConsumption(pid)?.cpuMicros);
  const before = read();
  return () => {
    const after = read();
    return before === undefined || after === undefined ? undefined : after - before;
  };
}

function perRequest(micros: number | undefined, { requests }: Load): number | undefined {
  return micros === undefined ? undefined : micros / requests;
}
