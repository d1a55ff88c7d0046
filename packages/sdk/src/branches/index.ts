import { archive } from './archive.ts';
import { create } from './create.ts';
import { list } from './list.ts';

/** Preview branches: list them, create one, or archive one with its runs. */
export const branches = { list, create, archive };
