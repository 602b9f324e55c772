/** Facts about generated files without their compiler, which takes longer to load. */
export type { ClientPackages } from './client/package-name.ts';
export { type GeneratedFile, longFile, plannedFile } from './emit/generated-file.ts';
export { type Archive, type Archived, type ArchivedQuestion, partOfMaker } from './memory/archive.ts';
export { printJson } from './print/json.ts';
export { joinPieces, type Piece } from './print/pieces.ts';
