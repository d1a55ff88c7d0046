/*
 * Microseconds per next run, by kind of pattern and zone.
 *
 *   node bench/cron.ts
 */
import { nextRun, nextRuns, parseCron, previousRun } from '../packages/contract/src/cron/index.ts';

const FROM = new Date('2026-01-15T12:00:00Z');
const SECONDS = 0.5;
const PATTERNS = [
  '* * * * *',
  '*/5 * * * *',
  '0 9 * * 1-5',
  '30 2 * * *',
  '0 0 13 * 5',
  '0 0 L * *',
  '0 0 * * 5L',
  '@yearly',
  '0 0 29 2 *',
];
const ZONES = ['UTC', 'America/New_York', 'Africa/Casablanca'];

/** Microseconds per call, the best of five rounds. */
function measure(act: () => void): number {
  let best = Infinity;
  for (let round = 0; round < 5; round++) {
    const start = performance.now();
    let calls = 0;
    while (performance.now() - start < (SECONDS * 1000) / 5) {
      for (let i = 0; i < 100; i++) act();
      calls += 100;
    }
    best = Math.min(best, ((performance.now() - start) * 1000) / calls);
  }
  return best;
}

const YEARS_10 = 10 * 365 * 86_400_000;

/** The first lookup in a zone reads its offsets; the very first also loads the platform's zone data. */
for (const zone of ['Europe/Paris', 'Asia/Tehran', 'America/Sao_Paulo']) {
  const start = performance.now();
  nextRun(parseCron('0 9 * * *'), zone, FROM);
  console.log(`first next in ${zone}: ${((performance.now() - start) * 1000).toFixed(0)} µs`);
}

const rows = PATTERNS.flatMap((pattern) =>
  ZONES.map((zone) => {
    const cron = parseCron(pattern);
    // Walks through ten years and begins again, so that clock changes occur as often as in practice.
    let at = FROM;
    const forward = measure(() => {
      at = nextRun(cron, zone, at) ?? FROM;
      if (at.getTime() - FROM.getTime() > YEARS_10) at = FROM;
    });
    at = FROM;
    const backward = measure(() => {
      at = previousRun(cron, zone, at) ?? FROM;
      if (FROM.getTime() - at.getTime() > YEARS_10) at = FROM;
    });
    return { pattern, zone, next: Number(forward.toFixed(2)), previous: Number(backward.toFixed(2)) };
  }),
);
console.table(rows);
console.log(`parse: ${measure(() => void parseCron('*/5 9-17 1,15 jan-jun mon-fri')).toFixed(2)} µs`);
console.log(
  `five ahead: ${measure(() => void nextRuns(parseCron('0 9 * * 1-5'), 'America/New_York', FROM, 5)).toFixed(2)} µs`,
);
