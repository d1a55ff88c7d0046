import type { OperationsOf } from '@millrace/contract';
import { isUser } from '../../auth/principal.ts';
import { ownedInstallation } from '../../auth/installation-owner.ts';
import type { Sql } from '../../db/connect.ts';
import type { HandlersOf } from '../../request.ts';
import { readStorage } from './read.ts';

export const storageHandlers = (sql: Sql): HandlersOf<OperationsOf<'storage'>> => ({
  async retrieveStorage({ principal }) {
    if (!isUser(principal)) throw new TypeError('Only a user can call this operation.');
    await ownedInstallation(sql, principal.userId, 'read its disk usage');
    return readStorage(sql);
  },
});
