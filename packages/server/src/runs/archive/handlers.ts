import type { OperationsOf } from '@millrace/contract';
import type { HandlersOf } from '../../request.ts';
import type { Engine } from '../engine/engine.ts';
import { readArchivePage } from './page.ts';

export const archiveHandlers = ({
  sql,
  clock,
}: Pick<Engine, 'sql' | 'clock'>): HandlersOf<OperationsOf<'runArchive'>> => ({
  readRunArchive: ({ environment, body }) => readArchivePage(sql, environment.id, body, clock.now()),
});
