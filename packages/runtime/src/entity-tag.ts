/** Entity tags of answers: weak, made of their bytes. Source: API specification, section 17; RFC 9110, section 8.8.3. */
import { hash } from 'node:crypto';

export function entityTag(body: Buffer): string {
  return `W/"${hash('sha1', body, 'base64url')}"`;
}

/** True if a list of tags, as `If-Match` and `If-None-Match` have it, contains the tag or is `*`. Compares weakly. */
export function matchesTag(header: string, tag: string): boolean {
  return header.trim() === '*' || header.split(',').some((candidate) => isTag(candidate, tag));
}

function isTag(candidate: string, tag: string): boolean {
  return candidate.trim().replace(/^W\//, '') === tag.slice(2);
}
