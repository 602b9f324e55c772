/** A comparison as text, as Markdown for a pull request, as JSON and as SARIF. Ends with a line break. */
import type { Change } from '../change.ts';
import { type Diff, ruleIds } from '../diff-schemas.ts';
import type { Rename } from '../renames.ts';
import { rules } from '../rules.ts';
import { type ApiSurface, type Severity, surfaces } from '../severity.ts';
import {
  changeName,
  countChanges,
  type DiffLabels,
  isAcknowledged,
  maxOperations,
  printMarkdown,
  summary,
  visible,
} from './print-markdown.ts';

/** Formats of a comparison. */
export const diffFormats = ['text', 'markdown', 'json', 'sarif'] as const;

/** One of `diffFormats`. */
export type DiffFormat = (typeof diffFormats)[number];

/** Prints a comparison. The same changes give the same bytes. */
export function printDiff(diff: Diff, format: DiffFormat, labels: DiffLabels): string {
  switch (format) {
    case 'text':
      return printText(diff, labels);
    case 'markdown':
      return printMarkdown(diff, labels);
    case 'json':
      return printJson(diff, labels);
    case 'sarif':
      return printSarif(diff, labels);
  }
}

/** Surfaces by the names that people give them. */
const names: Readonly<Record<ApiSurface, string>> = {
  rest: 'REST',
  openapi: 'OpenAPI',
  graphql: 'GraphQL',
  client: 'client',
};

function printText(diff: Diff, labels: DiffLabels): string {
  const blocks = diff.changes.map((change) => {
    const { severity, subject, rule, roles, message, operations } = change;
    const shown = operations.slice(0, maxOperations).join(', ');
    const more = operations.length > maxOperations ? ` and ${operations.length - maxOperations} more` : '';
    const lines = [
      `${severity.padEnd(9)}  ${visible(subject)}  ${rule}${isAcknowledged(change, labels) ? '  (acknowledged)' : ''}`,
      `           ${visible(message)} ${rules[rule].reason}`,
      `           for ${visible(roles.join(', '))}: ${verdictText(change)}`,
      ...(operations.length > 0 ? [`           ${visible(shown)}${more}`] : []),
    ];
    return `${lines.join('\n')}\n`;
  });
  return [...blocks, ...diff.renames.map((rename) => `${renameText(rename)}\n`), `${summary(diff, labels)}\n`].join('');
}

function verdictText({ verdicts, rights: permissions }: Change): string {
  const verdictTexts = surfaces.flatMap((surface) =>
    verdicts[surface] ? [`${names[surface]} ${verdicts[surface]}`] : [],
  );
  const all = [...verdictTexts, ...(permissions === undefined ? [] : [`rights ${permissions}`])];
  return all.length === 0 ? 'nothing that a client sees' : all.join(', ');
}

function renameText({ from, to, certain }: Rename): string {
  return `renamed    ${visible(from)} to ${visible(to)}${certain ? '' : ' (a guess: --no-guess takes it for removed and new)'}`;
}

function printJson(diff: Diff, labels: DiffLabels): string {
  const { from, to } = labels;
  const changes = diff.changes.map((change) => ({
    ...change,
    reason: rules[change.rule].reason,
    acknowledged: isAcknowledged(change, labels),
  }));
  return `${JSON.stringify({ from, to, ...countChanges(diff), changes, renames: diff.renames }, null, 2)}\n`;
}

const levels: Readonly<Record<Severity, string>> = { breaking: 'error', dangerous: 'warning', safe: 'note' };

/** SARIF 2.1.0, which code hosts show beside a change. Acknowledged changes are suppressed, not left out. */
function printSarif(diff: Diff, labels: DiffLabels): string {
  const used = new Set(diff.changes.map(({ rule }) => rule));
  const described = ruleIds().filter((id) => used.has(id));
  const uri = (labels.file ?? 'platform.schema.json').split('/').map(encodeURIComponent).join('/');
  const results = diff.changes.map((change) => ({
    ruleId: change.rule,
    ruleIndex: described.indexOf(change.rule),
    level: levels[change.severity],
    message: { text: withoutLinks(`${change.message} For ${change.roles.join(', ')}: ${verdictText(change)}.`) },
    locations: [
      {
        physicalLocation: { artifactLocation: { uri }, region: { startLine: 1 } },
        logicalLocations: [{ fullyQualifiedName: visible(change.subject) }],
      },
    ],
    partialFingerprints: { change: `${changeName(change)} ${change.roles.join(',')}` },
    ...(isAcknowledged(change, labels) && { suppressions: [{ kind: 'external', status: 'accepted' }] }),
  }));
  const driver = {
    name: 'platform diff',
    ...(labels.version !== undefined && { version: labels.version }),
    rules: described.map((id) => ({ id, shortDescription: { text: rules[id].reason } })),
  };
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [{ tool: { driver }, results }],
  };
  return `${JSON.stringify(log, null, 2)}\n`;
}

/** In a message of SARIF brackets before parentheses are a link. */
function withoutLinks(text: string): string {
  return visible(text).replaceAll('](', '] (');
}
