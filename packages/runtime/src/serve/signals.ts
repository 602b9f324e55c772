/** Ends the process on signals. Source: API specification, section 16 (SHUTDOWN_TIMEOUT). */

const signals = ['SIGTERM', 'SIGINT'] as const;

/**
 * On the first SIGTERM or SIGINT stops the server and ends the process with code 0, or 1 when stopping failed. A second
 * signal ends it at once with code 1.
 */
export function stopOnSignals(stop: () => Promise<void>): void {
  let stopping = false;
  function onSignal(): void {
    if (stopping) process.exit(1);
    stopping = true;
    stop().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  }
  for (const signal of signals) process.on(signal, onSignal);
}
