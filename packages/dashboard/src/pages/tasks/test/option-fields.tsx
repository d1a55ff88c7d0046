import { useAsk } from '../../../api/ask.ts';
import { CheckField, SelectField, TextField } from '../../../parts/form/field.tsx';
import { fieldError } from '../../../parts/form/field.tsx';
import type { TestOptions } from './options.ts';

interface OptionFieldsProps {
  readonly options: TestOptions;
  readonly onChange: (options: TestOptions) => void;
  /** The server's error about them. */
  readonly error: unknown;
}

const machines = ['micro', 'small-1x', 'small-2x', 'medium-1x', 'medium-2x', 'large-1x', 'large-2x'];

/** The options of the run. Empty ones have the task's values. */
export function OptionFields({ options, onChange, error }: OptionFieldsProps) {
  const deployments = useAsk('listDeployments', { query: { 'page[size]': 20 } });
  const versions = (deployments.data?.data ?? []).filter(({ status }) => status === 'DEPLOYED');
  const field = (name: Exclude<keyof TestOptions, 'isTest'>, inApi: string = name) => ({
    value: options[name],
    error: fieldError(error, `options.${inApi}`),
    onChange: (event: { readonly target: { readonly value: string } }) =>
      onChange({ ...options, [name]: event.target.value }),
  });
  return (
    <div className="option-fields">
      <TextField label="Delay" placeholder="10m, or a date" {...field('delay')} />
      <SelectField
        label="Version"
        {...field('version', 'lockToVersion')}
        options={[
          { value: '', label: 'the current one' },
          ...versions.map(({ version, state }) => ({ value: version, label: `${version}, ${state}` })),
        ]}
      />
      <TextField label="Queue" placeholder="task default" {...field('queue')} />
      <TextField label="Concurrency key" placeholder="customer-42" {...field('concurrencyKey')} />
      <TextField label="Tags" placeholder="separated by commas" {...field('tags')} />
      <SelectField
        label="Machine"
        {...field('machine')}
        options={[
          { value: '', label: 'task default' },
          ...machines.map((machine) => ({ value: machine, label: machine })),
        ]}
      />
      <TextField label="Maximum attempts" inputMode="numeric" {...field('maxAttempts')} />
      <TextField label="Maximum seconds per attempt" inputMode="numeric" {...field('maxDuration')} />
      <TextField
        label="Priority"
        placeholder="seconds ahead of others"
        inputMode="numeric"
        {...field('priority')}
      />
      <TextField label="Expires after" placeholder="10m" {...field('ttl')} />
      <TextField label="Idempotency key" {...field('idempotencyKey')} />
      <CheckField
        label="Mark it as a test"
        hint="Its code can read ctx.run.isTest, and lists can exclude it."
        checked={options.isTest}
        onChange={(event) => onChange({ ...options, isTest: event.target.checked })}
      />
    </div>
  );
}
