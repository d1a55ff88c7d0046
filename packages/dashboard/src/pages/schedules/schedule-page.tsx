import type { Schedule } from '@millrace/contract';
import { readableDuration } from '@millrace/contract/plain';
import { useParams } from '@tanstack/react-router';
import { useId, useState } from 'react';
import { useAct, useAsk } from '../../api/ask.ts';
import { useMay } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { CodeExample, shellWord } from '../../parts/code/code-tabs.tsx';
import { Confirm } from '../../parts/dialog/confirm.tsx';
import { Failure, Skeleton } from '../../parts/failure.tsx';
import { Id } from '../../parts/id.tsx';
import { useShortcuts } from '../../parts/keyboard.ts';
import { Properties, Page, Section } from '../../parts/page.tsx';
import { PageLink, useGoTo } from '../../parts/page-link.tsx';
import { useSearchTexts } from '../../parts/search.ts';
import { Mark } from '../../parts/status/status.tsx';
import { Time } from '../../parts/time/time.tsx';
import { browserTimeZone, useTimeZone } from '../../parts/time/zone.ts';
import { BackfillDialog } from './backfill-dialog.tsx';
import { badgeOfSchedule, missedText, overlapTexts } from './badges.ts';
import { ScheduleForm } from './schedule-form.tsx';
import { useHasTask } from './scheduled-tasks.ts';
import { tickText, Ticks } from './ticks.tsx';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import './schedules.css';

/** One schedule: its next times, in any zone, and the results of its ticks. */
export function SchedulePage() {
  const { scheduleId = '' } = useParams({ strict: false }) as { readonly scheduleId?: string };
  const schedule = useAsk(
    'retrieveSchedule',
    { params: { scheduleId } },
    { live: true, keepPrevious: false },
  );
  if (schedule.data) return <Loaded schedule={schedule.data} />;
  return (
    <Page title="Schedule">
      {schedule.error ? (
        <Failure error={schedule.error} onRetry={() => void schedule.refetch()} />
      ) : (
        <Skeleton lines={8} />
      )}
    </Page>
  );
}

function Loaded({ schedule }: { readonly schedule: Schedule }) {
  const [{ zone: requestedZone, form }, setSearch] = useSearchTexts();
  const shownZone = useTimeZone();
  const zone = isZone(requestedZone) ? requestedZone : schedule.timezone;
  const may = useMay();
  const goTo = useGoTo();
  const [isDeleting, setDeleting] = useState(false);
  const hasTask = useHasTask()(schedule);
  const params = { scheduleId: schedule.id };
  const invalidates = ['listSchedules', 'retrieveSchedule', 'previewSchedule', 'listScheduleTicks'] as const;
  const activate = useAct('activateSchedule', {
    invalidates,
    done: 'Schedule activated',
  });
  const deactivate = useAct('deactivateSchedule', { invalidates, done: 'Schedule deactivated' });
  const remove = useAct('deleteSchedule', {
    invalidates: ['listSchedules'],
    showsErrors: true,
    done: 'Schedule deleted',
    onDone: () => goTo('/schedules'),
  });
  const isDeclared = schedule.type === 'DECLARATIVE';
  const mayChange = may('updateSchedule');
  const open = (name: string) => setSearch({ form: name }, { push: true });
  const close = () => setSearch({ form: undefined });
  useShortcuts([
    ...(may('backfillSchedule') ? [{ keys: 'b', label: 'Backfill', run: () => open('backfill') }] : []),
    ...(mayChange && !isDeclared ? [{ keys: 'e', label: 'Edit the schedule', run: () => open('edit') }] : []),
  ]);

  return (
    <Page
      title={`Schedule of ${schedule.task}`}
      heading={visibleControls(schedule.task)}
      summary={
        <span className="row wrap">
          <Mark badge={badgeOfSchedule(schedule, hasTask)} />
          <code>{schedule.generator.expression}</code>
          <span>{schedule.generator.description}</span>
          <Id id={schedule.id} />
        </span>
      }
      actions={
        <>
          {may('backfillSchedule') && (
            <Button icon="replay" shortcut="b" onClick={() => open('backfill')}>
              Backfill
            </Button>
          )}
          {mayChange && !isDeclared && (
            <Button icon="pencil" shortcut="e" onClick={() => open('edit')}>
              Edit
            </Button>
          )}
          {may('deactivateSchedule') &&
            (schedule.active ? (
              <Button
                icon="pause"
                isBusy={deactivate.isPending}
                onClick={() => deactivate.mutate({ params })}
              >
                Deactivate
              </Button>
            ) : (
              <Button
                variant="main"
                icon="play"
                isBusy={activate.isPending}
                onClick={() => activate.mutate({ params })}
              >
                Activate
              </Button>
            ))}
          {may('deleteSchedule') && !isDeclared && (
            <Button icon="trash" variant="danger" onClick={() => setDeleting(true)}>
              Delete
            </Button>
          )}
          <CodeExample
            operation="retrieveSchedule"
            input={{ params }}
            cli={`schedules show ${shellWord(schedule.id)}`}
            sdk={`import { schedules } from '@millrace/sdk';\n\nconst schedule = await schedules.retrieve('${schedule.id}');\nconst next = await schedules.preview('${schedule.id}', { n: 10 });`}
          />
        </>
      }
    >
      {!hasTask && (
        <div className="notice tone-warn" role="status">
          <span>
            The current version does not have the task{' '}
            <span className="mono">{visibleControls(schedule.task)}</span>: each tick is skipped. Deploy a
            version with this task, or {isDeclared ? 'deactivate' : 'delete'} the schedule.
          </span>
        </div>
      )}
      <Properties
        properties={[
          ['Zone', schedule.timezone],
          [
            'Next',
            schedule.nextRunEffectiveAt === null ? 'never' : <Time at={schedule.nextRunEffectiveAt} />,
          ],
          [
            'Started late',
            schedule.lag
              ? `${readableDuration(schedule.lag.lastMs)}, at most ${readableDuration(schedule.lag.maxMs)} of the last ${schedule.lag.runs}`
              : undefined,
          ],
          ['Window', schedule.window],
          ['If the previous run has not ended', overlapTexts[schedule.overlap]],
          ['Missed ticks', missedText(schedule.missed)],
          ['External id', schedule.externalId],
          ['Deduplication key', schedule.deduplicationKey],
          ['Source', isDeclared ? 'Code (current version)' : 'API'],
          [
            'Runs',
            <PageLink key="runs" to="/runs" search={{ q: `schedule:${schedule.id} since:30d` }}>
              of the last 30 days
            </PageLink>,
          ],
        ]}
      />
      <NextTimes
        schedule={schedule}
        zone={zone}
        zones={[schedule.timezone, shownZone, browserTimeZone(), 'UTC']}
        onZone={(next) => setSearch({ zone: next === schedule.timezone ? undefined : next })}
      />
      <Ticks schedule={schedule} zone={zone} />
      {form === 'backfill' && <BackfillDialog schedule={schedule} zone={zone} onClose={close} />}
      {form === 'edit' && mayChange && !isDeclared && (
        <ScheduleForm schedule={schedule} onClose={close} onDone={close} />
      )}
      <Confirm
        isOpen={isDeleting}
        onClose={() => setDeleting(false)}
        title={`Delete the schedule of ${schedule.task}?`}
        action="Delete the schedule"
        isBusy={remove.isPending}
        error={remove.error?.message}
        onConfirm={() => remove.mutate({ params })}
      >
        It no longer fires, and its list of ticks is deleted. Its runs are kept. To stop it temporarily,
        deactivate it.
      </Confirm>
    </Page>
  );
}

function isZone(text: string | undefined): text is string {
  if (text === undefined) return false;
  try {
    Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    return false;
  }
}

interface NextTimesProps {
  readonly schedule: Schedule;
  readonly zone: string;
  /** Suggestions; any other zone can be typed. */
  readonly zones: readonly string[];
  readonly onZone: (zone: string) => void;
}

/** The next times in any time zone. */
function NextTimes({ schedule, zone, zones, onZone }: NextTimesProps) {
  const id = useId();
  const [typed, setTyped] = useState(zone);
  const [count, setCount] = useState(8);
  const all = useAsk('listTimezones', {}, { inEnvironment: false });
  const preview = useAsk(
    'previewSchedule',
    { params: { scheduleId: schedule.id }, query: { n: count } },
    { live: 30_000 },
  );
  const ticks = preview.data?.ticks ?? [];
  return (
    <Section
      title="Next times"
      actions={
        <label className="row schedule-zone">
          <span className="muted">in time zone</span>
          <input
            className="input"
            list={`${id}-zones`}
            value={typed}
            spellCheck={false}
            autoComplete="off"
            aria-invalid={!isZone(typed) || undefined}
            onFocus={(event) => event.target.select()}
            onChange={(event) => {
              setTyped(event.target.value);
              if (isZone(event.target.value)) onZone(event.target.value);
            }}
            onBlur={() => setTyped(zone)}
          />
          <datalist id={`${id}-zones`}>
            {[...new Set([...zones, ...(all.data?.timezones ?? [])])].map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </label>
      }
    >
      {!schedule.active && <p className="muted">The schedule is inactive: it would fire at these times.</p>}
      {preview.error && ticks.length === 0 ? (
        <Failure error={preview.error} onRetry={() => void preview.refetch()} />
      ) : preview.isPending ? (
        <Skeleton lines={4} label="Loading next times" />
      ) : ticks.length === 0 ? (
        <p className="muted">None in the next nine years.</p>
      ) : (
        <ol className="next-times" aria-label={`Next times in ${zone}`}>
          {ticks.map(({ nominalAt, effectiveAt }) => (
            <li key={nominalAt}>
              <time dateTime={nominalAt} className="number">
                {weekday(nominalAt, zone)} {tickText(nominalAt, zone)}
              </time>
              <span className="muted">
                <Time at={effectiveAt} />
              </span>
              {effectiveAt !== nominalAt && (
                <span className="muted small">starts at {tickText(effectiveAt, zone)}</span>
              )}
            </li>
          ))}
        </ol>
      )}
      {ticks.length === count && count < 1_000 && (
        <div>
          <Button variant="plain" onClick={() => setCount(count * 4)}>
            Show more
          </Button>
        </div>
      )}
    </Section>
  );
}

const weekday = (at: string, zone: string): string =>
  new Intl.DateTimeFormat('en-GB', { weekday: 'short', timeZone: zone }).format(Date.parse(at));
