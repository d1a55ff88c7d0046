import type { Schedule } from '@millrace/contract';
import { useState, type FormEvent } from 'react';
import { useAct, useAsk } from '../../api/ask.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { fieldError, TextField } from '../../parts/form/field.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { countText } from '../../parts/count-text.ts';
import { exactText } from '../../parts/time/format.ts';
import { zonedInstant, zonedText } from '../../parts/time/zoned.ts';

/** Maximum number of ticks in one request: the contract's `maxBackfilled`. */
const maxTicks = 1_000;
const day = 86_400_000;

interface BackfillDialogProps {
  readonly schedule: Schedule;
  /** The time zone in which the schedule is shown. */
  readonly zone: string;
  readonly onClose: () => void;
}

/** Runs the ticks of a past range. It shows their number before it starts anything. */
export function BackfillDialog({ schedule, zone, onClose }: BackfillDialogProps) {
  const [now] = useState(() => Date.now());
  const [from, setFrom] = useState(() => zonedText(now - day, zone));
  const [to, setTo] = useState(() => zonedText(now, zone));
  const start = zonedInstant(from, zone);
  // The field has no seconds, so the current minute means now.
  const end = to === zonedText(now, zone) ? now : zonedInstant(to, zone);
  const isRange = start !== undefined && end !== undefined && start < end;
  const preview = useAsk(
    'previewSchedule',
    {
      params: { scheduleId: schedule.id },
      // Ticks after that instant; the range begins with it.
      query: { n: maxTicks, from: String((start ?? 0) - 1) },
    },
    { enabled: isRange, keepPrevious: false },
  );
  const backfill = useAct('backfillSchedule', {
    showsErrors: true,
    invalidates: ['listScheduleTicks', 'listRuns', 'countRuns', 'retrieveSchedule'],
  });
  const all = preview.data?.ticks ?? [];
  const ticks = all.filter(({ nominalAt }) => Date.parse(nominalAt) < (end ?? 0));
  const isCut = ticks.length === maxTicks;
  const what = countText(isCut ? 'the first 1,000' : ticks.length, 'tick');
  const instant = (at: string): string => exactText(Date.parse(at), zone).replace(/:\d\d\.\d{3}/, '');

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!isRange || ticks.length === 0) return;
    backfill.mutate({
      params: { scheduleId: schedule.id },
      body: { from: new Date(start).toISOString(), to: new Date(end).toISOString(), max: maxTicks },
    });
  };

  if (backfill.data)
    return (
      <Dialog isOpen onClose={onClose} title="Backfill">
        <p role="status">
          <span className="strong">{countText(backfill.data.runs.length, 'run')} started.</span>{' '}
          {backfill.data.alreadyRun > 0 &&
            `${countText(backfill.data.alreadyRun, 'tick')} already had a run.`}
        </p>
        <div className="form-actions">
          {backfill.data.next !== undefined && (
            <Button
              onClick={() => {
                setFrom(zonedText(Date.parse(backfill.data.next ?? ''), zone));
                backfill.reset();
              }}
            >
              Continue with the rest
            </Button>
          )}
          <PageLink to="/runs" search={{ q: `schedule:${schedule.id}` }} className="button">
            Show the runs
          </PageLink>
          <Button variant="main" onClick={onClose}>
            Done
          </Button>
        </div>
      </Dialog>
    );
  return (
    <Dialog isOpen onClose={onClose} title={`Backfill the schedule of ${schedule.task}`}>
      <form className="stack" onSubmit={submit}>
        <p className="muted">
          Triggers a run for each tick in a past range. Ticks that already have a run are skipped, so a
          backfill is safe to repeat. Time zone: {zone}.
        </p>
        <div className="schedule-fields">
          <TextField
            label="From"
            type="datetime-local"
            required
            value={from}
            max={to}
            error={fieldError(backfill.error, 'from')}
            onChange={(event) => setFrom(event.target.value)}
          />
          <TextField
            label="To (exclusive)"
            type="datetime-local"
            required
            value={to}
            error={
              start !== undefined && end !== undefined && start >= end
                ? 'Must be later than the start.'
                : fieldError(backfill.error, 'to')
            }
            onChange={(event) => setTo(event.target.value)}
          />
        </div>
        <div className="notice" role="status">
          {!isRange ? (
            <span className="muted">Choose a range.</span>
          ) : preview.error ? (
            <span className="tone-bad">{preview.error.message}</span>
          ) : preview.isPending ? (
            <span className="muted">Counting</span>
          ) : ticks.length === 0 ? (
            <span>No tick in this range.</span>
          ) : (
            <span>
              <span className="strong">
                {isCut ? 'More than 1,000 ticks' : countText(ticks.length, 'tick')}
              </span>
              , from {instant(ticks[0]?.nominalAt ?? '')} to {instant(ticks.at(-1)?.nominalAt ?? '')}.
              {isCut && ' Backfill the rest afterwards.'}
            </span>
          )}
        </div>
        {backfill.error && (
          <p className="field-error" role="alert">
            {backfill.error.message}
          </p>
        )}
        <div className="form-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="main" isBusy={backfill.isPending} disabled={ticks.length === 0}>
            {ticks.length === 0 ? 'Backfill' : `Backfill ${what}`}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
