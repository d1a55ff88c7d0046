import type { TaskManifest } from '@millrace/contract/runner';
import { Problem } from '../problem.ts';
import type { CurrentVersion } from '../versions/versions.ts';
import { compileFilter, type Filter } from './filter.ts';
import { parsePattern, SubscriptionRefused } from './pattern.ts';

interface Subscription {
  readonly task: string;
  readonly filter: Filter;
}

/** The next segment of a name. Patterns that cannot match are in other branches, so they cost nothing. */
interface Node {
  readonly next: Map<string, Node>;
  any?: Node;
  /** Patterns that end here. */
  readonly here: Subscription[];
  /** Patterns that continue with `**`. */
  readonly below: Subscription[];
}

const newNode = (): Node => ({ next: new Map(), here: [], below: [] });

/** The subscriptions of one version, found by the name of an event. */
export interface Subscriptions {
  /** The tasks for which the event creates a run, in id order. */
  matching(name: string, payload: unknown): string[];
}

/** Compiles the subscriptions of tasks. Throws the errors of `compileFilter` and `parsePattern` unless a handler for them is passed. */
export function indexSubscriptions(
  tasks: Iterable<TaskManifest>,
  refused?: (task: TaskManifest, error: SubscriptionRefused) => void,
): Subscriptions {
  const root = newNode();
  for (const task of tasks) {
    if (!task.on) continue;
    try {
      add(root, parsePattern(task.on.name), { task: task.id, filter: compileFilter(task.on.filter) });
    } catch (error) {
      if (!(error instanceof SubscriptionRefused) || !refused) throw error;
      refused(task, error);
    }
  }
  return {
    matching(name, payload) {
      const found: string[] = [];
      const collect = (subscriptions: readonly Subscription[]): void => {
        for (const { task, filter } of subscriptions) if (filter(payload)) found.push(task);
      };
      const segments = name.split('.');
      let nodes = [root];
      for (const [index, segment] of segments.entries()) {
        const further: Node[] = [];
        for (const { next, any, below } of nodes) {
          collect(below);
          const exact = next.get(segment);
          if (exact) further.push(exact);
          if (any) further.push(any);
        }
        if (further.length === 0) break;
        if (index === segments.length - 1) for (const { here } of further) collect(here);
        nodes = further;
      }
      return found.toSorted();
    },
  };
}

function add(root: Node, pattern: readonly string[], subscription: Subscription): void {
  let node = root;
  for (const segment of pattern) {
    if (segment === '**') return void node.below.push(subscription);
    if (segment === '*') {
      node = node.any ??= newNode();
    } else {
      const next = node.next.get(segment) ?? newNode();
      node.next.set(segment, next);
      node = next;
    }
  }
  node.here.push(subscription);
}

const known = new WeakMap<CurrentVersion, Subscriptions>();

/** A version's tasks never change, and neither do its subscriptions. */
export function subscriptionsOf(version: CurrentVersion): Subscriptions {
  let subscriptions = known.get(version);
  if (!subscriptions) {
    // An invalid subscription that was registered earlier starts nothing.
    subscriptions = indexSubscriptions(version.tasks.values(), () => {});
    known.set(version, subscriptions);
  }
  return subscriptions;
}

/** 400 for a version with an invalid subscription. */
export function refuseUnreadable(tasks: readonly TaskManifest[]): void {
  indexSubscriptions(tasks, ({ id, filePath }, { message }) => {
    const sentence = `The task ${id} in ${filePath} has an invalid event subscription: on: ${message}.`;
    throw new Problem('invalid_task', sentence, { task: id }, undefined, 400);
  });
}
