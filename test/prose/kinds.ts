import type { Passage } from './passage.ts';

export interface Kind {
  readonly name: string;
  /** How to write instead. */
  readonly remedy: string;
  readonly pattern: RegExp;
  /** Places in which the pattern is good English. */
  readonly except?: readonly Passage['place'][];
}

/** A verb that is followed by a clause with "what" in good English: "shows what changed". */
const knowing = String.raw`\b(?:see|sees|seen|show|shows|showing|know|knows|known|explain|explains|describe|describes|determine|determines|decide|decides|define|defines|control|controls|specify|specifies|understand|check|checks|learn|find out|compare|affects?|on|than|that is|which is|matter|exactly|find|finds|choose|about)\s+`;
const subject = String.raw`(?:\w+\s+)?(?:is|are|was|were|has|have|had|it|they|the|a|an|he|she|we|you|may|must|can|could|cannot|will|would|does|do|did|goes|comes|came|follows|happens|happened|remains|stays|belongs|waits|needs|fits|failed|ran|runs|ends|changed)`;
/** Not in a question. */
const statement = String.raw`(?![^.!?]*\?)`;

/** In a source, a space stands for any space: lines are wrapped. */
const any = (source: string, flags = 'gi'): RegExp =>
  new RegExp(source.replaceAll(' ', String.raw`\s+`), flags);

/** Habits of text that reads as a translation. Each is precise enough that nearly every match is one. */
export const kinds: readonly Kind[] = [
  {
    name: 'what clause',
    remedy: 'use a noun: "rejects invalid settings", not "refuses what cannot work"',
    pattern: any(
      String.raw`(?<!${knowing}|\bhow\b[^.]*\b(?:and|or) )\b(?:what|whatever(?! (?:the|its|their)\b)|whoever|those who|such as are)\b(?=\s+${subject}\b)(?![^.]*\bdepends on\b)${statement}`,
    ),
    except: ['heading'],
  },
  {
    name: 'speaking thing',
    remedy: 'use shows, returns, prints, contains or requires',
    pattern: any(
      String.raw`(?<!\b(?:who|user|caller|operator|anyone|everyone|customer|developer|administrator|person|he|she|you|colleague|reader)s?\s+)\b(?:says|tells|told by|said by|asks whether|asks for|speaks of|answers that|wants)\b`,
    ),
  },
  {
    name: 'passive speech',
    remedy: 'use "is notified", "receives a signal", "is reported"',
    pattern: any(
      String.raw`\b(?:is|are|was|were|be|been|being) (?:told(?! apart\b)|asked|said|wanted|heeded)\b(?! for (?:a|the|your) (?:password|confirmation|name)\b)`,
    ),
  },
  {
    name: 'of-genitive',
    remedy: 'use a compound: "rate limits", "systemd units", "croner release"',
    pattern: any(
      String.raw`\b(?:limits?|units?|keys?|plugins?|releases?|servers?|runners?|queues?|settings?|rules?|folders?|pages?|tests?|processes|commands?) of (?:rate|concurrency|systemd|preview|fastify|croner|production|deployments?|schedules?|errors?|tasks|runs|millrace|npm|the SDK|the CLI|keys)\b(?!,? (?:that|which|whose|with|without|in|from|for|to|by)\b)`,
    ),
  },
  {
    name: 'is no',
    remedy: 'use "is not a", or an adjective',
    pattern: any(
      String.raw`(?<!\b(?:there|which|if|where|when|because|as|null|empty|none|0)\s)(?<!\bthere\s\w+\s)\b(?:is|are|was|were|be) no (?!longer|more|less|fewer|other|better|worse|different|later|earlier|need|way|one\b|such)\w+`,
    ),
  },
  {
    name: 'indefinite person',
    remedy: 'name the role: "no client", "the caller", or use the passive',
    pattern: any(String.raw`\b(?:nobody|somebody|anybody|whoever|no one|those who)\b`),
  },
  {
    name: 'as it is',
    remedy: 'use unchanged, verbatim or "in arrival order"',
    pattern: any(
      String.raw`(?<!\b(?:soon|long|far|often|much|many|same|such|just|exactly|well|even|twice)\s)\bas (?:it|they|he) (?:is|are|was|were|came|come|comes|stands?|goes)(?=\s*(?:[.,;:!?)]|$)|\s+(?:and|or|to)\b)`,
    ),
  },
  {
    name: 'foreign adverb',
    remedy:
      'use "in the meantime", "in addition to", again, anyway, permanently, rarely, "no longer", forever',
    pattern: any(
      String.raw`\b(?:meanwhile|beside|anew|all the same|hardly ever|in the stead|by and by|at all events|herein|lest|whence|midst|for ever|from then on|(?:go|goes|went|going) on(?! to\b)(?= with\b|\s*[.,;:)]|$| (?:and|until|while|as|in|after)\b)|for good(?=\s*[.,;:)]|$)|not (?:\w+ ){0,3}any more(?! than)(?=\s*[.,;:)]|$)|(?<!\bor )no more(?=\s*[.,;:)]|$)|(?:at most|for|only) so (?:many|much|long|often)(?! as\b)|a line each)(?=\W|$)`,
    ),
  },
  {
    name: 'opening of',
    remedy: 'open with a noun phrase: "When the lease expires", not "Of its lease"',
    pattern: any(String.raw`^\s*Of (?!course)`, 'g'),
  },
  {
    name: 'inversion',
    remedy: 'put the subject first',
    pattern: any(
      String.raw`(?:^|[.:;!?]\s+)\s*(?:(?:Limited|Left|Shown|Kept|Given|Allowed|Missing|Counted|Refused|Stored|Asked|Measured) (?:is|are|was|were)|(?:Behind|Below|Above|Beside|Before|After|Under|Between) (?:the|a|an|its|each|this) \w+ (?:stands?|lies?|comes?|goes|follows?)) `,
      'g',
    ),
  },
  {
    name: 'odd verb',
    remedy: 'use fix, apply, accept, exist, "have ended", release',
    pattern: any(
      String.raw`\b(?:mend(?:s|ed|ing)?|heed(?:s|ed|ing)?|are there already|lies? in the|stands? (?:at|beside|behind|there|here)|makes? good|gets? to know|takes? care that|lets? go|gives? back|given back|(?:is|are|was|were) there(?=\s*[.,;:)]|$)|(?:stays?|is|are) good (?:for|until|unless)|comes? to know|(?:is|are|was|were) over(?=\s*[.,;:)]|$|\s(?:and|when|before|or)\b))(?=\W|$)`,
    ),
  },
  {
    name: 'long sentence',
    remedy: 'split the sentence: at most 45 words',
    pattern: /(?:\S*[^\s.!?]\s+){45}\S+/g,
    except: ['heading', 'comment', 'string', 'markup'],
  },
];
