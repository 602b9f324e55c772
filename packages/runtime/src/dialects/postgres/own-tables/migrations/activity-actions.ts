import type { MigrationTexts } from '../../../../system/migration.ts';

const before = ['create', 'update', 'delete', 'revert', 'comment', 'upload', 'login'];

const allow = (actions: readonly string[]): string => `ALTER TABLE platform_activity
  DROP CONSTRAINT platform_activity_action_check,
  ADD CONSTRAINT platform_activity_action_check
    CHECK (action IN (${actions.map((action) => `'${action}'`).join(', ')}));`;

/** Activity takes items that were archived, and calls of functions. */
export const activityActions: MigrationTexts = {
  up: `
${allow([...before, 'archive', 'call'])}
`,
  down: `
UPDATE platform_activity SET action = 'delete' WHERE action = 'archive';
DELETE FROM platform_activity WHERE action = 'call';
${allow(before)}
`,
};
