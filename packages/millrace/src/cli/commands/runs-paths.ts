import { Command } from 'commander';
import { openClient, withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import { printTable } from '../print-table.ts';
import { printJson, screenOn } from '../screen.ts';

interface JsonOption extends ConnectionOptions {
  readonly json?: boolean;
}

const withJson = (command: Command): Command => withConnectionOptions(command.option('--json', 'print JSON'));

const listCommand = (): Command =>
  withJson(new Command('list').description('list declared paths and their indexing progress')).action(
    async (options: JsonOption) => {
      const { runs } = await openClient(options);
      const found = await runs.listPaths();
      if (options.json) return found.forEach(printJson);
      printTable(
        ['path', 'state', 'progress', 'declared'],
        found.map(({ path, state, progress, createdAt }) => [
          path,
          state,
          `${Math.floor(progress * 100)} %`,
          createdAt.toISOString(),
        ]),
      );
    },
  );

const addCommand = (): Command =>
  withJson(
    new Command('add')
      .description('index runs by a path, so that `runs list` can filter by it')
      .argument('<path>', 'path, such as metadata.customer.id or payload.order'),
  ).action(async (path: string, options: JsonOption) => {
    const { runs } = await openClient(options);
    const declared = await runs.declarePath(path);
    if (options.json) return printJson(declared);
    screenOn(process.stdout).line(
      `New runs are indexed by ${path}; older ones in the background (\`millrace runs paths list\`).`,
    );
  });

const removeCommand = (): Command =>
  withJson(
    new Command('remove')
      .description('stop indexing runs by a path')
      .argument('<path>', 'path, such as metadata.customer.id'),
  ).action(async (path: string, options: JsonOption) => {
    const { runs } = await openClient(options);
    const removed = await runs.removePath(path);
    if (options.json) return printJson(removed);
    screenOn(process.stdout).line(`Runs are no longer indexed by ${path}.`);
  });

export const pathsCommand = (): Command =>
  new Command('paths')
    .description('manage the metadata and payload paths for filters')
    .addCommand(listCommand())
    .addCommand(addCommand())
    .addCommand(removeCommand());
