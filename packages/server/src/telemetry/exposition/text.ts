import { classicBuckets, type Labels, type MetricFamily } from './family.ts';

export const textType = 'text/plain; version=0.0.4; charset=utf-8';

/** The text format of Prometheus, 0.0.4. It has no native histograms, so their classic buckets are written. */
export const textOf = (families: readonly MetricFamily[]): string => families.map(textOfFamily).join('');

function textOfFamily(family: MetricFamily): string {
  const { name, help, type } = family;
  const lines = [
    `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`,
    `# TYPE ${name} ${type}`,
  ];
  if (family.type === 'histogram') {
    for (const histogram of family.histograms) {
      const { labels, sum, count } = histogram;
      const inside = inner(labels);
      const before = inside === '' ? '' : `${inside},`;
      for (const [bound, n] of classicBuckets(histogram))
        lines.push(`${name}_bucket{${before}le="${bound}"} ${n}`);
      const braces = inside === '' ? '' : `{${inside}}`;
      lines.push(
        `${name}_bucket{${before}le="+Inf"} ${count}`,
        `${name}_sum${braces} ${sum}`,
        `${name}_count${braces} ${count}`,
      );
    }
  } else {
    for (const { labels, value } of family.samples) {
      const inside = inner(labels);
      lines.push(`${name}${inside === '' ? '' : `{${inside}}`} ${value}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

const inner = (labels: Labels): string =>
  Object.entries(labels)
    .map(
      ([name, value]) =>
        `${name}="${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`,
    )
    .join(',');
