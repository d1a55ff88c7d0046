import { maxJsonLevels, maxJsonMembers } from '@millrace/contract';
import { describe, expect, test } from 'vitest';
import { parseRequest } from './foreign.ts';
import { isTooDeep, jsonOfField } from './levels.ts';
import { jsonOfReply, responseJson, responseObject, responseText, upTo } from './response.ts';

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

test('the limit is exact, and 200,000 levels do not overflow the stack', () => {
  expect([isTooDeep(nested(maxJsonLevels)), isTooDeep(nested(maxJsonLevels + 1))]).toEqual([false, true]);
  expect(isTooDeep(JSON.stringify(nested(200_000)))).toBe(false);
  expect(() => jsonOfField(JSON.parse(nested(200_000)), 'payload')).toThrow(
    'payload: nested more than 1000 levels deep',
  );
  for (const [text, named] of [
    [`{"options":{"metadata":{"a":${nested(200_000)}}}}`, 'options.metadata.a: nested'],
    [`{"small":[[[]]],"payload":${nested(1_100)}}`, 'payload.0.0: nested'],
    [nested(200_000), '0.0.0: nested'],
  ] as const) {
    expect(() => parseRequest(text)).toThrow(named);
  }
});

describe('stored JSON is returned', () => {
  const mark = { $omitted: 'nested more than 1000 levels deep' };

  test('with a marker instead of a value that exceeds the limits', () => {
    expect(responseJson('{"a":1}')).toEqual({ a: 1 });
    expect(responseJson(nested(5_000))).toEqual(mark);
    expect(JSON.parse(responseText(nested(5_000)))).toEqual(mark);
    expect(responseObject('{"a":')).toEqual({ $omitted: 'not JSON' });
    expect(responseObject('1')).toEqual({ $omitted: 'not JSON' });
    expect(responseJson(`[${'0,'.repeat(4 * maxJsonMembers)}0]`)).toEqual({
      $omitted: 'more than 50000 members',
    });
  });

  test('in a response at any depth', () => {
    const at = new Date(0);
    const reply = {
      data: [
        { id: 'a', deep: JSON.parse(nested(200_000)) as unknown },
        { id: 'b', at, gone: undefined },
      ],
    };
    const decoded = JSON.parse(jsonOfReply(reply) ?? '') as {
      data: { id: string; deep?: unknown; at?: string }[];
    };
    expect(decoded.data[1]).toEqual({ id: 'b', at: at.toISOString() });
    expect(decoded.data[0]?.id).toBe('a');
    expect(JSON.stringify(decoded.data[0]?.deep)).toContain(
      '[{"$omitted":"nested more than 1000 levels deep"}]',
    );
    expect(jsonOfReply(undefined)).toBeUndefined();
    const own = JSON.parse('{"__proto__":{"a":1},"toJSON":{"b":2}}') as unknown;
    expect(JSON.stringify(upTo(9, own))).toBe(JSON.stringify(own));
  });
});
