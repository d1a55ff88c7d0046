import { readFile } from 'node:fs/promises';
import {
  isMasterKeyOf,
  MasterKeyRefused,
  parseMasterKey,
  Skipped,
  type Check,
  type Sql,
} from '@millrace/server';

export interface MasterKeyInput {
  /** The texts of MILLRACE_MASTER_KEY and MILLRACE_MASTER_KEY_PREVIOUS. */
  readonly texts: readonly string[];
  /** The key file of the data folder, if there is one. */
  readonly file: string | undefined;
  readonly sql: Sql;
}

export const masterKey: Check<MasterKeyInput> = {
  name: 'master-key',
  condition: 'the master key is the key with which the secrets in the database are encrypted',
  severity: 'error',
  why: 'Servers do not start with another key. Without the right key, variables, signing keys and webhook secrets cannot be decrypted.',
  fix: 'Set `MILLRACE_MASTER_KEY` to the key of the first start, or to that of the last `millrace keys rotate-master`.',
  async find({ texts, file, sql }) {
    const candidates = texts.map((text) => ({ text, from: 'MILLRACE_MASTER_KEY' }));
    if (candidates.length === 0 && file !== undefined) {
      // During a rotation, either key may be the right one.
      for (const from of [file, `${file}.next`]) {
        const text = await readFile(from, 'utf8').catch(() => undefined);
        if (text !== undefined) candidates.push({ text, from });
      }
      if (candidates.length === 0) return [{ what: `The key file ${file} is missing, or cannot be read.` }];
    }
    if (candidates.length === 0) throw new Skipped('MILLRACE_MASTER_KEY is not set here');
    try {
      const keys = candidates.map(({ text, from }) => parseMasterKey(text, from));
      for (const key of keys) if (await isMasterKeyOf(sql, key)) return [];
      return [{ what: `The key of ${candidates[0]?.from} cannot decrypt the secrets in the database.` }];
    } catch (error) {
      if (!(error instanceof MasterKeyRefused)) throw error;
      return [{ what: error.message }];
    }
  },
};
