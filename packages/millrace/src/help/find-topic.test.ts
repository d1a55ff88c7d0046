import { describe, expect, test } from 'vitest';
import { findTopic, topics, topicsOf } from './find-topic.ts';
import { sectionsOf } from './sections.ts';

/** The first line of the text, or the candidates. */
function firstLine(name: string): string | readonly string[] {
  const found = findTopic(name);
  return 'text' in found ? (found.text.split('\n')[0] ?? '') : found.candidates;
}

describe('finds', () => {
  test.each([
    ['not-found', '## Not found'],
    ['#not-found', '## Not found'],
    ['docs/troubleshooting.md#not-found', '## Not found'],
    ['troubleshooting', '# Troubleshooting'],
    ['retries', '# Retries and errors'],
    ['retries.md', '# Retries and errors'],
    ['coming-from/bullmq', '# Coming from BullMQ'],
    ['operations#installed-size', '## Installed size'],
    ['installed-size', '## Installed size'],
  ])('%s', (name, heading) => {
    expect(firstLine(name)).toMatch(new RegExp(`^${heading}`));
  });

  test('all pages with a section of that name, if there are several', () => {
    const candidates = firstLine('try-it');
    expect(candidates).toContain('agents#try-it');
    for (const topic of candidates) expect(firstLine(topic)).toMatch(/^##+ Try it$/);
  });

  test.each(['nothing', 'nothing#backoff', 'retries#nothing', '', '../package.json'])(
    'nothing as %j',
    (name) => {
      expect(findTopic(name)).toEqual({ candidates: [] });
    },
  );
});

test('every listed topic has a text', () => {
  expect(topics()).toEqual(expect.arrayContaining(['not-found', 'retries', 'coming-from/temporal']));
  for (const topic of [...topics(), ...(topicsOf('retries') ?? [])])
    expect(findTopic(topic), topic).toHaveProperty('text');
  expect(topicsOf('nothing')).toBeUndefined();
});

test('a section contains its parts and ends before the next section; headings in code are text', () => {
  const page =
    '# Page\n\n## One\n\na\n\n### Part\n\nb\n\n```sh\n## not a heading\n```\n\n## Two & more\n\nc\n';
  expect(sectionsOf(page)).toEqual([
    {
      anchor: 'one',
      level: 2,
      text: '## One\n\na\n\n### Part\n\nb\n\n```sh\n## not a heading\n```\n',
    },
    { anchor: 'part', level: 3, text: '### Part\n\nb\n\n```sh\n## not a heading\n```\n' },
    { anchor: 'two--more', level: 2, text: '## Two & more\n\nc\n' },
  ]);
});
