import type { ApiCollection } from '../api.ts';
import type { ConstantDeclaration } from '../print/declaration.ts';

/** Declares the constant that states a collection's facts to the runtime. */
export function declareDescriptor({ names, descriptor, source }: ApiCollection): ConstantDeclaration {
  return {
    name: names.constant,
    notes: [`\`${descriptor.name}\`: ${source}.`],
    type: 'CollectionDescriptor',
    value: descriptor,
  };
}
