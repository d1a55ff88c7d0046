import type { Erasure } from '@millrace/contract';
import { Command } from 'commander';
import { call } from '../call.ts';
import { branchServer, withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import { positiveInteger } from '../options.ts';
import { printJson, screenOn, table } from '../screen.ts';
import { sentenceOf } from './runs-erase.ts';

interface JsonOption extends ConnectionOptions {
  readonly json?: boolean;
}

const listCommand = (): Command =>
  withConnectionOptions(
    new Command('list')
      .description('list erasures, newest first')
      .option('--limit <count>', 'maximum number of results', positiveInteger, 25)
      .option('--json', 'print JSON, one object per line'),
  ).action(async ({ limit, json, ...options }: JsonOption & { readonly limit: number }) => {
    const { login, headers } = await branchServer(options);
    const found: Erasure[] = [];
    for (let after: string | undefined; found.length < limit;) {
      const query = {
        'page[size]': String(Math.min(limit - found.length, 100)),
        ...(after !== undefined && { 'page[after]': after }),
      };
      const { data, pagination } = await call(login, 'listErasures', { headers, query });
      found.push(...data);
      after = pagination.next;
      if (after === undefined) break;
    }
    if (json) return found.forEach(printJson);
    const { line, paint } = screenOn(process.stdout);
    if (found.length === 0) return line('No erasures.');
    const rows = found.map(({ id, mode, status, counts, createdAt }) => [
      id,
      mode,
      status,
      String(counts.erased),
      String(counts.skipped),
      createdAt,
    ]);
    const [head = '', ...body] = table([['id', 'mode', 'status', 'erased', 'skipped', 'created'], ...rows]);
    line(paint.dim(head));
    for (const row of body) line(row);
  });

const oneCommand = (
  name: 'show' | 'abort',
  operation: 'retrieveErasure' | 'abortErasure',
  description: string,
): Command =>
  withConnectionOptions(
    new Command(name)
      .description(description)
      .argument('<erasure>', 'erasure ID (erasure_…)')
      .option('--json', 'print JSON'),
  ).action(async (erasureId: string, { json, ...options }: JsonOption) => {
    const { login, headers } = await branchServer(options);
    const erasure = await call(login, operation, { headers, params: { erasureId } });
    if (json) printJson(erasure);
    else screenOn(process.stdout).line(`${erasure.status}  ${sentenceOf(erasure)}`);
  });

export const erasuresCommand = (): Command =>
  new Command('erasures')
    .description('show and stop erasures')
    .addCommand(listCommand())
    .addCommand(oneCommand('show', 'retrieveErasure', 'show the progress of an erasure'))
    .addCommand(oneCommand('abort', 'abortErasure', 'stop an erasure; erased runs stay erased'));
