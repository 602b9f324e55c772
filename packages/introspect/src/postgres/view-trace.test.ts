import { describe, expect, test } from 'vitest';
import { atomField, nodeField, nodesField, numberField, parseNodeTree, type TreeNode } from './view-trace.ts';

function node(text: string): TreeNode {
  const value = parseNodeTree(text);
  if (value === null || typeof value !== 'object' || !('tag' in value)) throw new Error('not a node');
  return value;
}

describe('parseNodeTree', () => {
  test('reads nodes, lists, atoms and nulls', () => {
    const tree = node('{A :list ({B :n 1} {B :n -2}) :none <> :inner {C :text word} :numbers (i 1 2)}');
    expect(tree.tag).toBe('A');
    expect(nodesField(tree, 'list').map((item) => numberField(item, 'n'))).toEqual([1, -2]);
    expect(tree.fields.get('none')).toBeNull();
    const inner = nodeField(tree, 'inner');
    expect(inner && atomField(inner, 'text')).toBe('word');
    expect(tree.fields.get('numbers')).toEqual(['i', '1', '2']);
  });

  test('reads over the bytes of a constant', () => {
    expect(numberField(node('{CONST :constvalue 4 [ 1 0 -1 0 ] :location 7}'), 'location')).toBe(7);
  });

  test.each([
    ['with\\ blank', 'with blank'],
    ['\\{\\(\\)\\}', '{()}'],
    ['\\<>', '<>'],
    ['back\\\\slash', 'back\\slash'],
    [':resno', ':resno'],
    ['line\\\nbreak', 'line\nbreak'],
    ['日本\\ 🙂', '日本 🙂'],
  ])('unescapes %j', (written, name) => {
    const tree = node(`{TARGETENTRY :resname ${written} :resno 2}`);
    expect([atomField(tree, 'resname'), numberField(tree, 'resno')]).toEqual([name, 2]);
  });

  test('ends with a text that breaks off', () => {
    expect(parseNodeTree('')).toBeNull();
    expect(node('{A :list ({B :n 1').tag).toBe('A');
  });

  test('reads no tree that nests deeper than a stack', () => {
    const nested = (times: number): string => `${'{A :a '.repeat(times)}1${'}'.repeat(times)}`;
    expect(parseNodeTree(nested(1_000))).not.toBeNull();
    expect(parseNodeTree(nested(1_001))).toBeNull();
    expect(parseNodeTree(nested(100_000))).toBeNull();
  });
});
