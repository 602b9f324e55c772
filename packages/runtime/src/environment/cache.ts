/** Variables of shared caches in front of the server. Source: scale-out notes, section 8. */
import { readUrls } from './urls.ts';
import { type Read, type Reading, readNames } from './values.ts';

/** How shared caches are told of changes. */
export interface CacheEnvironment {
  /** CACHE_TAG_HEADER: header of answers, and of purges, that holds the tags. */
  readonly tagHeader: string;
  /** CACHE_PURGE_URL: addresses that are sent PURGE after changes. */
  readonly purgeUrls: readonly string[];
}

/** Reads the variables. */
export function readCache(read: Read): CacheEnvironment {
  return {
    tagHeader: read('CACHE_TAG_HEADER', readTagHeader, 'Surrogate-Key'),
    purgeUrls: read<readonly string[]>('CACHE_PURGE_URL', readUrls, []),
  };
}

/** Headers of answers that are something else. */
const taken = /^(?:content-.*|cache-control|vary|etag|set-cookie|connection|transfer-encoding|date|location)$/i;

function readTagHeader(text: string): Reading<string> {
  const reading = readNames('header names')(text);
  const [name = '', ...others] = 'value' in reading ? reading.value : [];
  const isName = name !== '' && others.length === 0 && !taken.test(name);
  return isName ? { value: name } : { problem: 'must be the name of a header that answers do not have otherwise.' };
}
