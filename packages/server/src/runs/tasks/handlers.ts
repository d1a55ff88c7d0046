import type { Operations } from '@millrace/contract';
import { notFound } from '../../problem.ts';
import type { HandlersOf } from '../../request.ts';
import type { Engine } from '../engine.ts';
import { listTasks, retrieveTask } from './read.ts';

export const taskHandlers = (engine: Engine): HandlersOf<Pick<Operations, 'listTasks' | 'retrieveTask'>> => ({
  async listTasks({ environment }) {
    return { data: await listTasks(engine, environment.id) };
  },

  async retrieveTask({ environment, params: { taskId } }) {
    const task = await retrieveTask(engine, environment.id, taskId);
    if (!task) throw notFound(`The current version has no task "${taskId}".`);
    return task;
  },
});
