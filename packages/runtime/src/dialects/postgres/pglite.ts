/** Extensions of the embedded database that are installed beside it. */

/** An extension, without the types of its package: those need types of Emscripten, which projects do not have. */
interface EmbeddedExtension {
  readonly name: string;
  setup(...parameters: unknown[]): Promise<object>;
}

/** Finds the extensions: vectors, where a project has installed them. */
export async function embeddedExtensions(): Promise<Record<string, EmbeddedExtension>> {
  try {
    const { vector } = await import('@electric-sql/pglite-pgvector');
    return { vector };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND') return {};
    throw error;
  }
}
