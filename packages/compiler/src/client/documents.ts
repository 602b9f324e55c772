/** GraphQL operations of roles → typed document nodes, for whoever prefers GraphQL. */
import type { JsonValue } from '@platform/runtime/contract';
import type { CheckedOperation } from '../documents/check-documents.ts';
import type { GeneratedFile } from '../emit/emit-files.ts';
import type { Render } from '../emit/templates.ts';
import type { TypeDeclaration } from '../print/declaration.ts';
import { printDeclarations } from '../print/declarations.ts';
import { printImports } from '../print/imports.ts';
import { commentText } from '../print/text.ts';
import { generic, printTyped } from '../print/type.ts';
import { data, printOpen } from '../print/value.ts';

/**
 * Typed document nodes of the operations that a role asks, below `client/<class>/documents/`: for Apollo, urql and others
 * that take `TypedDocumentNode`.
 */
export function emitRoleDocuments(operations: readonly CheckedOperation[], render: Render): readonly GeneratedFile[] {
  const byRole = [...Map.groupBy(operations, ({ accessClass, role }) => `client/${accessClass}/documents/${role}`)];
  return byRole.flatMap(([path, same]) => {
    const about = commentText(`What ${same[0]?.role} asks by GraphQL.`);
    const sorted = same.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    const inputs = new Map(sorted.flatMap(({ types }) => types.inputs.map((one) => [one.name, one] as const)));
    const types = sorted.flatMap(({ name, types: { result, variables } }): readonly TypeDeclaration[] => [
      { kind: 'alias', name: `${name}Result`, notes: [`What \`${name}\` answers.`], type: result },
      { kind: 'alias', name: `${name}Variables`, notes: [`What \`${name}\` takes.`], type: variables },
    ]);
    const nodes = sorted.map(({ name }) => {
      const start = `export declare const ${name}Document`;
      const type = generic('TypedDocumentNode', `${name}Result`, `${name}Variables`);
      return `${start}${printTyped(start, ':', type, 0)};\n`;
    });
    const scripts = sorted.map(({ name, document }) => {
      return `export const ${name}Document = ${printOpen(data(withoutPlaces(document)), 0)};\n`;
    });
    const imports = printImports([{ from: '@graphql-typed-document-node/core', names: ['type TypedDocumentNode'] }]);
    const declarations = [printDeclarations([...inputs.values(), ...types]), ...nodes].join('\n');
    return [
      { path: `${path}.d.ts`, contents: render('clientCollection', { about, imports, declarations }) },
      {
        path: `${path}.js`,
        contents: render('clientCollection', { about, imports: '', declarations: scripts.join('\n') }),
      },
    ];
  });
}

/** A node as data: where it stood in a file is nobody's business. */
function withoutPlaces(document: CheckedOperation['document']): JsonValue {
  return JSON.parse(JSON.stringify(document, (name, value) => (name === 'loc' ? undefined : value)));
}
