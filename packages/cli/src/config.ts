export type { PlatformConfig } from '@platform/introspect/config';
export { defineConfig } from '@platform/introspect/config';
