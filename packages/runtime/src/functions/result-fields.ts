/** Fields of what functions give. */
import type { Shape, ShapeField } from '../json/shape.ts';
import type { ResultMember } from '../language/index.ts';

/** The field of a member of a result. */
export function fieldOf(member: ResultMember): ShapeField {
  return { key: member.name, shape: shapeOf(member, false) };
}

/** The shape of a value, or of a list of them. */
export function shapeOf({ wire }: ResultMember, many: boolean | undefined): Shape {
  if (many === true || wire.array === true) return { kind: 'array', element: wire.kind };
  return { kind: 'scalar', wire: wire.kind };
}
