import type { PermissionDifference, PlainRule } from '@tablewright/introspect';

/** Prints differences for people: a line that begins with `-` for removed ones, with `+` for added ones. */
export function printDifferences(differences: readonly PermissionDifference[]): string {
  return differences.flatMap(linesOf).join('\n');
}

function linesOf(difference: PermissionDifference): readonly string[] {
  if (difference.kind === 'role') {
    const line = (role: NonNullable<typeof difference.before>): string =>
      `role ${role.name} ${JSON.stringify({ description: role.description, admin: role.admin, app: role.app })}`;
    return [
      ...(difference.before === null ? [] : [`- ${line(difference.before)}`]),
      ...(difference.after === null ? [] : [`+ ${line(difference.after)}`]),
    ];
  }
  return [
    ...difference.before.map((rule) => `- ${lineOf(rule)}`),
    ...difference.after.map((rule) => `+ ${lineOf(rule)}`),
  ];
}

/** Parts that say nothing are left out. */
function lineOf({ role, collection, action, fields, filter, validation, presets }: PlainRule): string {
  const parts = {
    ...(fields !== null && { fields }),
    ...(filter !== null && { filter }),
    ...(validation !== null && { validation }),
    ...(Object.keys(presets).length > 0 && { presets }),
  };
  return `${role} ${collection} ${action} ${JSON.stringify(parts)}`;
}
