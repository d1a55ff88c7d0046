import { describe, expect, test } from 'vitest';
import { previewRuns } from './index.ts';

const good = { pattern: '0 9 * * *', tz: 'Europe/Paris', from: '2026-01-15T12:00:00Z', n: 2 };

describe('previewRuns', () => {
  test('lists the next runs as ISO instants', () => {
    expect(previewRuns(good)).toEqual(['2026-01-16T08:00:00.000Z', '2026-01-17T08:00:00.000Z']);
  });

  test('defaults to UTC, accepts an offset or a plain date as from, and returns no runs for n 0', () => {
    expect(previewRuns({ pattern: '@daily', from: '2026-01-15', n: 1 })).toEqual([
      '2026-01-16T00:00:00.000Z',
    ]);
    expect(previewRuns({ ...good, from: '2026-01-16T09:30:00+02:00', n: 1 })).toEqual([
      '2026-01-16T08:00:00.000Z',
    ]);
    expect(previewRuns({ ...good, n: 0 })).toEqual([]);
  });

  test('returns an empty list for dates that never occur', () => {
    expect(previewRuns({ ...good, pattern: '0 0 30 2 *' })).toEqual([]);
  });

  test.each([
    [
      { ...good, pattern: '61 * * * *' },
      'Invalid cron expression: 61 is out of range in the minute field; write 0-59.',
    ],
    [{ ...good, pattern: 5 }, 'Invalid pattern: write a cron expression as a string'],
    [{ ...good, tz: 'Europe/Atlantis' }, "Invalid IANA timezone: 'Europe/Atlantis'. Write a name"],
    [{ ...good, tz: null }, 'Invalid tz: write an IANA time zone as a string'],
    [{ ...good, from: '10' }, "Invalid from: '10'. Write an ISO date with Z"],
    [
      { ...good, from: '2026-01-15T12:00:00' },
      "Invalid from: '2026-01-15T12:00:00'. Write an ISO date with Z",
    ],
    [{ ...good, from: '2026-13-15' }, "Invalid from: '2026-13-15'"],
    [{ ...good, from: '2026-02-30' }, "Invalid from: '2026-02-30'"],
    [{ ...good, from: '2026-06-31T10:00:00+02:00' }, "Invalid from: '2026-06-31T10"],
    [{ ...good, from: '2026-01-15T24:00:00Z' }, "Invalid from: '2026-01-15T24"],
    [{ ...good, from: undefined }, 'Invalid from: write an ISO date as a string'],
    [{ ...good, n: -1 }, 'Invalid n: write a whole number from 0 to 100000.'],
    [{ ...good, n: 1.5 }, 'Invalid n'],
    [{ ...good, n: '3' }, 'Invalid n'],
    [[good], 'Invalid request: write an object'],
    [null, 'Invalid request: write an object'],
  ])('rejects %j with an error', (request, message) => {
    expect(previewRuns(request)).toEqual({ error: expect.stringContaining(message) });
  });
});
