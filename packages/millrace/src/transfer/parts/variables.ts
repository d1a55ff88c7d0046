import { z } from 'zod';
import type { Part, Step } from '../part.ts';

const record = z.object({
  name: z.string().min(1),
  isSecret: z.boolean(),
  /** Missing for a secret whose value was not exported. */
  value: z.string().optional(),
});

/** Variables. Values of secrets are exported only on request. Variables inherited from a branch's parent are not exported. */
export const variables: Part<z.infer<typeof record>> = {
  kind: 'variable',
  record,
  on: 'envvars',
  async *read({ client, params }, { secrets }) {
    const listed = await client.call('listVariables', { params });
    const { variables: values } = await client.call('readVariables', { params });
    for (const { name, isSecret, isInherited } of listed) {
      if (isInherited) continue;
      const value = Object.hasOwn(values, name) ? values[name] : undefined;
      const isShown = value !== undefined && (secrets || !isSecret);
      yield { name, isSecret, ...(isShown && { value }) };
    }
  },
  async plan(records, { client, params }, { override }) {
    const listed = await client.call('listVariables', { params });
    const { variables: values } = await client.call('readVariables', { params });
    const own = new Map(
      listed.filter(({ isInherited }) => !isInherited).map((variable) => [variable.name, variable]),
    );
    const groups = { true: new Map<string, string>(), false: new Map<string, string>() };
    /** Sets variables of one kind in one request, all or none, with one revision in the history. */
    const upload = (isSecret: boolean): (() => Promise<undefined>) => {
      let done: Promise<undefined> | undefined;
      return () =>
        (done ??= client
          .call('importVariables', {
            params,
            body: { variables: Object.fromEntries(groups[`${isSecret}`]), override: true, isSecret },
          })
          .then(() => undefined));
    };
    const uploads = { true: upload(true), false: upload(false) };
    return records.map(({ name, isSecret, value }): Step => {
      const there = own.get(name);
      const step = { kind: 'variable', name, note: isSecret ? 'secret' : undefined };
      if (value === undefined) {
        const note =
          'its value is not in the file; set it with `millrace env set --secret`, or export with --secrets';
        return there
          ? { ...step, action: 'keep', note: 'a secret that is set here' }
          : { ...step, action: 'by-hand', note };
      }
      // An import never makes a secret readable.
      if (there && values[name] === value && (there.isSecret || !isSecret))
        return { ...step, action: 'same' };
      if (there && !override)
        return { ...step, action: 'keep', note: 'has another value here: --override replaces it' };
      const secret = isSecret || there?.isSecret === true;
      groups[`${secret}`].set(name, value);
      return { ...step, action: there ? 'change' : 'create', apply: uploads[`${secret}`] };
    });
  },
};
