/** Connections: the selection of a page as a selection of its rows, and the rows as the value of a connection. */

import { type GraphQLObjectType, getNamedType, isObjectType } from 'graphql';
import { ByteWriter, giveBack } from '../json/byte-writer.ts';
import { int32 } from '../json/bytes.ts';
import { createTranscoder, type Transcoder } from '../json/transcode.ts';
import { derivedOnce } from '../language/values/once.ts';
import { afterColumn } from '../query/answer.ts';
import { type CursorPlan, writeCursor } from '../query/parse/cursor.ts';
import type { ReadPlan } from '../query/plan/plan.ts';
import type { CollectionScope } from '../sql/scope.ts';
import { type CollectedField, collectFields, type Sets } from './compile/collect.ts';
import { type Compiling, compileSelection, constantOf, setsOf, unknownName } from './compile/compile-selection.ts';
import type { PartTemplate } from './compile/selection-template.ts';
import type { CollectedRows } from './spliced.ts';

/** Fields of items that stand in one object: those of the selection from `from` on. */
interface NodeFields {
  readonly from: number;
  readonly count: number;
}

type EdgeMember =
  | { readonly kind: 'cursor'; readonly key: string }
  | { readonly kind: 'node'; readonly key: string; readonly node: NodeFields }
  | { readonly kind: 'constant'; readonly key: string; readonly json: string };

type PageMember =
  | { readonly kind: 'page'; readonly key: string; readonly name: string }
  | Extract<EdgeMember, { kind: 'constant' }>;

/** A response name of a connection. */
type ConnectionPart =
  | { readonly kind: 'edges'; readonly key: string; readonly members: readonly EdgeMember[] }
  | { readonly kind: 'nodes'; readonly key: string; readonly node: NodeFields }
  | { readonly kind: 'count'; readonly key: string }
  | { readonly kind: 'info'; readonly key: string; readonly members: readonly PageMember[] }
  | Extract<EdgeMember, { kind: 'constant' }>;

export function compileConnection(to: Compiling, collection: CollectionScope, type: GraphQLObjectType, sets: Sets) {
  const items: PartTemplate[] = [];

  function nodeOf(parent: GraphQLObjectType, field: CollectedField): NodeFields {
    const { parts } = compileSelection(to, typeIn(parent, field), setsOf(field));
    const from = items.length;
    items.push(...parts);
    return { from, count: parts.length };
  }

  function edgeMember(parent: GraphQLObjectType, field: CollectedField): EdgeMember {
    const { key, name } = field;
    if (name === 'cursor') return { kind: 'cursor', key };
    return name === 'node' ? { kind: 'node', key, node: nodeOf(parent, field) } : constantIn(parent, field);
  }

  const parts = collectFields(to, type, sets).map((field): ConnectionPart => {
    const { key, name } = field;
    if (name === 'totalCount') return { kind: 'count', key };
    if (name === 'nodes') return { kind: 'nodes', key, node: nodeOf(type, field) };
    if (name !== 'edges' && name !== 'pageInfo') return constantIn(type, field);
    const inner = typeIn(type, field);
    const fields = collectFields(to, inner, setsOf(field));
    if (name === 'edges') return { kind: 'edges', key, members: fields.map((member) => edgeMember(inner, member)) };
    const members = fields.map(
      (member): PageMember =>
        member.name === '__typename' ? constantIn(inner, member) : { kind: 'page', key: member.key, name: member.name },
    );
    return { kind: 'info', key, members };
  });
  return {
    /** The fields of all nodes, one after the other. */
    items: { collection, parts: items },
    parts,
  };
}

function typeIn(parent: GraphQLObjectType, { name }: CollectedField): GraphQLObjectType {
  const type = getNamedType(parent.getFields()[name]?.type);
  if (!isObjectType(type)) throw unknownName(name);
  return type;
}

function constantIn(parent: GraphQLObjectType, field: CollectedField): Extract<EdgeMember, { kind: 'constant' }> {
  const constant = constantOf(parent, field);
  if (constant === undefined) throw unknownName(field.name);
  return constant;
}

/** Makes what collects the rows of a page of at most `size` items, between two texts. */
export type CreateConnection = (plan: ReadPlan, size: number, prefix?: Buffer, suffix?: Buffer) => CollectedRows;

export function createConnections(parts: readonly ConnectionPart[]): CreateConnection {
  const layoutOf = derivedOnce((plan: ReadPlan) => parts.map((part) => layPartOut(part, plan)));
  return (plan, size, prefix, suffix) => new ConnectionRows(plan, layoutOf(plan), size, prefix, suffix);
}

/** A part, with what writes an element of it where it is a list. */
interface PartLayout {
  readonly part: ConnectionPart;
  readonly start: Buffer;
  readonly segments: readonly Segment[];
}

/** Part of an element: a text, the cursor, or an object of fields after so many columns. */
type Segment =
  | { readonly kind: 'text'; readonly text: Buffer }
  | { readonly kind: 'cursor' }
  | { readonly kind: 'node'; readonly skip: number; readonly transcode: Transcoder };

function layPartOut(part: ConnectionPart, plan: ReadPlan): PartLayout {
  const start = Buffer.from(`${JSON.stringify(part.key)}:`);
  if (part.kind === 'nodes') return { part, start, segments: [nodeSegment(part.node, plan)] };
  if (part.kind !== 'edges') return { part, start, segments: [] };
  const segments = part.members.flatMap((member, index): readonly Segment[] => {
    const name = `${index === 0 ? '{' : ','}${JSON.stringify(member.key)}:`;
    if (member.kind === 'constant') return [textSegment(name + member.json)];
    return [textSegment(name), member.kind === 'cursor' ? { kind: 'cursor' } : nodeSegment(member.node, plan)];
  });
  return { part, start, segments: [...segments, textSegment(part.members.length === 0 ? '{}' : '}')] };
}

function textSegment(text: string): Segment {
  return { kind: 'text', text: Buffer.from(text) };
}

function nodeSegment({ from, count }: NodeFields, { fields }: ReadPlan): Segment {
  const skip = fields.slice(0, from).filter(({ shape }) => shape.kind !== 'constant').length;
  return { kind: 'node', skip, transcode: createTranscoder(fields.slice(from, from + count)) };
}

class ConnectionRows implements CollectedRows {
  items = 0;
  readonly #plan: ReadPlan;
  readonly #layout: readonly PartLayout[];
  readonly #size: number;
  readonly #prefix: Buffer;
  readonly #suffix: Buffer;
  readonly #out = new ByteWriter();
  /** Bounds of elements in what was written, of each part in turn: where each begins and ends. */
  readonly #elements: { readonly from: number; readonly to: number }[][];
  #count = '0';
  #first: readonly (string | null)[] = [];
  #last: readonly (string | null)[] = [];
  #more = false;
  #ended: Buffer | undefined;

  constructor(
    plan: ReadPlan,
    layout: readonly PartLayout[],
    size: number,
    prefix: Buffer = nothing,
    suffix: Buffer = nothing,
  ) {
    this.#plan = plan;
    this.#layout = layout;
    this.#size = size;
    this.#prefix = prefix;
    this.#suffix = suffix;
    this.#elements = layout.map(() => []);
  }

  get bytes(): number {
    return this.#ended?.length ?? this.#out.length;
  }

  row(buffer: Buffer, offset: number): void {
    const { cursor, meta } = this.#plan;
    let position = offset;
    if (meta.length > 0) {
      this.#count = String(buffer.readBigInt64BE(position + 4));
      position = afterColumn(buffer, position);
      const present = int32(buffer, position) > 0 && buffer[position + 4] !== 0;
      if (!present) return;
      position = afterColumn(buffer, position);
    }
    if (this.items === this.#size) {
      this.#more = true;
      return;
    }
    const values = (cursor?.types ?? []).map(() => {
      const length = int32(buffer, position);
      const from = position + 4;
      position = afterColumn(buffer, position);
      return length < 0 ? null : buffer.toString('utf8', from, position);
    });
    if (this.items === 0) this.#first = values;
    this.#last = values;
    this.items += 1;
    for (const [index, { segments }] of this.#layout.entries()) {
      if (segments.length === 0) continue;
      const from = this.#out.length;
      for (const segment of segments) this.#write(segment, values, buffer, position);
      this.#elements[index]?.push({ from, to: this.#out.length });
    }
  }

  #write(segment: Segment, values: readonly (string | null)[], buffer: Buffer, offset: number): void {
    if (segment.kind === 'text') this.#out.append(segment.text);
    else if (segment.kind === 'cursor') this.#out.append(Buffer.from(this.#cursorOf(values)));
    else {
      let position = offset;
      for (let i = 0; i < segment.skip; i++) position = afterColumn(buffer, position);
      segment.transcode(buffer, position, this.#out);
    }
  }

  #cursorOf(values: readonly (string | null)[]): string {
    return JSON.stringify(writeCursor(this.#plan.cursor?.order ?? '', values));
  }

  end(): Buffer {
    this.#ended ??= this.#complete();
    return this.#ended;
  }

  #complete(): Buffer {
    const bytes = this.#out.takeBytes();
    const { cursor } = this.#plan;
    this.#out.append(this.#prefix);
    for (const [index, { part, start }] of this.#layout.entries()) {
      this.#out.append(index === 0 ? opening : comma);
      this.#out.append(start);
      if (part.kind === 'edges' || part.kind === 'nodes') this.#appendList(bytes, this.#elements[index] ?? [], cursor);
      else this.#out.append(Buffer.from(this.#valueOf(part, cursor)));
    }
    this.#out.append(closing);
    this.#out.append(this.#suffix);
    giveBack(bytes);
    return this.#out.takeBytes();
  }

  #appendList(
    bytes: Buffer,
    elements: readonly { readonly from: number; readonly to: number }[],
    cursor: CursorPlan | undefined,
  ): void {
    const ordered = cursor?.back ? elements.toReversed() : elements;
    this.#out.append(listStart);
    for (const [index, { from, to }] of ordered.entries()) {
      if (index > 0) this.#out.append(comma);
      this.#out.append(bytes.subarray(from, to));
    }
    this.#out.append(listEnd);
  }

  #valueOf(part: Exclude<ConnectionPart, { kind: 'edges' | 'nodes' }>, cursor: CursorPlan | undefined): string {
    if (part.kind === 'constant') return part.json;
    if (part.kind === 'count') return this.#count;
    const members = part.members.map((member) => `${JSON.stringify(member.key)}:${this.#infoOf(member, cursor)}`);
    return `{${members.join(',')}}`;
  }

  /** A reversed page has met its last item first. */
  #infoOf(member: PageMember, cursor: CursorPlan | undefined): string {
    if (member.kind === 'constant') return member.json;
    const back = cursor?.back === true;
    const bounded = cursor?.open === false;
    switch (member.name) {
      case 'hasNextPage':
        return String(back ? bounded : this.#more);
      case 'hasPreviousPage':
        return String(back ? this.#more : bounded);
      default:
        if (this.items === 0) return 'null';
        return this.#cursorOf((member.name === 'startCursor') === back ? this.#last : this.#first);
    }
  }
}

const nothing = Buffer.alloc(0);
const opening = Buffer.from('{');
const closing = Buffer.from('}');
const comma = Buffer.from(',');
const listStart = Buffer.from('[');
const listEnd = Buffer.from(']');
