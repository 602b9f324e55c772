/** Documents that were compiled with the API: a server may answer these and no others. */
import { hash } from 'node:crypto';
import { DocumentError } from './document-errors.ts';

/** Texts of documents by the SHA-256 of each, in lower-case hexadecimal digits. */
type DocumentManifest = Readonly<Record<string, string>>;

/** Document of a request, by its text or its hash; one of the two is there. */
interface NamedDocument {
  readonly query: string | null;
  readonly documentId: string | null;
}

/** Finds the text of a document. Throws INVALID_QUERY for one that is not to be answered. */
export type FindDocument = (requested: NamedDocument) => string;

/** Answers any document that is sent as text; a hash alone names none. */
export function anyDocument({ query }: NamedDocument): string {
  if (query === null) throw new DocumentError('No document is kept under this hash.');
  return query;
}

/** Answers those of a manifest, sent as text or named by their hash, with or without `sha256:` in front. */
export function trustedDocuments(manifest: DocumentManifest): FindDocument {
  const texts = new Map(Object.entries(manifest));
  return function find({ query, documentId }) {
    const id = query === null ? (documentId ?? '').replace(/^sha256:/, '') : hash('sha256', query);
    const text = texts.get(id);
    if (text === undefined) throw new DocumentError('The document is not one that this server answers.');
    return text;
  };
}
