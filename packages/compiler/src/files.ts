/** Facts about generated files without their compiler, which takes longer to load. */

export type { ClientPackages } from './client/package-name.ts';
export { type GeneratedFile, longFile, plannedFile } from './emit/generated-file.ts';
export { type Chunk, joinChunks } from './print/chunks.ts';
export { printJson } from './print/json.ts';
