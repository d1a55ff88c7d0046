export { CronError } from './cron-error.ts';
export { nextRun, nextRuns, previousRun } from './next.ts';
export { type Cron, parseCron, requireDates } from './parse.ts';
export { type PreviewRequest, previewRuns } from './preview.ts';
export { parseWindow, type Window, windowOffset } from './window.ts';
export { findZone, type Zone } from './zone.ts';
