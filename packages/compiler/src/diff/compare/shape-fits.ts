/** True if every value of one type of a route is one of another. */
import type { ObjectShape, Shape, ShapeMember } from '@tablewright/runtime/language';

/** How values are looked at. */
export interface Fitting {
  /** True if an object may have no members but those of its type: inputs of routes are closed. */
  readonly closed: boolean;
  /** True for addresses: every value is a text, and one value is as good as a list of one. */
  readonly texts: boolean;
  /** True where one literal is as good as another of its kind. */
  readonly anyLiteral: boolean;
}

/**
 * True if every value of `inner` fits `outer`. It may be false for two equivalent types, and is never true for two that
 * do not fit.
 */
export function shapeFits(inner: Shape, outer: Shape, how: Fitting): boolean {
  if (outer.kind === 'json') return true;
  if (inner.kind === 'union') return inner.of.every((part) => shapeFits(part, outer, how));
  if (inner.kind === 'literal') {
    return inner.values.every((value) =>
      alternatives(outer).some((alternative) => literalFits(value, alternative, how)),
    );
  }
  return alternatives(outer).some((alternative) => oneFits(inner, alternative, how));
}

function alternatives(shape: Shape): readonly Shape[] {
  return shape.kind === 'union' ? shape.of : [shape];
}

function literalFits(value: string | number | boolean, outer: Shape, how: Fitting): boolean {
  if (outer.kind === 'literal') {
    return outer.values.some((literal) => literal === value || (how.anyLiteral && typeof literal === typeof value));
  }
  if (how.texts && outer.kind === 'array') return shapeFits({ kind: 'literal', values: [value] }, outer.of, how);
  return outer.kind === 'json' || outer.kind === typeof value || (how.texts && outer.kind === 'string');
}

function oneFits(inner: Exclude<Shape, { kind: 'literal' | 'union' }>, outer: Shape, how: Fitting): boolean {
  if (outer.kind === 'json') return true;
  if (inner.kind === 'array') return outer.kind === 'array' && shapeFits(inner.of, outer.of, how);
  if (inner.kind === 'object') return outer.kind === 'object' && objectFits(inner, outer, how);
  if (how.texts && outer.kind === 'array') return shapeFits(inner, outer.of, how);
  if (inner.kind === 'boolean' && outer.kind === 'literal')
    return [true, false].every((value) => outer.values.includes(value));
  if (inner.kind === outer.kind) return true;
  // A time is a text, and so is every value of an address.
  return outer.kind === 'string' && (inner.kind === 'date' || (how.texts && inner.kind !== 'json'));
}

function objectFits(inner: ObjectShape, outer: ObjectShape, how: Fitting): boolean {
  const innerMembers = new Map(inner.members.map((member) => [member.name, member]));
  const names = new Set(outer.members.map(({ name }) => name));
  const others = [...inner.members.filter(({ name }) => !names.has(name)).map(({ shape }) => shape)];
  const loose = inner.rest === undefined ? others : [...others, inner.rest];
  return (
    outer.members.every((member) => memberFits(innerMembers.get(member.name), inner.rest, member, how)) &&
    loose.every((shape) => (outer.rest === undefined ? !how.closed : shapeFits(shape, outer.rest, how)))
  );
}

function memberFits(
  inner: ShapeMember | undefined,
  rest: Shape | undefined,
  outer: ShapeMember,
  how: Fitting,
): boolean {
  if (inner === undefined) return canBeAbsent(outer, how) && (rest === undefined || shapeFits(rest, outer.shape, how));
  return shapeFits(inner.shape, outer.shape, how) && (!canBeAbsent(inner, how) || canBeAbsent(outer, how));
}

/** In an address a list without elements is not there. */
function canBeAbsent({ optional, shape }: ShapeMember, { texts }: Fitting): boolean {
  return optional === true || (texts && shape.kind === 'array');
}
