/** A comparison as text, as Markdown for a pull request, as JSON and as SARIF. Ends with a line break. */
import { type Change, type Severity, type Surface, surfaces } from './change.ts';
import { type Diff, ruleIds } from './diff-schemas.ts';
import type { Rename } from './renames.ts';
import { rules } from './rules.ts';

/** What a comparison can be printed as. */
export const diffFormats = ['text', 'markdown', 'json', 'sarif'] as const;

/** One of `diffFormats`. */
export type DiffFormat = (typeof diffFormats)[number];

/** What is printed beside the changes. */
export interface DiffLabels {
  /** What was compared: `HEAD`, `database`, a file. */
  readonly from: string;
  readonly to: string;
  /** Names of changes, as `changeName` has them, that somebody has agreed to. */
  readonly acknowledged: ReadonlySet<string>;
}

/** By what a change is acknowledged: `field-removed articles.title`. */
export function changeName({ rule, subject }: Pick<Change, 'rule' | 'subject'>): string {
  return `${rule} ${subject}`;
}

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

/** How many changes there are of each severity. */
export function countChanges({ changes }: Diff): Readonly<Record<Severity, number>> {
  const count = (severity: Severity): number => changes.filter((one) => one.severity === severity).length;
  return { breaking: count('breaking'), dangerous: count('dangerous'), safe: count('safe') };
}

const names: Readonly<Record<Surface, string>> = {
  rest: 'REST',
  openapi: 'OpenAPI',
  graphql: 'GraphQL',
  client: 'client',
};

/** Operations that are listed; the rest is counted. */
const operationsShown = 6;

function printText(diff: Diff, labels: DiffLabels): string {
  const blocks = diff.changes.map((change) => {
    const { severity, subject, rule, roles, message, operations } = change;
    const shown = operations.slice(0, operationsShown).join(', ');
    const more = operations.length > operationsShown ? ` and ${operations.length - operationsShown} more` : '';
    const lines = [
      `${severity.padEnd(9)}  ${visible(subject)}  ${rule}${isAcknowledged(change, labels) ? '  (acknowledged)' : ''}`,
      `           ${visible(message)} ${rules[rule].reason}`,
      `           for ${visible(roles.join(', '))}: ${verdictText(change)}`,
      ...(operations.length > 0 ? [`           ${visible(shown)}${more}`] : []),
    ];
    return `${lines.join('\n')}\n`;
  });
  return [...blocks, ...diff.renames.map((one) => `${renameText(one)}\n`), `${summary(diff, labels)}\n`].join('');
}

function verdictText({ verdicts, rights }: Change): string {
  const told = surfaces.flatMap((surface) => (verdicts[surface] ? [`${names[surface]} ${verdicts[surface]}`] : []));
  const all = [...told, ...(rights === undefined ? [] : [`rights ${rights}`])];
  return all.length === 0 ? 'nothing that a client sees' : all.join(', ');
}

function renameText({ from, to, certain }: Rename): string {
  return `renamed    ${visible(from)} to ${visible(to)}${certain ? '' : ' (a guess: --no-guess takes it for removed and new)'}`;
}

function summary(diff: Diff, { from, to, acknowledged }: DiffLabels): string {
  const { breaking, dangerous, safe } = countChanges(diff);
  const agreed = diff.changes.filter((change) => isAcknowledged(change, { acknowledged })).length;
  return (
    `From ${visible(from)} to ${visible(to)}: ${breaking} breaking, ${dangerous} dangerous, ${safe} safe` +
    `${agreed > 0 ? `; ${agreed} acknowledged` : ''}.`
  );
}

function isAcknowledged(change: Change, { acknowledged }: Pick<DiffLabels, 'acknowledged'>): boolean {
  return acknowledged.has(changeName(change));
}

function printMarkdown(diff: Diff, labels: DiffLabels): string {
  const parts = (['breaking', 'dangerous', 'safe'] as const).flatMap((severity) => {
    const own = diff.changes.filter((change) => change.severity === severity);
    if (own.length === 0) return [];
    const rows = own.map((change) => markdownRow(change, labels));
    const table = [
      '| change | roles | REST | OpenAPI | GraphQL | client | rights |',
      '| --- | --- | --- | --- | --- | --- | --- |',
      ...rows,
    ];
    const heading = `### ${severity[0]?.toUpperCase()}${severity.slice(1)} (${own.length})`;
    // What nobody has to look at is folded.
    return severity === 'safe'
      ? ['<details>', `<summary>Safe (${own.length})</summary>`, '', ...table, '', '</details>', '']
      : [heading, '', ...table, ''];
  });
  const renames = diff.renames.map(
    ({ from, to, certain }) => `- ${code(from)} is ${code(to)} now${certain ? '' : ' (a guess)'}`,
  );
  return [
    '## API changes',
    '',
    summary(diff, { ...labels, from: code(labels.from), to: code(labels.to) }),
    '',
    ...parts,
    ...(renames.length > 0 ? ['Renamed:', '', ...renames, ''] : []),
  ].join('\n');
}

function markdownRow(change: Change, labels: DiffLabels): string {
  const { subject, rule, message, roles, verdicts, rights, operations } = change;
  const shown = operations.slice(0, operationsShown).map(code).join(', ');
  const more = operations.length > operationsShown ? ` and ${operations.length - operationsShown} more` : '';
  const said = `**${code(subject)}** ${plain(message)} ${rules[rule].reason}`;
  const cells = [
    `${said}${isAcknowledged(change, labels) ? ' _(acknowledged)_' : ''}<br>${code(rule)}${shown === '' ? '' : ` ${shown}${more}`}`,
    roles.map(code).join(', '),
    ...surfaces.map((surface) => verdicts[surface] ?? ''),
    rights ?? '',
  ];
  return `| ${cells.join(' | ')} |`;
}

function code(text: string): string {
  const shown = visible(text).replaceAll('|', '\\|');
  return shown.includes('`') ? `\`\` ${shown} \`\`` : `\`${shown}\``;
}

/** Names within a sentence stand in quotes, which become code; nothing else of it comes from outside. */
function plain(message: string): string {
  return visible(message)
    .replaceAll(/[\\`*_<>[\]#&]/g, (character) => `\\${character}`)
    .replaceAll('|', '\\|');
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

/** SARIF 2.1.0, which code hosts show beside a change. What is acknowledged is suppressed, not left out. */
function printSarif(diff: Diff, labels: DiffLabels): string {
  const used = new Set(diff.changes.map(({ rule }) => rule));
  const described = ruleIds().filter((id) => used.has(id));
  const results = diff.changes.map((change) => ({
    ruleId: change.rule,
    ruleIndex: described.indexOf(change.rule),
    level: levels[change.severity],
    message: { text: `${change.message} For ${change.roles.join(', ')}: ${verdictText(change)}.` },
    locations: [
      {
        physicalLocation: { artifactLocation: { uri: 'platform.schema.json' } },
        logicalLocations: [{ fullyQualifiedName: change.subject }],
      },
    ],
    partialFingerprints: { change: `${changeName(change)} ${change.roles.join(',')}` },
    ...(isAcknowledged(change, labels) && { suppressions: [{ kind: 'external', status: 'accepted' }] }),
  }));
  const driver = {
    name: 'platform diff',
    rules: described.map((id) => ({ id, shortDescription: { text: rules[id].reason } })),
  };
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [{ tool: { driver }, results }],
  };
  return `${JSON.stringify(log, null, 2)}\n`;
}

/** Names come from outside: control characters and what changes the direction of text must not reach a reader. */
function visible(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\p{Zl}\p{Zp}\u200b-\u200f\u202a-\u202e\u2066-\u2069]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}
