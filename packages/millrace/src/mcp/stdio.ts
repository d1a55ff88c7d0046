import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createFactory, type McpOptions } from './server.ts';

/** Serves one client on stdin and stdout until it closes stdin, or `stopped` resolves. */
export async function serveOnStdio(options: McpOptions, stopped: Promise<void>): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    process.stdin.once('end', resolve);
    process.stdin.once('close', resolve);
  });
  const handle = serveStdio(createFactory(options), {
    onerror: (error) => process.stderr.write(`millrace mcp: ${error.message}\n`),
  });
  await Promise.race([closed, stopped]);
  await handle.close();
}
