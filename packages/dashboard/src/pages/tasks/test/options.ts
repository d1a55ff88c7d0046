import type { InputOf } from '../../../api/operation-types.ts';

type TriggerBody = InputOf<'triggerTask'>['body'];

/** The options of a test as entered. Empty ones are left to the task. */
export interface TestOptions {
  readonly delay: string;
  readonly version: string;
  readonly queue: string;
  readonly concurrencyKey: string;
  readonly tags: string;
  readonly priority: string;
  readonly maxAttempts: string;
  readonly maxDuration: string;
  readonly machine: string;
  readonly ttl: string;
  readonly idempotencyKey: string;
  readonly isTest: boolean;
}

export const noOptions: TestOptions = {
  delay: '',
  version: '',
  queue: '',
  concurrencyKey: '',
  tags: '',
  priority: '',
  maxAttempts: '',
  maxDuration: '',
  machine: '',
  ttl: '',
  idempotencyKey: '',
  isTest: true,
};

/** Number of options that differ from the task's. */
export const chosenOptions = ({ isTest, ...texts }: TestOptions): number =>
  Object.values(texts).filter((text) => text.trim() !== '').length + (isTest ? 0 : 1);

/** The options that the CLI supports, as its arguments. */
export const cliOptions = ({ queue, delay, tags }: TestOptions): readonly string[] => [
  ...(queue.trim() === '' ? [] : ['--queue', queue.trim()]),
  ...(delay.trim() === '' ? [] : ['--delay', delay.trim()]),
  ...tagsOf(tags).flatMap((tag) => ['--tag', tag]),
];

const tagsOf = (text: string): readonly string[] =>
  text
    .split(',')
    .map((tag) => tag.trim())
    .filter(Boolean);

/** The body sent to the server. Invalid numbers are sent unchanged: the server's message explains the valid format. */
export function bodyOf(payload: unknown, options: TestOptions): TriggerBody {
  const text = (name: Exclude<keyof TestOptions, 'isTest'>, as: string = name) => {
    const value = options[name].trim();
    return value === '' ? {} : { [as]: value };
  };
  const number = (name: 'priority' | 'maxAttempts' | 'maxDuration') => {
    const value = options[name].trim();
    return value === '' ? {} : { [name]: Number.isNaN(Number(value)) ? value : Number(value) };
  };
  const tags = [...tagsOf(options.tags)];
  return {
    ...(payload !== undefined && { payload }),
    options: {
      ...(options.isTest && { test: true }),
      ...text('delay'),
      ...text('version', 'lockToVersion'),
      ...(options.queue.trim() !== '' && { queue: { name: options.queue.trim() } }),
      ...text('concurrencyKey'),
      ...(tags.length > 0 && { tags }),
      ...number('priority'),
      ...number('maxAttempts'),
      ...number('maxDuration'),
      ...text('machine'),
      ...text('ttl'),
      ...text('idempotencyKey'),
    },
  };
}
