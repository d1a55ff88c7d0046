import { archive } from './archive.ts';
import { create } from './create.ts';
import { list } from './list.ts';

/** Branches of preview: list them, make one, archive one with its runs. */
export const branches = { list, create, archive };
