/** Fills the seams of the engine with the optimisations that are on. */
import { setFlagsFromString } from 'node:v8';
import type { ConnectionSeams } from '../database/connection-seams.ts';
import type { ConnectOptions } from '../dialects/server-dialect.ts';
import type { Driver } from '../environment/database.ts';
import type { Optimizations } from '../environment/optimizations.ts';
import type { Heads } from '../http/fastify-adapter.ts';
import type { ServerOptions } from '../http/server.ts';
import { useWriterCode } from '../json/fields.ts';
import type { CreateCache } from '../language/values/bounded-cache.ts';
import type { PlannerOptions } from '../query/planner.ts';
import { AdaptivePlans, planOtherWays } from './adaptive-plans/adaptive-plans.ts';
import { createFastPath } from './fast-path/fast-path.ts';
import { standingHeads } from './fast-path/standing-heads.ts';
import { fixFields } from './fixed-fields/fixed-fields.ts';
import { generatedCode } from './generated-code/generate.ts';
import { gatherReads, planKeyBatch } from './key-batching/gathered-reads.ts';
import { keepPlans } from './plan-cache/template.ts';
import { noteMaxRows, readShortStreams } from './short-streams/short-streams.ts';
import { createSingleStatements } from './single-statement/single-statement.ts';
import { planRowBatch } from './write-batching/batch-rows.ts';
import { createGathering } from './write-batching/gathering.ts';

export function serverSeams(
  on: Optimizations,
  createCache?: CreateCache,
): Omit<PlannerOptions, 'limits'> & Pick<ServerOptions, 'createShortcut' | 'createWriteSeams' | 'createDocumentCache'> {
  // Writers of rows belong to the process: code is made from the first server on that wants it.
  if (on.has('generated-code')) useWriterCode(generatedCode);
  if (on.has('wide-inlining')) inlineMore();
  return {
    ...(on.has('plan-cache') && keepPlans(createCache)),
    passes: [
      ...(on.has('short-streams') ? [noteMaxRows] : []),
      ...(on.has('key-batching') ? [planKeyBatch] : []),
      ...(on.has('adaptive-plans') ? [planOtherWays] : []),
    ],
    ...(on.has('fixed-fields') && { listPass: fixFields }),
    ...(on.has('fast-path') && { createShortcut: createFastPath }),
    ...(on.has('single-statement') && {
      createWriteSeams: (parts) => ({
        ...createSingleStatements(parts),
        ...(on.has('write-batching') && { completeStep: planRowBatch }),
      }),
    }),
  };
}

/** The way in which a listener writes heads of answers; undefined for that of Node. */
export function headsOf(on: Optimizations): Heads | undefined {
  return on.has('fast-path') ? standingHeads() : undefined;
}

/** Lets V8 put larger functions into those that call them: of 1,000 bytes in place of 460, and 2,800 together in place of 920. */
function inlineMore(): void {
  setFlagsFromString('--max-inlined-bytecode-size=1000');
  setFlagsFromString('--max-inlined-bytecode-size-cumulative=2800');
}

/** Driver and seams of connections to a database; `driver` is the one that settings ask for. */
export function connectionsOf(on: Optimizations, driver: Driver): Pick<ConnectOptions, 'driver' | 'seams'> {
  return { driver: on.has('fast-driver') ? driver : 'pg', seams: connectionSeams(on) };
}

function connectionSeams(on: Optimizations): ConnectionSeams {
  return {
    ...(on.has('key-batching') && { wrapReads: gatherReads }),
    ...(on.has('short-streams') && { wrapStreams: readShortStreams }),
    ...(on.has('write-batching') && { wrapTransactions: createGathering }),
    ...(on.has('adaptive-plans') && {
      createChooser(state) {
        const plans = new AdaptivePlans(state);
        return (statement, parameters) => plans.chooseFor(statement, parameters);
      },
    }),
    directRows: on.has('direct-rows'),
  };
}
