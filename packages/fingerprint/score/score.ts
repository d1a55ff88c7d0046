/**
 * Scores the grouping of a labelled corpus: `node packages/fingerprint/score/score.ts [file.ndjson …] [--without variant,…]`.
 * A pair of errors is correct if it shares a fingerprint if and only if it shares a label.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fingerprint, type ThrownError } from '../src/index.ts';

export interface Labelled extends ThrownError {
  label: string;
  variant: string;
}

export interface Score {
  errors: number;
  labels: number;
  groups: number;
  precision: number;
  recall: number;
  f1: number;
  /** Labels whose errors form one group that contains no others. */
  exact: number;
  merges: { pairs: number; labels: string[]; message: string }[];
  splits: { pairs: number; label: string; groups: string[] }[];
}

const pairs = (count: number): number => (count * (count - 1)) / 2;

export function score(corpus: Labelled[]): Score {
  const byLabel = new Map<string, Map<string, Labelled[]>>();
  const byGroup = new Map<string, Map<string, Labelled[]>>();
  const add = (map: Map<string, Map<string, Labelled[]>>, outer: string, inner: string, error: Labelled) => {
    const cells = map.get(outer) ?? map.set(outer, new Map()).get(outer)!;
    cells.set(inner, [...(cells.get(inner) ?? []), error]);
  };
  for (const error of corpus) {
    const { id } = fingerprint(error);
    add(byLabel, error.label, id, error);
    add(byGroup, id, error.label, error);
  }
  const sizes = (cells: Map<string, Labelled[]>) => [...cells.values()].map((errors) => errors.length);
  const total = (cells: Map<string, Labelled[]>) => sizes(cells).reduce((sum, size) => sum + size, 0);
  const together = (cells: Map<string, Labelled[]>) =>
    sizes(cells).reduce((sum, size) => sum + pairs(size), 0);
  let right = 0;
  let grouped = 0;
  let expected = 0;
  const merges: Score['merges'] = [];
  const splits: Score['splits'] = [];
  for (const [, cells] of byGroup) {
    right += together(cells);
    grouped += pairs(total(cells));
    const wrong = pairs(total(cells)) - together(cells);
    const example = [...cells.values()][0]?.[0];
    if (wrong > 0 && example)
      merges.push({ pairs: wrong, labels: [...cells.keys()], message: fingerprint(example).parts.message });
  }
  let exact = 0;
  for (const [label, cells] of byLabel) {
    expected += pairs(total(cells));
    if (cells.size === 1 && byGroup.get([...cells.keys()][0] ?? '')?.size === 1) exact += 1;
    const missed = pairs(total(cells)) - together(cells);
    if (missed > 0) splits.push({ pairs: missed, label, groups: [...cells.values()].map(describe) });
  }
  const precision = grouped === 0 ? 1 : right / grouped;
  const recall = expected === 0 ? 1 : right / expected;
  return {
    errors: corpus.length,
    labels: byLabel.size,
    groups: byGroup.size,
    precision,
    recall,
    f1: (2 * precision * recall) / (precision + recall),
    exact,
    merges: merges.toSorted((a, b) => b.pairs - a.pairs),
    splits: splits.toSorted((a, b) => b.pairs - a.pairs),
  };
}

function describe(errors: Labelled[]): string {
  const [first] = errors;
  if (!first) return '';
  const { type, message, frames } = fingerprint(first).parts;
  return `${errors.length}× ${type}: ${message.slice(0, 120)} @ ${frames.join(' < ')} (${[...new Set(errors.map((error) => error.variant))].join(', ')})`;
}

export function readCorpus(file: string): Labelled[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Labelled);
}

if (process.argv[1] === import.meta.filename) {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { without: { type: 'string', default: '' }, show: { type: 'string', default: '15' } },
  });
  const folder = join(import.meta.dirname, '../corpus');
  const files =
    positionals.length > 0
      ? positionals
      : ['train.ndjson', 'heldout.ndjson', 'final.ndjson', 'wide.ndjson'].map((name) => join(folder, name));
  const left = values.without.split(',');
  for (const file of files) {
    const result = score(readCorpus(file).filter((error) => !left.includes(error.variant)));
    const { merges, splits, ...figures } = result;
    console.log(file.slice(file.lastIndexOf('/') + 1));
    console.table([
      {
        ...figures,
        precision: figures.precision.toFixed(4),
        recall: figures.recall.toFixed(4),
        f1: figures.f1.toFixed(4),
      },
    ]);
    for (const merge of merges.slice(0, Number(values.show)))
      console.log(`merged (${merge.pairs}): ${merge.labels.join(' + ')}\n    ${merge.message}`);
    for (const split of splits.slice(0, Number(values.show)))
      console.log(`split (${split.pairs}): ${split.label}\n    ${split.groups.join('\n    ')}`);
  }
}
