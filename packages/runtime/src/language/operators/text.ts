/** Operators of text. The forms with `i` ignore case, which depends on the language of the database. */
import type { OperatorDefinition, OperatorFamily } from './definition.ts';

const matching: Pick<OperatorDefinition, 'operand' | 'comparisons' | 'kinds' | 'needsExact'> = {
  operand: 'text',
  comparisons: ['text', 'list', 'inside'],
  kinds: ['text'],
  needsExact: true,
};

const contained = { ...matching, pattern: (text: string) => `%${text}%` };
const first = { ...matching, pattern: (text: string) => `${text}%` };
const last = { ...matching, pattern: (text: string) => `%${text}` };

export type TextOperator =
  | '_contains'
  | '_ncontains'
  | '_icontains'
  | '_starts_with'
  | '_nstarts_with'
  | '_istarts_with'
  | '_nistarts_with'
  | '_ends_with'
  | '_nends_with'
  | '_iends_with'
  | '_niends_with';

export const text: OperatorFamily<TextOperator> = {
  _contains: { ...contained, meets: (value, [part = '']) => value.includes(part), excludes: ['_ncontains'] },
  _ncontains: { ...contained, meets: (value, [part = '']) => !value.includes(part) },
  _icontains: contained,
  _starts_with: { ...first, meets: (value, [part = '']) => value.startsWith(part), excludes: ['_nstarts_with'] },
  _nstarts_with: { ...first, meets: (value, [part = '']) => !value.startsWith(part) },
  _istarts_with: { ...first, excludes: ['_nistarts_with'] },
  _nistarts_with: first,
  _ends_with: { ...last, meets: (value, [part = '']) => value.endsWith(part), excludes: ['_nends_with'] },
  _nends_with: { ...last, meets: (value, [part = '']) => !value.endsWith(part) },
  _iends_with: { ...last, excludes: ['_niends_with'] },
  _niends_with: last,
};

const empty: Pick<OperatorDefinition, 'operand' | 'comparisons' | 'distinguishes' | 'needsExact'> = {
  operand: 'flag',
  comparisons: ['text', 'list'],
  distinguishes: true,
  needsExact: true,
};

export const emptiness: OperatorFamily<'_empty' | '_nempty'> = {
  _empty: {
    ...empty,
    otherwise: '_nempty',
    holdsOnNull: true,
    meets: (value) => value === '',
    excludes: ['_nempty'],
  },
  _nempty: { ...empty, otherwise: '_empty', meets: (value) => value !== '' },
};

/** Regular expressions. */
export const regex: OperatorFamily<'_regex'> = {
  _regex: { operand: 'text', comparisons: ['text', 'list'], inRulesOnly: true },
};

/** Words of `search` where a collection has an index of them. No filter can name it: no type has it. */
export const wordSearch: OperatorFamily<'_words'> = {
  _words: { operand: 'text', comparisons: [], inRulesOnly: true },
};
