import { Command } from 'commander';
import { readableSize } from '@millrace/contract/plain';
import { call } from '../call.ts';
import { findLogin, withLoginOptions, type LoginOptions } from '../login.ts';
import { printTable } from '../print-table.ts';
import { printJson } from '../screen.ts';

export const storageCommand = (): Command =>
  withLoginOptions(
    new Command('storage').description('show the disk usage of the installation by class of data'),
  ).action(async (options: LoginOptions & { readonly json?: boolean }) => {
    const login = await findLogin(options);
    const used = await call(login, 'retrieveStorage');
    if (options.json) return printJson(used);
    printTable(
      ['class', 'size', 'rows, about', 'largest table'],
      [
        ...used.data.map(({ class: name, bytes, rowsEstimate, tables: [largest] }) => [
          name,
          readableSize(bytes),
          String(rowsEstimate),
          largest ? `${largest.name} ${readableSize(largest.bytes)}` : '',
        ]),
        ['all', readableSize(used.totalBytes), '', ''],
      ],
    );
  });
