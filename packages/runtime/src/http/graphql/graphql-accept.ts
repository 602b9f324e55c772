/** In which form a client wants the answer to a GraphQL request. Source: GraphQL over HTTP, section 6. */

/** The form of an answer. */
export interface AcceptedForm {
  /** `application/graphql-response+json`, or `application/json`. */
  readonly type: 'graphql' | 'json';
  /**
   * Set where the client named `application/json` itself. Older clients read an answer of that type only when its
   * status is 200, also when the document was refused.
   */
  readonly alwaysOk: boolean;
  /** True if the client prefers a page: it is a browser. */
  readonly page: boolean;
}

/**
 * Reads an `Accept` header. `application/graphql-response+json` is for clients that name it; a client that takes anything,
 * says nothing, or takes nothing of ours gets `application/json`.
 */
export function readAccept(accept: string | undefined): AcceptedForm {
  // As most clients say nothing, or anything.
  if (accept === undefined || accept === '*/*') return usual;
  const weights = readWeights(accept);
  const graphql = weights.get('application/graphql-response+json') ?? 0;
  const json = weights.get('application/json') ?? 0;
  const html = weights.get('text/html') ?? 0;
  const type = graphql > 0 && graphql >= json ? 'graphql' : 'json';
  return { type, alwaysOk: type === 'json' && json > 0, page: html > Math.max(graphql, json) };
}

const usual: AcceptedForm = { type: 'json', alwaysOk: false, page: false };

function readWeights(accept: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const part of accept.split(',')) {
    const [range = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith('q='));
    weights.set(range, weight === undefined ? 1 : Number(weight.slice(2)) || 0);
  }
  return weights;
}
