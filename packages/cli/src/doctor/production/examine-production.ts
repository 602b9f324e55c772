/** Findings about a server that is to be used: settings, files and database. */
import type { Project } from '../../project/project.ts';
import type { Finding } from '../../sources/finding.ts';
import { runChecks } from './check.ts';
import { checks, strictFindings } from './checks.ts';
import { type ExaminedFacts, productionFacts } from './facts.ts';

/** Adds them to the findings of every doctor, of which some are problems now. */
export async function examineProduction(
  project: Project,
  findings: readonly Finding[],
  examined: ExaminedFacts,
): Promise<readonly Finding[]> {
  const facts = await productionFacts(project, examined);
  return [...findings.map(strictly), ...runChecks(checks, facts)];
}

function strictly(finding: Finding): Finding {
  const strict = strictFindings.find(({ check }) => check === finding.check);
  return strict === undefined ? finding : { ...finding, check: strict.code, severity: 'problem' };
}
