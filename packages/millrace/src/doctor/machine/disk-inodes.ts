import type { MachineCheck } from './input.ts';

const minShare = 0.05;

export const diskInodes: MachineCheck = {
  name: 'disk-inodes',
  condition: 'the disks of the data folder and of temporary files have 5 % of their inodes free',
  severity: 'error',
  why: 'Without free inodes, no file can be created, even if the disk has free space.',
  fix: 'Delete small files that are no longer needed: `du -x --inodes --max-depth=2 <folder> | sort -n`.',
  async find({ folders, measure }) {
    const found: { what: string }[] = [];
    for (const folder of folders) {
      const { inodes, freeInodes } = await measure(folder);
      if (inodes > 0 && freeInodes < minShare * inodes)
        found.push({ what: `${freeInodes} of ${inodes} inodes are free on the disk of ${folder}.` });
    }
    return found;
  },
};
