/**
 * The law of generated files: declarations and one-line calls. A decision taken in a generated file could not be fixed
 * by upgrading a package, and would have to be read again in every project.
 */
import ts from 'typescript';
import { nodesOf, parseSource, placeOf } from './files.ts';

/** What a generated file must not contain, each as `path:line what`. */
export function declarationViolations(path: string, text: string): string[] {
  return nodesOf(parseSource(path, text)).flatMap((node) => {
    const found = offence(node);
    return found ? [`${placeOf(node)} ${found}`] : [];
  });
}

const statements: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.IfStatement,
  ts.SyntaxKind.ForStatement,
  ts.SyntaxKind.ForInStatement,
  ts.SyntaxKind.ForOfStatement,
  ts.SyntaxKind.WhileStatement,
  ts.SyntaxKind.DoStatement,
  ts.SyntaxKind.SwitchStatement,
  ts.SyntaxKind.TryStatement,
  ts.SyntaxKind.ThrowStatement,
]);

const operators: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.AmpersandAmpersandToken,
  ts.SyntaxKind.BarBarToken,
  ts.SyntaxKind.QuestionQuestionToken,
  ts.SyntaxKind.AmpersandAmpersandEqualsToken,
  ts.SyntaxKind.BarBarEqualsToken,
  ts.SyntaxKind.QuestionQuestionEqualsToken,
  ts.SyntaxKind.QuestionDotToken,
]);

function offence(node: ts.Node): string | undefined {
  if (statements.has(node.kind)) return ts.SyntaxKind[node.kind];
  if (operators.has(node.kind)) return `operator ${node.getText()}`;
  if (ts.isConditionalExpression(node)) return 'operator ?:';
  if (ts.isFunctionLike(node) && 'body' in node && node.body && ts.isBlock(node.body)) return 'function body';
  if (node.kind === ts.SyntaxKind.AnyKeyword) return 'type any';
  if (ts.isNonNullExpression(node)) return 'assertion !';
  if (ts.isTypeAssertionExpression(node)) return 'assertion <T>';
  if (ts.isAsExpression(node) && !ts.isConstTypeReference(node.type)) return 'assertion as';
  if (ts.isSourceFile(node) && /@ts-(ignore|expect-error|nocheck)/.test(node.text)) return 'unchecked line';
  return undefined;
}
