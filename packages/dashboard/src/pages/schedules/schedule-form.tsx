import type { Schedule } from '@millrace/contract';
import { useId, useState, type FormEvent } from 'react';
import { ApiError } from '../../api/api-error.ts';
import { useAct, useAsk } from '../../api/ask.ts';
import type { InputOf } from '../../api/operation-types.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { CheckField, fieldError, SelectField, TextField } from '../../parts/form/field.tsx';
import { browserTimeZone } from '../../parts/time/zone.ts';
import { missedText, overlapTexts } from './badges.ts';

interface ScheduleFormProps {
  /** The schedule to edit; without it, a new one is created. */
  readonly schedule?: Schedule;
  readonly onClose: () => void;
  readonly onDone: (schedule: Schedule) => void;
}

type Values = Readonly<
  Record<'task' | 'cron' | 'timezone' | 'window' | 'externalId' | 'deduplicationKey' | 'missed', string> & {
    overlap: Schedule['overlap'];
  }
>;

const valuesOf = (schedule: Schedule | undefined): Values => ({
  task: schedule?.task ?? '',
  cron: schedule?.generator.expression ?? '',
  timezone: schedule?.timezone ?? browserTimeZone(),
  window: schedule?.window ?? '',
  externalId: schedule?.externalId ?? '',
  deduplicationKey: schedule?.deduplicationKey ?? '',
  missed: schedule?.missed ?? 'once',
  overlap: schedule?.overlap ?? 'allow',
});

const missedRules = ['once', 'skip', 'all:1h', 'all:6h', 'all:1d', 'all:7d'];

/** Creates a schedule, or replaces the settings of one. */
export function ScheduleForm({ schedule, onClose, onDone }: ScheduleFormProps) {
  const id = useId();
  const [values, setValues] = useState(() => valuesOf(schedule));
  const [isInactive, setInactive] = useState(false);
  const tasks = useAsk('listTasks', {}, { enabled: schedule === undefined });
  const zones = useAsk('listTimezones', {}, { inEnvironment: false });
  const options = {
    showsErrors: true,
    invalidates: ['listSchedules', 'retrieveSchedule', 'previewSchedule'],
    onDone,
  } as const;
  const create = useAct('createSchedule', { ...options, done: 'Schedule created' });
  const update = useAct('updateSchedule', { ...options, done: 'Schedule saved' });
  const action = schedule ? update : create;
  const { error } = action;
  const isAboutField = error instanceof ApiError && error.details.some(({ path }) => path !== undefined);

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const body: InputOf<'updateSchedule'>['body'] = {
      task: values.task,
      cron: values.cron,
      timezone: values.timezone || null,
      window: values.window || null,
      externalId: values.externalId || null,
      missed: values.missed,
      overlap: values.overlap,
    };
    if (schedule) update.mutate({ params: { scheduleId: schedule.id }, body });
    else {
      const { deduplicationKey } = values;
      create.mutate({ body: { ...body, deduplicationKey, ...(isInactive && { active: false }) } });
    }
  };
  const field = (name: keyof Values) => ({
    value: values[name],
    error: fieldError(error, name),
    onChange: (event: { readonly target: { readonly value: string } }) =>
      setValues((before) => ({ ...before, [name]: event.target.value })),
  });

  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={schedule ? `Edit the schedule of ${schedule.task}` : 'New schedule'}
      isWide
    >
      <form className="stack" onSubmit={submit}>
        <div className="schedule-fields">
          <TextField
            label="Task"
            hint="A task that your code declares with schedules.task."
            list={`${id}-tasks`}
            required
            disabled={schedule !== undefined}
            spellCheck={false}
            {...field('task')}
          />
          <TextField
            label="Cron expression"
            hint="Minute, hour, day of month, month, day of week: 0 9 * * mon-fri"
            className="mono"
            required
            spellCheck={false}
            {...field('cron')}
          />
          <TextField
            label="Time zone"
            hint="Such as Europe/Paris. Leave empty for UTC."
            list={`${id}-zones`}
            spellCheck={false}
            {...field('timezone')}
          />
          <TextField
            label="Window"
            hint="Spreads starts over this time after the tick: 15m, 2h or 50%. Leave empty for none."
            spellCheck={false}
            {...field('window')}
          />
          <SelectField
            label="If the previous run has not ended"
            options={Object.entries(overlapTexts).map(([value, label]) => ({ value, label }))}
            {...field('overlap')}
          />
          <SelectField
            label="Ticks missed while no server was running"
            options={[...new Set([...missedRules, values.missed])].map((value) => ({
              value,
              label: missedText(value),
            }))}
            {...field('missed')}
          />
          <TextField
            label="External id"
            hint="Your own id, such as a user id. It is passed to the run."
            spellCheck={false}
            {...field('externalId')}
          />
          {schedule === undefined && (
            <TextField
              label="Deduplication key"
              hint="Creating another schedule with this key replaces this one. Leave empty to generate one."
              spellCheck={false}
              {...field('deduplicationKey')}
            />
          )}
        </div>
        {schedule === undefined && (
          <CheckField
            label="Create as inactive"
            hint="It does not fire until it is activated."
            checked={isInactive}
            onChange={(event) => setInactive(event.target.checked)}
          />
        )}
        <datalist id={`${id}-tasks`}>
          {tasks.data?.data.map((task) => (
            <option key={task.id} value={task.id} />
          ))}
        </datalist>
        <datalist id={`${id}-zones`}>
          {zones.data?.timezones.map((zone) => (
            <option key={zone} value={zone} />
          ))}
        </datalist>
        {error && !isAboutField && (
          <p className="field-error" role="alert">
            {error.message}
          </p>
        )}
        <div className="form-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="main" isBusy={action.isPending}>
            {schedule ? 'Save the schedule' : 'Create the schedule'}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
