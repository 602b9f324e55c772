/** Exports for commands that explain rules: plans of reads and writes, without the modules that serve. */

export { openDatabase } from './dialects/open.ts';
export { PlatformError } from './errors.ts';
export { type CallToExplain, type ExplainedCall, explainCall } from './explain/explain-call.ts';
export {
  type ExplainedRead,
  explainRead,
  planRead,
  type ReadableApi,
  type RefusedRead,
} from './explain/explain-read.ts';
export { type ExplainedWrite, explainWrite, type RefusedWrite, type RuleOfWrite } from './explain/explain-write.ts';
export type { SentStatement, WriteLimits, WriteToExplain } from './explain/try-write.ts';
export { createRowContexts } from './row-security/contexts.ts';
export { examineRowSecurity } from './row-security/examine.ts';
export { canPreset } from './write/access/scope.ts';
