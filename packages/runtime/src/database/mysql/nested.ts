export const nestedColumn = 'platform: nested';
