/** How providers are asked: not for long, and for no more than an answer has. */
import type { CustomFetch } from 'openid-client';
import { unreachable } from './failures.ts';

/** Seconds that one answer may take, from the question to its last byte. */
export const timeoutSeconds = 5;

/** Bytes of the longest answer that is read. */
const longestAnswer = 1_048_576;

/** Asks a provider. Rejects with SERVICE_UNAVAILABLE where it cannot be reached, fails, or answers without end or sense. */
export const fetchBriefly: CustomFetch = async (url, options) => {
  try {
    const { body = null, signal = null, ...rest } = options;
    const response = await fetch(url, { ...rest, body, signal });
    if (response.status >= 500 || response.status === 429) throw new Error(`${response.status} for ${originOf(url)}`);
    const bytes = await readBytes(response);
    const { status, headers } = response;
    if (response.ok && /^application\/json\b/i.test(headers.get('content-type') ?? '')) JSON.parse(bytes.toString());
    return new Response(status === 204 || status === 304 ? null : bytes, { status, headers });
  } catch (error) {
    throw unreachable(error);
  }
};

/** The same, without a member of the answers. */
export function fetchWithout(member: string, ask: CustomFetch): CustomFetch {
  return async (url, options) => {
    const response = await ask(url, options);
    const result: unknown = await response
      .clone()
      .json()
      .catch(() => null);
    if (typeof result !== 'object' || result === null || !(member in result)) return response;
    const { status, headers } = response;
    const rest = Object.fromEntries(Object.entries(result).filter(([name]) => name !== member));
    return new Response(JSON.stringify(rest), { status, headers });
  };
}

async function readBytes(response: Response): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > longestAnswer) throw new Error(`More than ${longestAnswer} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** An address in a log must have no parameter. */
function originOf(url: string): string {
  return new URL(url).origin;
}
