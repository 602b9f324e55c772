/** Additions: operators that compare geometries and vectors; `_within` and `_nwithin` of ranges are geometries' as well. */
import type { OperatorDefinition, OperatorFamily } from './definition.ts';

const comparisons: OperatorDefinition['comparisons'] = ['geometry'];
const shape: OperatorDefinition = { operand: 'value', comparisons };
const box: OperatorDefinition = { operand: 'box', comparisons };

export type SpatialOperator = '_intersects' | '_nintersects' | '_intersects_bbox' | '_nintersects_bbox' | '_near';

export const spatial: OperatorFamily<SpatialOperator> = {
  _intersects: { ...shape, excludes: ['_nintersects'] },
  _nintersects: shape,
  _intersects_bbox: { ...box, excludes: ['_nintersects_bbox'] },
  _nintersects_bbox: box,
  _near: { operand: 'near', comparisons: [...comparisons, 'vector'] },
};
