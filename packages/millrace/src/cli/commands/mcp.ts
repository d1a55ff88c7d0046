import { randomBytes } from 'node:crypto';
import { version } from '@millrace/platform';
import { Command, Option } from 'commander';
import { findServer, withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import { explainListen } from '../compose/listen-failure.ts';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { port } from '../options.ts';
import { printJson, screenOn } from '../screen.ts';
import { listenForStop } from '../stop-request.ts';

interface McpCommandOptions extends ConnectionOptions {
  readonly write?: boolean;
  readonly http?: boolean;
  readonly host: string;
  readonly port: number;
  readonly httpToken?: string;
  readonly allowHost: readonly string[];
  readonly json?: boolean;
}

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];
const minTokenLength = 16;

export const mcpCommand = (): Command =>
  withConnectionOptions(
    new Command('mcp')
      .description('run a Model Context Protocol server for agents')
      .option('--write', 'also enable the tools that trigger, replay, cancel and resolve')
      .option('--http', 'serve Streamable HTTP instead of stdin and stdout')
      .option('--host <address>', 'with --http: address to listen on', '127.0.0.1')
      .option('--port <port>', 'with --http: port to listen on, 0 for any free port', port, 4405)
      .addOption(
        new Option(
          '--http-token <token>',
          'with --http: bearer token for clients (default: a new random one)',
        ).env('MILLRACE_MCP_TOKEN'),
      )
      .option('--allow-host <name>', 'with --http: host name that clients use; repeatable', collect, [])
      .option('--json', 'with --http: print one line of JSON when ready: url, token'),
  ).action(async (options: McpCommandOptions) => {
    const mcp = await loadMcp();
    const { branch, write: canWrite = false } = options;
    const shared = { connect: () => findServer(options), branch, canWrite, version };
    const { requested } = listenForStop();
    if (!options.http) return mcp.serveOnStdio(shared, requested);
    const token = options.httpToken ?? randomBytes(24).toString('base64url');
    if (!/^[\x21-\x7e]+$/.test(token) || token.length < minTokenLength) {
      throw new CommandFailed(
        exitCodes.usage,
        `The token of --http-token (MILLRACE_MCP_TOKEN) must have at least ${minTokenLength} characters and no spaces.`,
      );
    }
    const { host, port: requestedPort, allowHost: allowedHosts } = options;
    const server = await mcp
      .serveOnHttp({ ...shared, host, port: requestedPort, token, allowedHosts })
      .catch((error: unknown) => {
        const sentence = explainListen(error as NodeJS.ErrnoException, host, requestedPort);
        throw sentence === undefined ? error : new CommandFailed(exitCodes.cannotStart, sentence);
      });
    if (options.json) printJson({ url: server.url, token });
    else {
      const { line, paint } = screenOn(process.stdout);
      line(`${paint.bold('MCP')}    ${server.url}${canWrite ? '' : '  (read-only)'}`);
      if (options.httpToken === undefined) line(`${paint.bold('Token')}  ${token}`);
    }
    await requested;
    return server.close();
  });

/** Loaded only by this command, whose dependencies users install themselves. */
async function loadMcp() {
  return import('../../mcp/index.ts').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND' || !error.message.includes('@modelcontextprotocol/'))
      throw error;
    throw new CommandFailed(
      exitCodes.cannotStart,
      'millrace mcp needs a package that is not installed: run `npm install --save-dev @modelcontextprotocol/server@2`.',
    );
  });
}
