/** A prompt as `prompts.define` of the published SDK registers it, 4.4 to 4.8. */
export interface Prompt {
  readonly id: string;
  readonly content: string;
  readonly model?: string;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly fns: { readonly resolve: (variables: object) => Promise<{ readonly text: string }> };
}

interface Asked {
  readonly variables?: object;
  readonly version?: number;
}

/** Of the code, the only one there is; as the published SDK numbers it where it has no server. */
const version = 0;

/** The prompts of a project. They are what its code defines: there are no other versions of them. */
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

  /** Answers the request with which `resolve` of a prompt asks for it. */
  async answer(id: string, { variables = {}, version: asked = version }: Asked): Promise<Response> {
    const prompt = this.#byId.get(id);
    if (!prompt || asked !== version) {
      const error = prompt
        ? `The prompt "${id}" has no version ${asked}: prompts are what the code defines. Leave the version out.`
        : `There is no prompt "${id}" in the code of this project.`;
      return Response.json({ error }, { status: 404 });
    }
    const { content: template, model, config } = prompt;
    const { text } = await prompt.fns.resolve(variables);
    const data = { promptId: id, slug: id, version, labels: ['local'], template, text, model, config };
    return Response.json({ data });
  }
}
