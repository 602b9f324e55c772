import { movedPlace } from '../yaml/moved.ts';
import type { PlacedName } from '../yaml/source.ts';
import type { PlacedValue, RuleSource } from './permission-document.ts';

/** The rules of one role for another one, whose text is the same so many lines below. */
export function repeatRules(rules: readonly RuleSource[], role: PlacedName, lines: number): readonly RuleSource[] {
  const name = ({ name, place: location }: PlacedName): PlacedName => ({ name, place: movedPlace(location, lines) });
  const value = (placed: PlacedValue): PlacedValue => ({
    ...placed,
    place: movedPlace(placed.place, lines),
    lines: placed.lines + lines,
  });
  return rules.map((like) => ({
    role,
    collection: name(like.collection),
    action: like.action,
    place: movedPlace(like.place, lines),
    fields: like.fields?.map(name) ?? null,
    filter: like.filter && value(like.filter),
    validation: like.validation && value(like.validation),
    presets: like.presets.map((preset) => ({ field: name(preset.field), value: value(preset.value) })),
    like,
  }));
}
