import { create } from './create.ts';
import { del } from './del.ts';
import { diff, history, rollback } from './history.ts';
import { list } from './list.ts';
import { readAll } from './read-all.ts';
import { retrieve } from './retrieve.ts';
import { update } from './update.ts';
import { upload } from './upload.ts';

/** Environment variables: the contents of `process.env` in the runs of an environment. */
export const envvars = { list, retrieve, create, update, del, upload, readAll, history, diff, rollback };
