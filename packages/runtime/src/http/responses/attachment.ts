/** How a list is announced: as JSON, or as a file to keep. Source: API specification, section 5.6; RFC 6266. */
import type { ReadPlan } from '../../query/plan/plan.ts';
import { type Content, mediaTypes } from './answer.ts';

const json: Content = { type: mediaTypes.json };

/** Type and headers of the answer to a plan. */
export function contentOf({ exported }: ReadPlan): Content {
  if (exported === undefined) return json;
  return {
    type: mediaTypes[exported.format],
    headers: ['Content-Disposition', disposition('attachment', `${exported.name}.${exported.format}`)],
  };
}

/**
 * The plain name for every client, with `_` for characters that it cannot express, and the whole one for those that
 * read RFC 8187.
 */
export function disposition(kind: 'attachment' | 'inline', name: string): string {
  const file = name.toWellFormed();
  const plain = file.replace(/[^\w .()+-]/g, '_');
  const whole = plain === file ? '' : `; filename*=UTF-8''${encode(file)}`;
  return `${kind}; filename="${plain}"${whole}`;
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(/['()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);
}
