/**
 * GraphQL of a server: its addresses, and the runner of its documents, whose modules are loaded for the first document.
 */
import { readLimits } from '../../environment.ts';
import type { OperationRunnerOptions } from '../../graphql/run.ts';
import type { RequestLimiter } from '../../limits/request-limiter.ts';
import { logFailure } from '../../operate/log.ts';
import type { StreamingResponder } from '../responses/answer.ts';
import { createGraphqlFace, type GraphqlFace, type GraphqlOptions } from './graphql.ts';
import type { GraphqlServicesOptions } from './graphql-services.ts';

/** Parts of a server that answer GraphQL. */
export interface OpenGraphqlOptions
  extends Omit<GraphqlOptions, 'count' | 'loadRunner' | 'responder'>,
    Omit<GraphqlServicesOptions, 'printSchema'>,
    Required<
      Pick<OperationRunnerOptions, 'database' | 'driftGuard' | 'writer' | 'createCache' | 'passes' | 'functions'>
    > {
  readonly responder: StreamingResponder;
  readonly limiter: RequestLimiter | null;
}

/** Opens GraphQL of an API. */
export function openGraphql({ limiter, bound, ...parts }: OpenGraphqlOptions): GraphqlFace {
  const { api, database, driftGuard, writer, createCache, passes, functions, senderOf, environment, responder, log } =
    parts;
  return createGraphqlFace({
    ...parts,
    count: async ({ request }, requests) => {
      await Promise.all(Array.from({ length: requests }, () => limiter?.admit(request)));
    },
    async loadRunner(findSchema) {
      const { createOperationRunner } = await import('../../graphql/run.ts');
      const { createSchemaPrinter } = await import('../../graphql/documents/schemas.ts');
      const { createGraphqlServices } = await import('./graphql-services.ts');
      return createOperationRunner({
        ...{ api, database, driftGuard, writer, createCache, passes, functions, senderOf },
        limits: readLimits(environment),
        service: createGraphqlServices({ printSchema: createSchemaPrinter(findSchema), bound, senderOf }),
        unsent: responder.unsentOf,
        late: responder.late,
        report: (request, error) => logFailure(log(), request, error),
      });
    },
  });
}
