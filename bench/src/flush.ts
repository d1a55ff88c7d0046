/** Prints the cost of making 8 KiB durable on this machine, which affects the figures of every durable system. */
import { closeSync, fdatasyncSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { now } from './clock.ts';
import { dataFolder } from './folders.ts';
import { median } from './statistics.ts';

/** Milliseconds, the median of 60, on the disk that holds the databases. */
export function flushCost(): number {
  mkdirSync(dataFolder, { recursive: true });
  const path = join(dataFolder, `flush-${process.pid}`);
  const file = openSync(path, 'w');
  const page = Buffer.alloc(8192, 1);
  const costs: number[] = [];
  for (let i = 0; i < 60; i++) {
    const start = now();
    writeSync(file, page, 0, page.length, 0);
    fdatasyncSync(file);
    costs.push(now() - start);
  }
  closeSync(file);
  rmSync(path);
  return median(costs) ?? 0;
}

if (import.meta.main) console.log(`fdatasync of 8 KiB: ${flushCost().toFixed(3)} ms (median of 60)`);
