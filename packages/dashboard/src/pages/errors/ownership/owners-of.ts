/** The owners of some tasks, each once. */
export const ownersOf = (tasks: readonly { readonly owner?: string | undefined }[]): string[] => [
  ...new Set(tasks.flatMap(({ owner }) => (owner === undefined ? [] : [owner]))),
];
