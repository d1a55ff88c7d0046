import { includes, protect, replacing } from './rule.ts';
import type { Rule } from './rule.ts';
import { isErrorWord } from './vocabulary.ts';

const resource = /^[a-z]{3,30}(?:[_-][a-z]{2,30}){0,3}$/;
const wrapping =
  /^(?:api|rest|graphql|public|private|internal|proxy|gateway|test|mock|ok|json|http|https|v\d)$/;

/**
 * The resource of a service that a path names in words: `/v1/customers/cus_8/invoices` becomes `/customers/invoices`. Ids, names and
 * deployment prefixes are removed.
 */
function endpointOf(path: string): string {
  const segments: string[] = [];
  for (const segment of path.split('/', 12)) {
    if (!resource.test(segment) || wrapping.test(segment)) continue;
    if (segment.split(/[_-]/).every((word) => isErrorWord(word))) segments.push(segment);
  }
  return segments.length === 0 ? '' : protect(`/${segments.join('/')}`);
}

// Paths in these sentences belong to a service rather than a disk.
const serviceWords =
  /\b(?:fetch\w{0,3}|[Rr]equest\w{0,3}|[Rr]oute|[Ee]ndpoint|[Uu]pstream|[Rr]eturned|[Rr]esponded|[Aa]nswered|replied|HTTP|API)\b/;
const onDisk =
  /^\/(?:tmp|data|var|home|etc|srv|app|usr|opt|mnt|root|Users|workspace|builds|run|dev|proc|code)\//;

const pathOfUrl = /^(?:https?|wss?):\/\/[^/?#]{0,300}([^?#]{0,600})/i;

/** Removes the host, ids and parameters of URLs, but keeps the resource. */
export const endpoints: Rule[] = [
  replacing(
    'URL',
    /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'`<>()[\]{},;]{0,600}(?:[,;][^\s"'`<>()[\]{},;]{1,200}){0,8}/gi,
    (url = '') => `<url>${endpointOf(pathOfUrl.exec(url)?.[1] ?? '')}`,
    includes('://'),
  ),
  replacing(
    'request path',
    /\b(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) (\/[^\s"'`<>()[\]{},;?#]{1,600})(?:\?[^\s"'`]{0,600})?/g,
    (_all = '', method = '', path = '') => `${method} <path>${endpointOf(path)}`,
    includes(' /'),
  ),
  {
    name: 'path of a service',
    gate: (text) => text.includes(' /') && serviceWords.test(text),
    apply: (text) =>
      text.replace(/(?<= )\/[a-z][^\s"'`<>()[\]{},;:?#]{1,600}(?:\?[^\s"'`]{0,600})?/g, (path) =>
        onDisk.test(path) || /\.[a-z]{2,5}$/.test(path) ? path : `<path>${endpointOf(path)}`,
      ),
  },
];
