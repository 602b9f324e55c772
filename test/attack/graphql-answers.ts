/** What answers to GraphQL requests may be, whatever was asked. */
import { expect } from 'vitest';
import type { Hit, Shot } from '../support/swarm.ts';

/** One request, as the swarm sends it. */
export function graphqlShot(body: { readonly query: string; readonly variables?: unknown }, token?: string): Shot {
  return {
    path: '/graphql',
    method: 'POST',
    body: JSON.stringify(body),
    ...(token !== undefined && { token }),
  };
}

/** One error of an answer. */
export interface GraphqlProblem {
  readonly message: string;
  readonly extensions: { readonly code: string };
}

/** An answer, read. */
export interface GraphqlAnswer {
  readonly data?: unknown;
  readonly errors?: readonly GraphqlProblem[];
}

/** Lines of a server's log apart from its audit: where nothing but errors is logged, there must be none. */
export function logged(output: string): readonly string[] {
  return output.split('\n').filter((line) => line.startsWith('{"level"') && !line.includes('"audit":true'));
}

/** Words of the database, its driver and this process that no error may hold. */
const inside =
  /postgres|pg_|SQLSTATE|syntax error at|relation "|column "|invalid input|out of range for|\bat Object\.|node:|\.ts:/i;

/** Fails unless an answer is data, or errors of codes that the request itself can be to blame for. */
export function expectAnswered({ body = '' }: Shot, { status, text }: Hit): GraphqlAnswer {
  const told = `${body.slice(0, 800)} -> ${status} ${text.slice(0, 400)}`;
  expect([200, 400], told).toContain(status);
  const answer: GraphqlAnswer = JSON.parse(text);
  for (const { message, extensions } of answer.errors ?? []) {
    expect(['INVALID_QUERY', 'INVALID_PAYLOAD', 'FORBIDDEN', 'FAILED_VALIDATION'], told).toContain(extensions.code);
    expect(inside.test(message), told).toBe(false);
  }
  if (status === 400) expect(Object.keys(answer), told).toEqual(['errors']);
  return answer;
}
