import { describe, expect, test } from 'vitest';
import { findZone } from './zone.ts';

const HOUR = 3_600_000;

describe('findZone', () => {
  test('has consecutive segments without gaps, in any order of access', () => {
    const zone = findZone('Europe/London');
    let at = Date.UTC(2040, 0, 1);
    for (let i = 0; i < 500; i++) {
      const segment = zone.segmentAt(at);
      expect(zone.segmentAt(segment.start)).toBe(segment);
      expect(zone.segmentAt(segment.start - 1).end).toBe(segment.start);
      at = segment.start - 1;
    }
    expect(at).toBeLessThan(Date.UTC(1900, 0, 1));
  });

  test('finds changes to the second, and offsets of seconds', () => {
    const segment = findZone('Africa/Monrovia').segmentAt(Date.UTC(1972, 0, 1));
    expect(segment.offset).toBe(-(44 * 60 + 30) * 1000);
    expect(new Date(segment.end).toISOString()).toBe('1972-01-07T00:44:30.000Z');
  });

  test('finds the wall time from which times are new after the clock went back', () => {
    const zone = findZone('Europe/Paris');
    const winter = zone.segmentAt(Date.UTC(2026, 9, 25, 2));
    expect(new Date(winter.start).toISOString()).toBe('2026-10-25T01:00:00.000Z');
    expect(winter.fresh - (winter.start + winter.offset)).toBe(HOUR);
    const summer = zone.segmentAt(Date.UTC(2026, 5, 1));
    expect(summer.fresh).toBe(summer.start + summer.offset);
  });

  test('sees a suspension of ten days', () => {
    const zone = findZone('America/Noronha');
    const summer = zone.segmentAt(Date.UTC(2000, 9, 10));
    expect(summer.offset).toBe(-HOUR);
    expect(zone.segmentAt(summer.end).offset).toBe(-2 * HOUR);
    expect(summer.end - summer.start).toBeLessThan(10 * 24 * HOUR);
  });

  test('is cached once, regardless of case', () => {
    expect(findZone('EUROPE/LONDON')).toBe(findZone('europe/london'));
  });
});
