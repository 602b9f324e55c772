export type { PlatformConfig } from '@tablewright/introspect/config';
export { defineConfig } from '@tablewright/introspect/config';
