/** The checks of `platform doctor --production`, as the command runs them. */
import { checks, strictFindings } from '../../packages/cli/src/doctor/production/checks.ts';
import { code, sentence, table } from './markdown.ts';

/** Every check with what it finds. */
export function printProductionChecks(): string {
  const strict = strictFindings.map((finding) => ({ ...finding, severity: 'problem' }));
  const rows = [...checks, ...strict].map((check) => [code(check.code), check.severity, sentence(check.title)]);
  return table(['Code', 'Severity', 'Finds'], rows);
}
