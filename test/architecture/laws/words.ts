/** Words that the laws ban: names that are ours alone. */
import ts from 'typescript';
import { nodesOf, placeOf } from '../files.ts';
import type { Source } from './sources.ts';

/** Names of functions, classes, types and constants for which the field has a word (issue 26, table "Names"). */
const privateWords = new Set([
  ...['Desk', 'Ask', 'asked', 'wanted', 'Job', 'Work', 'Performer', 'perform', 'Portion', 'Scene', 'inScenes', 'Lead'],
  ...['leads', 'maker', 'echo', 'Warden', 'Judgement', 'judge', 'touched', 'overtaken', 'untilAhead', 'retold'],
  ...['returnedTree', 'filled', 'MakeTree', 'growTree', 'draftTree', 'settle', 'probe', 'postpone', 'mentions'],
  ...['several', 'gathered', 'merged', 'sharing', 'lane', 'fitness', 'flight', 'Member', 'spelled', 'unspelled'],
  ...['witness', 'script', 'need', 'give', 'make', 'take', 'Answerer', 'answer', 'Exchange', 'Admission', 'Sender'],
  ...['Carrier', 'Front', 'Gate', 'patience', 'complain', 'hearing', 'generation', 'Host', 'Sight', 'View', 'Surface'],
  ...['Shown', 'Seen', 'abilities', 'rights', 'pieces', 'layer', 'archive', 'memory', 'mark', 'crew', 'lookout'],
  ...['notices', 'upkeep', 'turns', 'rounds', 'sweep', 'rehearsal', 'columnless', 'unpopulated', 'tell', 'words'],
]);

/** Names of variables that do not say what they hold. */
const bareNames = new Set(['of', 'one', 'at', 'place', 'most', 'known', 'own', 'given', 'told', 'said']);

/** Words that no name has as a part: `askedItems`, `mostRows`. */
const privateParts = new Set([
  ...['asked', 'wanted', 'wants', 'tell', 'tells', 'telling', 'told', 'said', 'say', 'says', 'judge', 'judgement'],
  ...['shown', 'seen', 'several', 'gathered', 'filled', 'fills', 'spelled', 'rights', 'given', 'columnless', 'lead'],
  ...['unpopulated', 'leads', 'complain', 'echo', 'patience', 'gate', 'upkeep', 'turns', 'witness', 'admission'],
  ...['carrier', 'nobody', 'everybody', 'desk', 'desktop', 'job', 'front', 'overtaken', 'maker', 'merged', 'rehearsal'],
  ...['settle', 'crew', 'sweep', 'touched', 'portion', 'portions', 'most', 'abilities', 'sight'],
]);

/** Names that stay: released ones, those of the database, and `seen` and `shown` alone, which everybody understands. */
const acceptedNames = new Set([
  ...['seen', 'shown', 'Abilities', 'Given', 'Said', 'SharedRights', 'allRights', 'rights', 'filled'],
]);

/** Words of the list that a declaration still has as its name. */
export function privateNames(sources: readonly Source[]): readonly string[] {
  const used = new Map<string, string>();
  for (const { name, node } of declarationsIn(sources)) {
    const isWhole = privateWords.has(name) && !isMember(node);
    const hasPart = !acceptedNames.has(name) && partsOf(name).some((part) => privateParts.has(part));
    if (isWhole || hasPart) used.set(name, placeOf(node));
  }
  return [...used].map(([name, place]) => `${place} ${name}`);
}

/** Words of a name in camel case, small. */
function partsOf(name: string): readonly string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[ _]/);
}

/** Variables and parameters whose name does not say what they hold. */
export function bareVariables(sources: readonly Source[]): readonly string[] {
  return [...declarationsIn(sources)].flatMap(({ name, node }) =>
    bareNames.has(name) && (ts.isVariableDeclaration(node) || ts.isParameter(node) || ts.isBindingElement(node))
      ? [`${placeOf(node)} ${name}`]
      : [],
  );
}

function* declarationsIn(sources: readonly Source[]): Generator<{ readonly name: string; readonly node: ts.Node }> {
  for (const { tree } of sources) {
    for (const node of nodesOf(tree)) {
      if (isDeclaration(node) && node.name && ts.isIdentifier(node.name)) yield { name: node.name.text, node };
    }
  }
}

const memberKinds: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.PropertySignature,
  ts.SyntaxKind.MethodSignature,
  ts.SyntaxKind.PropertyDeclaration,
  ts.SyntaxKind.GetAccessor,
  ts.SyntaxKind.SetAccessor,
]);

const declarationKinds: ReadonlySet<ts.SyntaxKind> = new Set([
  ...memberKinds,
  ts.SyntaxKind.VariableDeclaration,
  ts.SyntaxKind.Parameter,
  ts.SyntaxKind.BindingElement,
  ts.SyntaxKind.FunctionDeclaration,
  ts.SyntaxKind.MethodDeclaration,
  ts.SyntaxKind.ClassDeclaration,
  ts.SyntaxKind.InterfaceDeclaration,
  ts.SyntaxKind.TypeAliasDeclaration,
]);

function isDeclaration(node: ts.Node): node is ts.Node & { readonly name?: ts.Node } {
  return declarationKinds.has(node.kind);
}

function isMember(node: ts.Node): boolean {
  return memberKinds.has(node.kind);
}
