/** A place in the configuration: `platform.config.ts: collections.articles.fields`. */
export function configPlace(...path: readonly (string | number)[]): string {
  const steps = path.map(pathStep).join('').replace(/^\./, '');
  return steps === '' ? 'platform.config.ts' : `platform.config.ts: ${steps}`;
}

function pathStep(step: string | number): string {
  if (typeof step === 'number') return `[${step}]`;
  return /^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
}
