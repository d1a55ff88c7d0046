import type { Chart, ChartDivision, ChartForm as Form, ChartMeasure } from '@millrace/contract';
import { useState, type FormEvent } from 'react';
import { useAct } from '../../api/ask.ts';
import { useEnvironmentPath } from '../../api/environment.ts';
import { Button } from '../../parts/button.tsx';
import { ChartData } from '../../parts/charts/chart-card.tsx';
import { divisions, forms, measures } from '../../parts/charts/chart-data.ts';
import { CheckField, fieldError, SelectField, TextField } from '../../parts/form/field.tsx';
import { FormError } from '../../parts/form/form-error.tsx';

interface ChartFormProps {
  /** The chart to change; without it, a new one is added. */
  readonly chart?: Chart;
  readonly onClose: () => void;
}

const filters = { '': 'All runs', task: 'Task', queue: 'Queue', version: 'Version' } as const;
type Filter = keyof typeof filters;

const optionsOf = (labels: Readonly<Record<string, string>>) =>
  Object.entries(labels).map(([value, label]) => ({ value, label }));
const measureOptions = Object.entries(measures).map(([value, { label }]) => ({ value, label }));
const periods = ['1h', '6h', '24h', '7d', '30d', '90d'];

const filterOf = (chart: Chart | undefined): Filter =>
  (['task', 'queue', 'version'] as const).find((name) => chart !== undefined && chart[name] !== null) ?? '';

/** The settings of a chart, with its data below them. */
export function ChartForm({ chart, onClose }: ChartFormProps) {
  const params = useEnvironmentPath();
  const [name, setName] = useState(chart?.name ?? '');
  const [measure, setMeasure] = useState<ChartMeasure>(chart?.measure ?? 'runs');
  const [by, setBy] = useState<ChartDivision | ''>(chart?.by ?? '');
  const [filter, setFilter] = useState<Filter>(filterOf(chart));
  const [value, setValue] = useState(chart?.task ?? chart?.queue ?? chart?.version ?? '');
  const [period, setPeriod] = useState(chart?.period ?? '7d');
  const [form, setForm] = useState<Form>(chart?.form ?? 'line');
  const [isPinned, setPinned] = useState(chart?.isPinned ?? false);
  const options = { invalidates: ['listCharts'], showsErrors: true, onDone: onClose } as const;
  const create = useAct('createChart', { ...options, done: 'Chart saved' });
  const update = useAct('updateChart', { ...options, done: 'Chart changed' });
  const error = create.error ?? update.error;

  const settings = {
    measure,
    by: by === '' ? null : by,
    task: filter === 'task' ? value.trim() : null,
    queue: filter === 'queue' ? value.trim() : null,
    version: filter === 'version' ? value.trim() : null,
    period,
    form,
  };
  // The settings that the server accepts: it rejects others with a reason.
  const isAnswerable =
    (filter === '' || (value.trim() !== '' && (by === '' || by === 'status'))) &&
    (by !== 'status' || measure === 'runs');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const body = { name: name.trim(), ...settings, isPinned };
    if (chart) update.mutate({ params: { ...params, chartId: chart.id }, body });
    else create.mutate({ params, body });
  };
  return (
    <form className="stack" onSubmit={submit}>
      <TextField
        label="Name"
        required
        maxLength={128}
        value={name}
        error={fieldError(error, 'name')}
        onChange={(event) => setName(event.target.value)}
      />
      <SelectField
        label="Measure"
        value={measure}
        options={measureOptions}
        onChange={(event) => setMeasure(event.target.value as ChartMeasure)}
      />
      <SelectField
        label="Group by"
        value={by}
        options={[{ value: '', label: 'Nothing: one series' }, ...optionsOf(divisions)]}
        onChange={(event) => setBy(event.target.value as ChartDivision | '')}
      />
      <SelectField
        label="Filter"
        value={filter}
        options={optionsOf(filters)}
        onChange={(event) => setFilter(event.target.value as Filter)}
      />
      {filter !== '' && (
        <TextField
          label={filters[filter]}
          required
          value={value}
          error={fieldError(error, filter)}
          onChange={(event) => setValue(event.target.value)}
        />
      )}
      <SelectField
        label="Period"
        value={period}
        options={[...new Set([...periods, period])].map((text) => ({ value: text, label: text }))}
        onChange={(event) => setPeriod(event.target.value)}
      />
      <SelectField
        label="Form"
        value={form}
        options={optionsOf(forms)}
        onChange={(event) => setForm(event.target.value as Form)}
      />
      <CheckField
        label="Pin to the overview"
        hint="For everybody in the project."
        checked={isPinned}
        onChange={(event) => setPinned(event.target.checked)}
      />
      {isAnswerable && <ChartData chart={settings} />}
      <FormError error={error} fields={['name', 'task', 'queue', 'version']} />
      <div className="form-actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="main" isBusy={create.isPending || update.isPending}>
          {chart ? 'Change the chart' : 'Save the chart'}
        </Button>
      </div>
    </form>
  );
}
