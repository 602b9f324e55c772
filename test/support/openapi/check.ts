/**
 * Compares what a test sends to a server, and what it is answered, with the OpenAPI document of the caller: the compiled
 * one for static callers, else the one that the server gives this caller. What the document does not say fails the test.
 */

import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readClassDocument } from '../class-documents.ts';
import { type GivenAnswer, judgeAnswer, judgeRefusal } from './answers.ts';
import { isObject, type JsonObject, member } from './json.ts';
import { createFinder, type FindOperation } from './operations.ts';
import { judgeRequest, type SentRequest } from './requests.ts';
import { createJudge, type Judge } from './schemas.ts';

/** One request of a test. */
export interface Exchanged extends Omit<SentRequest, 'query'> {
  /** With its query. */
  readonly target: string;
  readonly answer: GivenAnswer;
}

/** What a checker needs of a server. */
export interface Checked {
  /** Folder of the project, with `generated/` in it. */
  readonly folder: string;
  /** The static token of administrators. */
  readonly adminToken: string;
  /** Asks the server for the document of a caller, without a token for the public one; null when it cannot say. */
  readonly read: (token?: string) => Promise<string | null>;
  /** Says that every document is asked of the server, again after each change of the model. */
  readonly changing?: true;
}

/** Finds what the document of the caller does not say of an exchange. */
export type CheckExchange = (exchanged: Exchanged) => Promise<readonly string[]>;

/** One document, ready to be compared with. */
interface Described {
  readonly document: JsonObject;
  readonly find: FindOperation;
  readonly judge: Judge;
}

/** Documents by their texts: many servers of a process serve the same. Those that were read last. */
const known = new Map<string, Described>();

/** Documents that are kept beside those that servers hold themselves: many files serve the sample, with others between. */
const most = 24;

function describe(text: string): Described {
  const name = hash('sha256', text);
  const found = known.get(name);
  if (found !== undefined) {
    known.delete(name);
    known.set(name, found);
    return found;
  }
  const document: unknown = JSON.parse(text);
  if (!isObject(document)) throw new Error('The document is no object.');
  const made = { document, find: createFinder(document), judge: createJudge(document) };
  known.set(name, made);
  const [oldest] = known.keys();
  if (known.size > most && oldest !== undefined) known.delete(oldest);
  return made;
}

/** Pages for people and their files are no part of the document. */
const elsewhere = /^\/(admin|docs|graphql\/graphiql)(\/|$)/;

/** Requests after which documents may be others. */
const modelPaths = /^\/(collections|fields|relations|roles|policies|access|permissions)(\/|$)/;

/** Makes the checker of a server. */
export function createChecker({ folder, adminToken, read, changing }: Checked): CheckExchange {
  const documents = new Map<string, Promise<Described | null>>();

  async function compiled(role: string): Promise<Described | null> {
    const access = join(folder, 'generated', 'access');
    for (const file of await readdir(access)) {
      const text = await readFile(join(access, file), 'utf8');
      const roles = /^ {2}roles: \[([^\]]*)\]/m.exec(text)?.[1] ?? '';
      if (!roles.split(/[,\s]+/).includes(`'${role}'`)) continue;
      return describe(await readClassDocument(folder, 'openapi', file.replace(/\.js$/, '')));
    }
    return null;
  }

  async function own(token?: string): Promise<Described | null> {
    const text = await read(token);
    return text === null ? null : describe(text);
  }

  function documentOf(path: string, token: string | undefined): Promise<Described | null> {
    const ignored = /^\/(auth|users\/invite\/accept|server\/ping)(\/|$)/.test(path);
    const name = token === undefined || ignored ? 'public' : token === adminToken ? 'admin' : callerOf(token);
    const found = documents.get(name);
    if (found !== undefined) return found;
    const isStatic = changing === undefined && (name === 'public' || name === 'admin');
    const reading = isStatic ? compiled(name) : own(ignored ? undefined : token);
    documents.set(name, reading);
    // A token that is refused may be good later, and the token of another user of this role is another one.
    const forget = (): void => void documents.delete(name);
    reading.then((one) => one ?? forget(), forget);
    return reading;
  }

  return async function check({ target, method, headers, body, answer }) {
    const url = target.split('#')[0] ?? '';
    const mark = url.indexOf('?');
    const [path, query] = mark === -1 ? [url, ''] : [url.slice(0, mark), url.slice(mark + 1)];
    if (elsewhere.test(path) || method === 'OPTIONS' || isPage(answer)) return [];
    const described = await documentOf(path, tokenOf(headers, query));
    if (changing && method !== 'GET' && modelPaths.test(path)) documents.clear();
    const head = method === 'HEAD';
    if (described === null) return answer.status < 400 ? [] : judgeRefusal(answer, head);
    const { document, find, judge } = described;
    const found = find(method, path);
    if (found === null) return judgeRefusal(answer, head);
    const sent = { method, query, headers, body };
    const aliased = /alias/.test(`${query}${body ?? ''}`);
    return [
      ...judgeAnswer(judge, document, found, answer, { head, reading: aliased ? 'open' : 'closed' }),
      ...(answer.status < 300 ? judgeRequest(judge, document, found, sent) : []),
    ];
  };
}

/** What browsers are shown in the place of an answer. */
function isPage({ headers }: GivenAnswer): boolean {
  return headers.get('content-type')?.startsWith('text/html') ?? false;
}

/** Whose document it is: those of one role have the same, and a session has its role in its token. */
function callerOf(token: string): string {
  const [, payload = ''] = token.split('.');
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString());
    return `${String(member(claims, 'admin_access'))} ${String(member(claims, 'role'))}`;
  } catch {
    return `token ${token}`;
  }
}

function tokenOf(headers: Headers, query: string): string | undefined {
  const bearer = /^bearer +(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1];
  return bearer ?? (new URLSearchParams(query).get('access_token') || undefined);
}
