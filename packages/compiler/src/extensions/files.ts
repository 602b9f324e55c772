/** Files of extensions as ts-morph sees them: where their calls stand, and what they call the tools that they are given. */
import type { Diagnostic } from '@tablewright/introspect';
import type { CallExpression, Node, SourceFile } from 'ts-morph';
import { loadTsMorph } from '../print/libraries.ts';

/** Functions that `defineExtension` passes to register with. */
type Tool = 'before' | 'after' | 'afterCommit' | 'route';

const tools: readonly Tool[] = ['before', 'after', 'afterCommit', 'route'];

/** A call that registers something. */
interface Registration {
  readonly tool: Tool;
  readonly call: CallExpression;
}

/** The default export of a file as an expression, if it has one. */
export function exportedBy(file: SourceFile): Node | undefined {
  return file.getExportAssignment((assignment) => !assignment.isExportEquals())?.getExpression();
}

/** The function that registers: that of the call, or the one of the file that it names. */
export function registerOf(file: SourceFile): Node | undefined {
  const { Node } = loadTsMorph();
  const exported = exportedBy(file);
  const register = Node.isCallExpression(exported) ? exported.getArguments()[0] : undefined;
  if (!Node.isIdentifier(register)) return register;
  const name = register.getText();
  return file.getFunction(name) ?? file.getVariableDeclaration(name)?.getInitializer() ?? register;
}

/** The calls that register something, in the order of the text. */
export function registrationsIn(file: SourceFile): readonly Registration[] {
  const { Node } = loadTsMorph();
  const register = registerOf(file);
  if (register === undefined) return [];
  const named = toolNames(register);
  return register.getDescendants().flatMap((node) => {
    if (!Node.isCallExpression(node)) return [];
    const callee = node.getExpression();
    const tool = named.get(callee.getText());
    const root = Node.isPropertyAccessExpression(callee) ? callee.getExpression() : callee;
    return tool !== undefined && isParameter(root, register) ? [{ tool, call: node }] : [];
  });
}

/** Places where tools leave the sight of `registrationsIn`: they are passed on, or get another name. */
export function escapesIn(file: SourceFile): readonly Node[] {
  const { Node } = loadTsMorph();
  const register = registerOf(file);
  if (register === undefined) return [];
  if (!Node.isParametered(register)) return [register];
  const named = toolNames(register);
  const roots = new Set([...named.keys()].map((name) => name.split('.')[0]));
  return register.getDescendants().filter((node) => {
    const parent = node.getParent();
    if (Node.isBindingElement(node)) return parent === parameterOf(register) && node.getDotDotDotToken() !== undefined;
    if (!Node.isIdentifier(node) || !roots.has(node.getText()) || Node.isBindingElement(parent)) return false;
    const isShort = Node.isShorthandPropertyAssignment(parent);
    if (!isShort && parent && Node.hasName(parent) && parent.getNameNode() === node) return false;
    if (!isParameter(node, register)) return false;
    const value = named.has(node.getText()) ? node : parent;
    const call = value?.getParent();
    return !(Node.isCallExpression(call) && call.getExpression() === value && named.has(value.getText()));
  });
}

function parameterOf(register: Node): Node | undefined {
  const { Node } = loadTsMorph();
  return Node.isParametered(register) ? register.getParameters()[0]?.getNameNode() : undefined;
}

/** True if a name means the parameter of the function that registers; inner ones may have the same name. */
function isParameter(name: Node, register: Node): boolean {
  const { Node } = loadTsMorph();
  const parent = name.getParent();
  const symbol = Node.isShorthandPropertyAssignment(parent) ? parent.getValueSymbol() : name.getSymbol();
  const parameter = parameterOf(register);
  const isDeclared = (node: Node): boolean => node.getParent() === parameter || node === parameter?.getParent();
  return symbol?.getDeclarations().some(isDeclared) ?? false;
}

/** The tools by the expressions that mean them: `before`, a name it was given, or `tools.before`. */
function toolNames(register: Node): ReadonlyMap<string, Tool> {
  const { Node } = loadTsMorph();
  const name = parameterOf(register);
  if (name === undefined) return new Map();
  if (!Node.isObjectBindingPattern(name)) return new Map(tools.map((tool) => [`${name.getText()}.${tool}`, tool]));
  const elements = name.getElements().flatMap((element): [string, Tool][] => {
    const tool = tools.find(
      (candidate) => candidate === (element.getPropertyNameNode()?.getText() ?? element.getName()),
    );
    return tool === undefined ? [] : [[element.getName(), tool]];
  });
  return new Map(elements);
}

export function literalText(node: Node | undefined): string | undefined {
  const { Node } = loadTsMorph();
  return Node.isStringLiteral(node) || Node.isNoSubstitutionTemplateLiteral(node) ? node.getLiteralText() : undefined;
}

export function placeOf(node: Node, path: string): string {
  return placeAt(node.getSourceFile(), path, node.getStart());
}

export function placeAt(file: SourceFile, path: string, position: number): string {
  const { line, column } = file.getLineAndColumnAtPos(position);
  return `${path}:${line}:${column}`;
}

export function problem(code: string, location: string, message: string, hint: string): Diagnostic {
  return { code, severity: 'error', place: location, message: message.endsWith('.') ? message : `${message}.`, hint };
}

/** A file of the project with code that the server runs. */
export interface ExtensionSource extends ModuleSource {
  /** Module path in the import of generated code: `../extensions/orders.ts`. */
  readonly from: string;
}

/** A file of the project. */
export interface ModuleSource {
  /** As people know it, from the project's folder on and with `/` on every system: `extensions/orders.ts`. */
  readonly path: string;
  readonly text: string;
}
