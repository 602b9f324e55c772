/** The options of `platform.config.ts`: the members of its type with their comments. */
import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { code, table } from './markdown.ts';

const file = new URL('../../packages/introspect/src/config/config.ts', import.meta.url);

/** One section for each interface, in the order of the file. */
export function printConfiguration(): string {
  const source = ts.createSourceFile('config.ts', readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  return source.statements
    .filter(ts.isInterfaceDeclaration)
    .map((declaration) => printInterface(declaration, source))
    .join('\n\n');
}

function printInterface(declaration: ts.InterfaceDeclaration, source: ts.SourceFile): string {
  const rows = declaration.members
    .filter(ts.isPropertySignature)
    .map((member) => [
      `${code(member.name.getText(source))}${member.questionToken === undefined ? ' (required)' : ''}`,
      code((member.type?.getText(source) ?? '').replaceAll('readonly ', '').replace(/^Readonly<(.*)>$/s, '$1')),
      commentOf(member),
    ]);
  const name = declaration.name.text;
  return [`### ${name}`, commentOf(declaration), table(['Option', 'Type', 'Meaning'], rows)].join('\n\n');
}

function commentOf(node: ts.Node): string {
  return ts
    .getJSDocCommentsAndTags(node)
    .flatMap(({ comment }) => (comment === undefined ? [] : [ts.getTextOfJSDocComment(comment) ?? '']))
    .join(' ')
    .replaceAll(/\s+/g, ' ');
}
