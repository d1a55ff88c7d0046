export { serveOnHttp, type HttpOptions, type McpHttpServer } from './http.ts';
export type { Connection, McpOptions } from './server.ts';
export { serveOnStdio } from './stdio.ts';
