/** `GET /api/v1/runs viewer`: method, path and least role of each operation; operations-plugin.ts makes it. */
declare module 'virtual:operations' {
  const operations: Readonly<Record<string, string>>;
  export default operations;
}
