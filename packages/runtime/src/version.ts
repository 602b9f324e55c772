import { readFileSync } from 'node:fs';

/** Name of a project that has none in its settings. The tables have the same default. */
export const productName = 'Tablewright';

/** Version of this package, from its own description. */
export function platformVersion(): string {
  const description: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const hasVersion = typeof description === 'object' && description !== null && 'version' in description;
  return hasVersion ? String(description.version) : 'unknown';
}
