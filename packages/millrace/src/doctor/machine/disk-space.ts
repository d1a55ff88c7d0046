import { readableSize } from '@millrace/contract/plain';
import type { MachineCheck } from './input.ts';

const minShare = 0.05;
/** On a large disk, this much space is enough even below that percentage. */
const enoughBytes = 20_000_000_000;

export const diskSpace: MachineCheck = {
  name: 'disk-space',
  condition: 'the disks of the data folder and of temporary files have 5 % or 20 GB free',
  severity: 'error',
  why: 'If the disk is full, PostgreSQL stops, and runners cannot unpack versions.',
  fix: 'Free some space (`du -xh --max-depth=2 <folder> | sort -h`), or enlarge the disk.',
  async find({ folders, measure }) {
    const found: { what: string }[] = [];
    for (const folder of folders) {
      const { bytes, freeBytes } = await measure(folder);
      if (bytes > 0 && freeBytes < minShare * bytes && freeBytes < enoughBytes)
        found.push({
          what: `${readableSize(freeBytes)} of ${readableSize(bytes)} are free on the disk of ${folder}.`,
        });
    }
    return found;
  },
};
