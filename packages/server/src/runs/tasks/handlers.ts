import type { OperationsOf } from '@millrace/contract';
import { notFound } from '../../problem.ts';
import type { HandlersOf } from '../../request.ts';
import type { Engine } from '../engine/engine.ts';
import { nearestTask } from '../reason/nearest-task.ts';
import { listTaskActivity } from './activity.ts';
import { listTasks, retrieveTask } from './read.ts';

async function whyNoTask({ versions }: Engine, env: number, task: string): Promise<string> {
  const current = await versions.current(env);
  if (!current) return `No version is current in this environment, so there is no task "${task}".`;
  const nearest = nearestTask(task, current.tasks.keys());
  const meant = nearest === undefined ? '' : ` Did you mean "${nearest}"?`;
  return `The current version ${current.version} has no task "${task}".${meant}`;
}

export const taskHandlers = (engine: Engine): HandlersOf<OperationsOf<'tasksList'>> => ({
  async listTasks({ environment }) {
    return { data: await listTasks(engine, environment.id) };
  },

  async listTaskActivity({ environment, query }) {
    return listTaskActivity(engine, environment.id, query);
  },

  async retrieveTask({ environment, params: { taskId } }) {
    const task = await retrieveTask(engine, environment.id, taskId);
    if (!task) throw notFound(await whyNoTask(engine, environment.id, taskId), false, 'task_not_found');
    return task;
  },
});
