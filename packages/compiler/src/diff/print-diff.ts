/** A comparison as text, as Markdown for a pull request, as JSON and as SARIF. */
import { visible } from '@tablewright/introspect';
import { type Diff, ruleIds } from './diff-schemas.ts';
import type { Rename } from './renames.ts';
import { type ApiSurface, type Change, rules, type Severity, surfaces } from './rules.ts';

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

/** Code hosts refuse a comment that is longer than 65536 characters; some are for headings and what is left out. */
const maxCharacters = 60_000;

/** Renames that are listed; the rest is counted. */
const maxRenames = 50;

/** Prints a comparison, the most severe changes first; where they are too many, the last ones are counted. */
function printMarkdown(diff: Diff, labels: DiffLabels): string {
  const rows = diff.changes.map((change) => markdownRow(change, labels));
  const shown = fitting(rows);
  const parts = (['breaking', 'dangerous', 'safe'] as const).flatMap((severity) => {
    const indexes = diff.changes.flatMap((change, index) => (change.severity === severity ? [index] : []));
    if (indexes.length === 0) return [];
    const kept = indexes.filter((index) => index < shown);
    const table = [
      '| change | roles | REST | OpenAPI | GraphQL | client | rights |',
      '| --- | --- | --- | --- | --- | --- | --- |',
      ...kept.map((index) => rows[index] ?? ''),
    ];
    const left =
      indexes.length > kept.length ? [`${indexes.length - kept.length} more: the other formats list them.`, ''] : [];
    const heading = `${severity[0]?.toUpperCase()}${severity.slice(1)} (${indexes.length})`;
    const content = [...(kept.length > 0 ? [...table, ''] : []), ...left];
    // Safe changes are folded.
    return severity === 'safe'
      ? ['<details>', `<summary>${heading}</summary>`, '', ...content, '</details>', '']
      : [`### ${heading}`, '', ...content];
  });
  return [
    '## API changes',
    '',
    summary(diff, { ...labels, from: code(labels.from), to: code(labels.to) }),
    '',
    ...parts,
    ...renamesOf(diff),
  ].join('\n');
}

function renamesOf({ renames }: Diff): readonly string[] {
  if (renames.length === 0) return [];
  const lines = renames
    .slice(0, maxRenames)
    .map(({ from, to, certain }) => `- ${code(from)} is ${code(to)} now${certain ? '' : ' (a guess)'}`);
  const left = renames.length - lines.length;
  return ['Renamed:', '', ...lines, ...(left > 0 ? [`- ${left} more`] : []), ''];
}

/** Number of lines that there is room for. */
function fitting(rows: readonly string[]): number {
  let used = 0;
  const first = rows.findIndex((row) => {
    used += row.length + 1;
    return used > maxCharacters;
  });
  return first === -1 ? rows.length : first;
}

function markdownRow(change: Change, labels: DiffLabels): string {
  const { subject, rule, message, roles, verdicts, rights: permissions, operations } = change;
  const shown = operations.slice(0, maxOperations).map(code).join(', ');
  const more = operations.length > maxOperations ? ` and ${operations.length - maxOperations} more` : '';
  const sentence = `**${code(subject)}** ${plain(message)} ${rules[rule].reason}`;
  const cells = [
    `${sentence}${isAcknowledged(change, labels) ? ' _(acknowledged)_' : ''}<br>${code(rule)}${shown === '' ? '' : ` ${shown}${more}`}`,
    roles.map(code).join(', '),
    ...surfaces.map((surface) => verdicts[surface] ?? ''),
    permissions ?? '',
  ];
  return `| ${cells.join(' | ')} |`;
}

/** A code span cannot hold what ends it, nor a cell every bar; then each character is written by its number. */
function code(text: string): string {
  const shown = visible(text);
  if (!/[`|\\]/.test(shown)) return `\`${shown}\``;
  return `<code>${shown.replaceAll(/[^\p{L}\p{N} ]/gu, (character) => `&#${character.codePointAt(0) ?? 0};`)}</code>`;
}

/** No mark of Markdown takes effect in names and values, and hosts find no people, issues or addresses there. */
function plain(message: string): string {
  return visible(message)
    .replaceAll(/[\\`*_~<>[\]#&|]/g, (character) => `\\${character}`)
    .replaceAll(/@|#|www(?=\.)|:(?=\/\/)/gi, (character) => `${character}&#8203;`);
}

/** Context to print beside the changes. */
export interface DiffLabels {
  /** Sides of the comparison: `HEAD`, `database`, a file. */
  readonly from: string;
  readonly to: string;
  /** Names of acknowledged changes, as `changeName` prints them. */
  readonly acknowledged: ReadonlySet<string>;
  /** Path of the schema from the root of the repository, which is where code hosts look. Default: it lies there. */
  readonly file?: string;
  /** Version of the command, which SARIF names. Default: nothing is said. */
  readonly version?: string;
}

/** By what a change is acknowledged: `field-removed articles.title`, as the text form prints it. */
export function changeName({ rule, subject }: Pick<Change, 'rule' | 'subject'>): string {
  return `${rule} ${visible(subject)}`;
}

/** Numbers of changes by their severity. */
export function countChanges({ changes }: Diff): Readonly<Record<Severity, number>> {
  const count = (severity: Severity): number => changes.filter((change) => change.severity === severity).length;
  return { breaking: count('breaking'), dangerous: count('dangerous'), safe: count('safe') };
}

/** Operations that are listed; the rest is counted. */
const maxOperations = 6;

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
