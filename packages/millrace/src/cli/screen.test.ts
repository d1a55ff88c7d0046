import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { screenOn, table } from './screen.ts';

const esc = '\u001b';

/** A stream and its output. */
function terminal(isTTY: boolean) {
  const written: string[] = [];
  return { written, stream: { isTTY, write: (text: string) => written.push(text) > 0 } };
}

test('aligns columns except the last one', () => {
  expect(
    table([
      ['id', 'error'],
      ['error_1', 'x'],
      ['e', ''],
    ]),
  ).toEqual(['id       error', 'error_1  x', 'e']);
});

test('writes no colors to a file or pipe', () => {
  const pipe = new PassThrough({ encoding: 'utf8' });
  const { line, paint } = screenOn(pipe);
  // Not set automatically: CI is not a terminal.
  line(paint.red('bad'));
  expect(pipe.read()).toBe('bad\n');
});

test('escapes control sequences, except its own colors', () => {
  const { written, stream } = terminal(true);
  const { line, text, raw, paint } = screenOn(stream);
  line(`${paint.red('failed')} ${esc}[32mdone${esc}]0;title\u0007 a\rb\tc\nd\u009b2J\u202eexe\u2028\u007f`);
  expect(written.pop()).toBe(
    `${esc}[31mfailed${esc}[39m ␛[32mdone␛]0;title␇ a␍b\tc⏎d\\u009b2J\\u202eexe\\u2028␡\n`,
  );
  text(paint.dim(`one\r\ntwo\rthree\n${esc}c`));
  expect(written.pop()).toBe(`${esc}[2mone\ntwo␍three\n␛c${esc}[22m\n`);
  raw(`${esc}[1mas it is\r`);
  expect(written.pop()).toBe(`${esc}[1mas it is\r`);
});

test('escapes color sequences in foreign text', () => {
  const { written, stream } = terminal(true);
  const { line, paint } = screenOn(stream);
  const seen = paint.red('x');
  // A visible marker would be a terminal sequence, which is the written output.
  line(seen);
  const copied = written.pop() ?? '';
  line(copied.trim());
  expect(written.pop()).toBe('␛[31mx␛[39m\n');
});

test('aligns columns by visible width, and keeps each cell in its row', () => {
  const { paint } = screenOn(terminal(true).stream);
  const [first = '', second = ''] = table([
    [`a\nb${esc}`, 'x'],
    [paint.red('abc'), 'y'],
  ]);
  expect(first).toBe('a⏎b␛  x');
  const { written, stream } = terminal(true);
  screenOn(stream).line(second);
  expect(written).toEqual([`${esc}[31mabc${esc}[39m   y\n`]);
});
