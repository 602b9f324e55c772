/** Extensions of the embedded database that are installed beside it. */
import type { Extensions } from '@electric-sql/pglite';

/** Finds the extensions: vectors, where a project has installed them. */
export async function embeddedExtensions(): Promise<Extensions> {
  try {
    const { vector } = await import('@electric-sql/pglite-pgvector');
    return { vector };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND') return {};
    throw error;
  }
}
