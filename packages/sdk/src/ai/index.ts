export { asTool, type AsToolOptions, type TaskTool } from './as-tool.ts';
export type { JsonSchema } from './schema.ts';
