import { type Reading, readList } from './values.ts';

/** Reads a list of http or https addresses without user, query and fragment. */
export function readUrls(text: string): Reading<readonly string[]> {
  const reading = readList(text);
  const wrong = 'value' in reading ? reading.value.find((address) => !isPlainUrl(address)) : undefined;
  return wrong === undefined
    ? reading
    : { problem: `has "${wrong}", which is no http or https address without user, query and fragment.` };
}

function isPlainUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || !/^https?:\/\//i.test(text) || text.includes('\\')) return false;
  return url.username === '' && url.password === '' && url.search === '' && url.hash === '';
}
