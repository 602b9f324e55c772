/** Circles of imports, types included: between files, and between rooms. */
import { dirname, join } from 'node:path/posix';
import ts from 'typescript';
import { nodesOf } from '../files.ts';
import type { Source } from './sources.ts';

/** Imports by name of the importing file or room. */
export type Graph = ReadonlyMap<string, ReadonlySet<string>>;

/** The files of one package that each file imports. */
export function fileGraph(sources: readonly Source[]): Graph {
  const paths = new Set(sources.map(({ path }) => path));
  return new Map(sources.map((source) => [source.path, new Set(importsOf(source).filter((path) => paths.has(path)))]));
}

/** The same between rooms: a room is a folder of `packages/<name>/src`; files that lie in none make a room each. */
export function roomGraph(files: Graph): Graph {
  const rooms = new Map<string, Set<string>>();
  for (const [path, targets] of files) {
    const room = roomOf(path);
    const found = rooms.get(room) ?? new Set();
    for (const target of targets) if (roomOf(target) !== room) found.add(roomOf(target));
    rooms.set(room, found);
  }
  return rooms;
}

/** Sets of names that reach each other, larger first (Tarjan's algorithm). */
export function circlesIn(graph: Graph): readonly (readonly string[])[] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const circles: string[][] = [];
  const visit = (name: string): number => {
    order.set(name, order.size);
    let low = order.size - 1;
    stack.push(name);
    for (const target of graph.get(name) ?? []) {
      if (!order.has(target)) low = Math.min(low, visit(target));
      else if (stack.includes(target)) low = Math.min(low, order.get(target) ?? low);
    }
    lowest.set(name, low);
    if (low === order.get(name)) {
      const circle = stack.splice(stack.indexOf(name));
      if (circle.length > 1) circles.push(circle.sort());
    }
    return low;
  };
  for (const name of graph.keys()) if (!order.has(name)) visit(name);
  return circles.sort((a, b) => b.length - a.length);
}

function roomOf(path: string): string {
  return path.split('/').slice(0, 4).join('/');
}

function importsOf({ path, tree }: Source): string[] {
  return nodesOf(tree).flatMap((node) => {
    const name = moduleOf(node);
    return name?.startsWith('.') ? [join(dirname(path), name)] : [];
  });
}

function moduleOf(node: ts.Node): string | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return textOf(node.moduleSpecifier);
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return textOf(node.argument.literal);
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
    return textOf(node.arguments[0]);
  return undefined;
}

function textOf(node: ts.Node | undefined): string | undefined {
  return node && ts.isStringLiteral(node) ? node.text : undefined;
}
