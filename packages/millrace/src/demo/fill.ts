import type { RunningServer } from '@millrace/server';
import type { Prepared } from '../deploy/prepare.ts';
import { travel } from './past.ts';
import { triageErrors, resolveErrors } from './seed/errors.ts';
import { sendEvents } from './seed/events.ts';
import { addNotifications } from './seed/notifications.ts';
import { runOrders } from './seed/orders.ts';
import { addMembers } from './seed/organization.ts';
import { askPeople, startChats } from './seed/people.ts';
import { addBatches, addBulkActions, addWaitingRuns } from './seed/queues.ts';
import { deploy } from './seed/releases.ts';
import { addOldSchedule, addSchedules, backfillSchedules, ticksMissed } from './seed/schedules.ts';
import { changeVariables, rotateSecret, setVariables } from './seed/variables.ts';
import type { Shop } from './shop.ts';

/** The versions of the first two releases, which still have runs. */
export interface OldVersions {
  readonly first: string;
  readonly second: string;
}

/** Sets up the shop with a history of several days. No runner may be connected. */
export async function setUp(
  shop: Shop,
  server: RunningServer,
  [oldest, older, newest]: readonly Prepared[],
): Promise<OldVersions> {
  if (!oldest || !older || !newest) throw new Error('The shop has three releases.');
  const to = travel(server);
  to('opening');
  await setVariables(shop);
  const members = await addMembers(shop);
  const first = await deploy(shop, oldest, 1);
  await addOldSchedule();
  to('secondRelease');
  await ticksMissed();
  await changeVariables(shop, members);
  const second = await deploy(shop, older, 2);
  to('alerting');
  await addNotifications(shop);
  await rotateSecret();
  to('currentRelease');
  await deploy(shop, newest, 3);
  await addSchedules();
  to('now');
  return { first, second };
}

/** Simulates the shop at high speed. A runner must be connected. */
export async function fill(
  shop: Shop,
  { first, second }: OldVersions,
  onStep: (step: string) => void,
): Promise<void> {
  onStep('orders of the first two releases');
  await runOrders(shop, 1, first);
  await runOrders(shop, 2, second);
  await resolveErrors(second);
  onStep('orders of today');
  await runOrders(shop, 3);
  onStep('events, schedules, batches and campaigns');
  await sendEvents(shop);
  await backfillSchedules(Date.now());
  await addBatches(shop);
  await addWaitingRuns(shop);
  onStep('chats and approvals');
  // In sequence, so that random numbers are drawn in the same order.
  await startChats(shop);
  await askPeople(shop);
  onStep("the team's changes to errors");
  await addBulkActions(await triageErrors());
}
