import type { Preset } from '@millrace/contract';

interface PresetWords {
  readonly label: string;
  readonly hint: string;
  /** Whether it can be restricted to some tasks. */
  readonly ofTasks?: boolean;
}

/** The permissions of keys, in words. */
export const presetWords: Readonly<Record<Preset, PresetWords>> = {
  full: {
    label: 'Everything',
    hint: 'For runners, and for programs that you trust with the whole environment.',
  },
  'trigger-only': {
    label: 'Trigger tasks',
    hint: 'For programs that trigger runs and read nothing.',
    ofTasks: true,
  },
  'task-operator': {
    label: 'Trigger tasks, read and change their runs',
    hint: 'For programs that trigger runs and follow them.',
    ofTasks: true,
  },
  observer: { label: 'Read', hint: 'For monitoring: runs, tasks, queues, errors.' },
  operator: {
    label: 'Read and operate',
    hint: 'For on-call tools: cancel, replay, pause queues, resolve errors.',
  },
  'deploy-only': { label: 'Deploy', hint: 'For CI: millrace deploy, and the branches that it creates.' },
  'variables-only': { label: 'Environment variables', hint: 'For tools that synchronize variables.' },
};

export const presets = Object.keys(presetWords) as readonly Preset[];
