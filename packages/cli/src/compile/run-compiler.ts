import type { CompileOptions, CompileResult, GeneratedFile } from '@tablewright/compiler/compile';
import type { Schema } from '@tablewright/introspect/schema';

/** Work on files while others are still being made. It is not awaited, so it has to report its result itself. */
export type Meanwhile = (files: readonly GeneratedFile[]) => Promise<void>;

/** Compiles a schema. The compiler is loaded when it is needed. */
export async function runCompiler(
  schema: Schema,
  options: CompileOptions,
  meanwhile: Meanwhile = async () => undefined,
): Promise<CompileResult> {
  const { compile } = await import('@tablewright/compiler/compile');
  const described = (file: GeneratedFile): void => void meanwhile([file]).catch(() => undefined);
  return compile(schema, { ...options, described });
}
