/** Waits for both, also if one fails, so that nothing runs on after the error. */
export async function bothOf<One, Other>(first: Promise<One>, other: Promise<Other>): Promise<[One, Other]> {
  await Promise.allSettled([first, other]);
  return Promise.all([first, other]);
}
