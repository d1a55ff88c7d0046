/** A prompt as registered by `prompts.define` of the published SDK, 4.4 to 4.8. */
export interface Prompt {
  readonly id: string;
  readonly content: string;
  readonly model?: string;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly fns: { readonly resolve: (variables: object) => Promise<{ readonly text: string }> };
}

interface PromptRequest {
  readonly variables?: object;
  readonly version?: number;
}

/** The version in the code, which is the only one; the published SDK uses the same number without a server. */
const version = 0;

/** The prompts of a project, as defined in its code, without other versions. */
export class Prompts {
  readonly #byId = new Map<string, Prompt>();

  add(prompt: Prompt): void {
    this.#byId.set(prompt.id, prompt);
  }

  get(id: string): Prompt | undefined {
    return this.#byId.get(id);
  }

  list(): Prompt[] {
    return [...this.#byId.values()];
  }

  /** Responds to the request that `resolve` of a prompt sends. */
  async answer(
    id: string,
    { variables = {}, version: requested = version }: PromptRequest,
  ): Promise<Response> {
    const prompt = this.#byId.get(id);
    if (!prompt || requested !== version) {
      const error = prompt
        ? `The prompt "${id}" has no version ${requested}: prompts are defined in the code. Omit the version.`
        : `No prompt "${id}" in the code of this project.`;
      return Response.json({ error }, { status: 404 });
    }
    const { content: template, model, config } = prompt;
    const { text } = await prompt.fns.resolve(variables);
    const data = { promptId: id, slug: id, version, labels: ['local'], template, text, model, config };
    return Response.json({ data });
  }
}
