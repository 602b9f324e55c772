/** Works something out when it is first asked for. */
export function once<Value>(work: () => Value): () => Value {
  let done: { readonly value: Value } | undefined;
  return () => {
    done ??= { value: work() };
    return done.value;
  };
}

/** Waits for both, also if one fails, so that nothing runs on after the error. */
export async function bothOf<One, Other>(first: Promise<One>, other: Promise<Other>): Promise<[One, Other]> {
  await Promise.allSettled([first, other]);
  return Promise.all([first, other]);
}
