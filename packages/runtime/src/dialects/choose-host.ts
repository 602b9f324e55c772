import { choosePrimary } from '../database/hosts/choose-primary.ts';
import { askProbe } from '../database/hosts/host-probe.ts';
import { fixedUrl, hostUrls } from '../environment/renewable-url.ts';
import { familyOf } from '../language/index.ts';
import { serverOfFamily } from './index.ts';

/**
 * The address of the host that takes writes, of an address with several; the first host where none does. For commands, which
 * end before it changes.
 * @example
 * const url = await chooseHost('scheme://user@a,b/database'); // scheme://user@b/database
 */
export async function chooseHost(list: string): Promise<string> {
  const urls = hostUrls(list);
  const [first = list] = urls;
  if (urls.length === 1) return first;
  const { createProbe } = serverOfFamily(familyOf(list));
  const probes = await Promise.all(urls.map((url) => createProbe(fixedUrl(url))));
  const facts = await Promise.all(probes.map(askProbe));
  for (const { reset } of probes) reset();
  const { index } = choosePrimary(facts, null, true);
  return urls[index ?? 0] ?? first;
}
