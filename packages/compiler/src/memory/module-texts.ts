/** Texts of generated modules, remembered as `remember.ts` does, also in an archive. */
import { textOfPiece } from '../print/pieces.ts';
import { createMemory } from './remember.ts';

/** What a module is made of. */
export interface ModuleText {
  readonly imports: string;
  readonly declarations: string;
}

/** Makes a memory of modules of one kind; no two have the same `maker`. */
export function createModuleMemory(maker: string) {
  return createMemory<ModuleText>({
    maker,
    texts: ({ imports, declarations }) => [imports, declarations],
    made: ([imports = '', declarations = '']) => ({
      imports: textOfPiece(imports),
      declarations: textOfPiece(declarations),
    }),
  });
}
