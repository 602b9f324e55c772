/** A server of tests that has to answer as the OpenAPI document of each caller says. */
import type { Answer, Ask, Platform } from '../platform.ts';
import { sentText } from '../sent.ts';
import { createChecker } from './check.ts';

/** Where the documents are, and whose token administrators send. */
export interface DescribedBy {
  /** Folder of the project, with `generated/` in it. */
  readonly folder: string;
  readonly adminToken: string;
  /** Says that the model changes while the server runs, so that documents are asked of it and not read in the folder. */
  readonly changing?: true;
}

/**
 * The same server, of which everything that is asked has to be as the document says. What is not is thrown at once, and
 * again when the server is stopped, because some tests catch.
 */
export function asDescribed(platform: Platform, { folder, adminToken, changing }: DescribedBy): Platform {
  const unsaid: string[] = [];
  const check = createChecker({
    folder,
    adminToken,
    ...(changing && { changing }),
    async read(token) {
      const answer = await platform.ask('/server/specs/oas', { ...(token && { token }) }).catch(() => null);
      return answer?.status === 200 ? answer.text : null;
    },
  });
  const ask = async (path: string, options: Ask = {}): Promise<Answer> => {
    const { method = 'GET' } = options;
    const answer = await platform.ask(path, options);
    const { headers, body } = sentText(options);
    const problems = await check({ target: path, method, headers, body, answer });
    const request = `${method} ${path} ${body?.slice(0, most) ?? ''}`;
    const said = problems.map((problem) => `${request} → ${answer.status} ${answer.text.slice(0, most)}: ${problem}`);
    unsaid.push(...said);
    fail(said);
    return answer;
  };
  return {
    ...platform,
    ask,
    admin: (path, options) => ask(path, { ...options, token: adminToken }),
    async stop(signal) {
      const code = await platform.stop(signal);
      fail(unsaid);
      return code;
    },
  };
}

/** Characters of a request or an answer that are shown. */
const most = 500;

function fail(problems: readonly string[]): void {
  if (problems.length > 0) throw new Error(`Not as the OpenAPI document says:\n${problems.join('\n')}`);
}
